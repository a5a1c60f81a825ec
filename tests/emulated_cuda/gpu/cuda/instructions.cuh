// In place of src/gpu/cuda/instructions.cuh, for kernels that are compiled for the processor (emulated_cuda.hpp).
#pragma once

#include <cuda_runtime.h>

#include <cstddef>
#include <cstdint>
#include <cstring>

namespace hemstitch::cuda {

// ---- Shared memory, by addresses of 32 bits: distances from a variable that lies near all others of a thread of the host ----

inline std::byte* shared_begin() { return emulated::shared_begin(); }

inline std::uint32_t shared_address(const void* sh_bytes) {
  return static_cast<std::uint32_t>(static_cast<const std::byte*>(sh_bytes) - shared_begin());
}

template <class Word>
std::uint32_t load_shared_if(bool condition, std::uint32_t address, std::uint32_t otherwise) {
  if (!condition) return otherwise;
  Word word;
  std::memcpy(&word, shared_begin() + static_cast<std::int32_t>(address), sizeof word);
  return word;
}
inline std::uint32_t load_shared_byte_if(bool condition, std::uint32_t address) {
  return load_shared_if<std::uint8_t>(condition, address, 0);
}
inline std::uint32_t load_shared_byte(std::uint32_t address) { return load_shared_byte_if(true, address); }
template <class Word>
void store_shared(std::uint32_t address, std::uint32_t value) {
  const auto word = static_cast<Word>(value);
  std::memcpy(shared_begin() + static_cast<std::int32_t>(address), &word, sizeof word);
}

// ---- The device's memory ----

inline std::uint32_t load_byte_if(bool condition, const std::uint8_t* byte) { return condition ? *byte : 0; }
inline void store_byte(std::uint8_t* byte, std::uint32_t value) { *byte = static_cast<std::uint8_t>(value); }

// ---- Numbers ----

inline std::uint32_t moved_up(std::uint32_t word, std::uint32_t bits) { return bits < 32 ? word << bits : 0; }
inline std::uint32_t moved_down(std::uint32_t word, std::uint32_t bits) {
  return bits < 32 ? word >> bits : 0;
}

}  // namespace hemstitch::cuda
