// In place of src/gpu/cuda/kept_shared.cuh, for kernels that are compiled for the processor (emulated_cuda.hpp).
#pragma once

namespace hemstitch::cuda {

template <class Object>
Object& kept_shared(Object& sh_object) {
  return sh_object;
}

}  // namespace hemstitch::cuda
