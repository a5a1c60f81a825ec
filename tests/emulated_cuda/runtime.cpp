// What all kernels on the processor share of src/gpu/cuda.
#include <cuda_runtime.h>

#include "gpu/cuda/cuda_error.hpp"
#include "gpu/cuda/scratch.cpp"

namespace hemstitch::cuda {

void check(cudaError_t, std::string_view) {}  // nothing fails here

}  // namespace hemstitch::cuda
