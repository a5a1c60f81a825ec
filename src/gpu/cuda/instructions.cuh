// Instructions written in PTX: those that C++ cannot express, and accesses without a branch, which lanes would take one after the
// other. Kernels that tests run on the processor use functions of the same names (tests/emulated_cuda).
#pragma once

#include <cuda_runtime.h>

#include <cstddef>
#include <cstdint>

namespace hemstitch::cuda {

// ---- Shared memory, by addresses of 32 bits ----

__device__ inline std::uint32_t shared_address(const void* sh_bytes) {
  return static_cast<std::uint32_t>(__cvta_generic_to_shared(sh_bytes));
}

__device__ inline std::uint32_t load_shared_byte(std::uint32_t address) {
  std::uint32_t value;
  asm volatile("ld.shared.u8 %0, [%1];" : "=r"(value) : "r"(address) : "memory");
  return value;
}
// 0 if the condition is false.
__device__ inline std::uint32_t load_shared_byte_if(bool condition, std::uint32_t address) {
  std::uint32_t value;
  asm volatile(
      "{ .reg .pred is_read; setp.ne.u32 is_read, %2, 0; mov.u32 %0, 0; @is_read ld.shared.u8 %0, [%1]; }"
      : "=r"(value)
      : "r"(address), "r"(static_cast<std::uint32_t>(condition))
      : "memory");
  return value;
}

// A Word of two or four bytes; `otherwise` if the condition is false.
template <class Word>
__device__ inline std::uint32_t load_shared_if(bool condition, std::uint32_t address,
                                               std::uint32_t otherwise) {
  static_assert(sizeof(Word) == 2 || sizeof(Word) == 4);
  if constexpr (sizeof(Word) == 2)
    asm volatile("{ .reg .pred is_read; setp.ne.u32 is_read, %2, 0; @is_read ld.shared.u16 %0, [%1]; }"
                 : "+r"(otherwise)
                 : "r"(address), "r"(static_cast<std::uint32_t>(condition))
                 : "memory");
  else
    asm volatile("{ .reg .pred is_read; setp.ne.u32 is_read, %2, 0; @is_read ld.shared.u32 %0, [%1]; }"
                 : "+r"(otherwise)
                 : "r"(address), "r"(static_cast<std::uint32_t>(condition))
                 : "memory");
  return otherwise;
}
template <class Word>
__device__ inline void store_shared(std::uint32_t address, std::uint32_t value) {
  static_assert(sizeof(Word) == 2 || sizeof(Word) == 4);
  if constexpr (sizeof(Word) == 2)
    asm volatile("st.shared.u16 [%0], %1;" ::"r"(address), "r"(value) : "memory");
  else
    asm volatile("st.shared.u32 [%0], %1;" ::"r"(address), "r"(value) : "memory");
}

// ---- The device's memory ----

// A byte, which other lanes of the warp may have written before; any value if the condition is false. Several loads can be in
// flight at once.
__device__ inline std::uint32_t load_byte_if(bool condition, const std::uint8_t* d_byte) {
  std::uint32_t value;
  asm volatile("{ .reg .pred is_read; setp.ne.u32 is_read, %2, 0; @is_read ld.global.u8 %0, [%1]; }"
               : "=r"(value)
               : "l"(__cvta_generic_to_global(d_byte)), "r"(static_cast<std::uint32_t>(condition))
               : "memory");
  return value;
}
__device__ inline void store_byte(std::uint8_t* d_byte, std::uint32_t value) {
  asm volatile("st.global.u8 [%0], %1;" ::"l"(__cvta_generic_to_global(d_byte)), "r"(value) : "memory");
}

// ---- Numbers ----

// `word` shifted left by `bits`; 0 from 32 bits on. C++ does not define that shift, the device does.
__device__ __forceinline__ std::uint32_t moved_up(std::uint32_t word, std::uint32_t bits) {
  std::uint32_t moved;
  asm("shl.b32 %0, %1, %2;" : "=r"(moved) : "r"(word), "r"(bits));
  return moved;
}
__device__ __forceinline__ std::uint32_t moved_down(std::uint32_t word, std::uint32_t bits) {
  std::uint32_t moved;
  asm("shr.u32 %0, %1, %2;" : "=r"(moved) : "r"(word), "r"(bits));
  return moved;
}

}  // namespace hemstitch::cuda
