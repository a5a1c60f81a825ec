// In place of src/gpu/cuda/shared_access.cuh, for kernels that are compiled for the processor (emulated_cuda.hpp).
#pragma once

#include <cstddef>
#include <cstdint>

#include "gpu/cuda/instructions.cuh"

namespace hemstitch::cuda {

template <class Object>
Object& kept_shared(Object& sh_object) {
  return sh_object;
}

inline void store_shared_byte(std::uint32_t address, std::uint32_t value) {
  *(shared_begin() + static_cast<std::int32_t>(address)) = static_cast<std::byte>(value);
}

}  // namespace hemstitch::cuda
