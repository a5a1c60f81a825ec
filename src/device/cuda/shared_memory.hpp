// Whether a kernel's workgroups fit the shared memory of the current device: those of compute capability 7.5 have 64 KB for
// one, of 8.6 99 KB, of 9.0 227 KB.
#pragma once

#include <cuda_runtime.h>

#include "device/cuda/kernel_registry.hpp"

namespace hemstitch::cuda {

// True where there is no device to ask: launching will say so.
inline bool fits_shared_memory(const KernelBudget& kernel) {
  int device = 0, most_bytes = 0;
  return cudaGetDevice(&device) != cudaSuccess ||
         cudaDeviceGetAttribute(&most_bytes, cudaDevAttrMaxSharedMemoryPerBlockOptin, device) !=
             cudaSuccess ||
         kernel.limits.dynamic_shared_bytes <= static_cast<std::uint32_t>(most_bytes);
}

}  // namespace hemstitch::cuda
