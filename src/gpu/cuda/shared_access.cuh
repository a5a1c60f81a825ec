// Shared memory by addresses that compilers leave as they are.
#pragma once

#include <cstdint>

#include "gpu/cuda/instructions.cuh"

namespace hemstitch::cuda {

// The same object, at an address that stays in a register: a compiler that knows it computes it again for each access. By all lanes of the warp.
template <class Object>
__device__ inline Object& kept_shared(Object& sh_object) {
  const std::uint32_t address = __shfl_sync(0xFFFFFFFFu, shared_address(&sh_object), 0);
  return *static_cast<Object*>(__cvta_shared_to_generic(address));
}

// At an address of shared_address().
__device__ inline void store_shared_byte(std::uint32_t address, std::uint32_t value) {
  asm volatile("st.shared.u8 [%0], %1;" ::"r"(address), "r"(value) : "memory");
}

}  // namespace hemstitch::cuda
