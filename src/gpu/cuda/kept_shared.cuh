// Addresses of shared memory that compilers leave in registers.
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

}  // namespace hemstitch::cuda
