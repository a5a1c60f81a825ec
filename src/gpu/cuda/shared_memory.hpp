// What the current device has of shared memory for a thread block: 64 KB at compute capability 7.5, 99 KB at 8.6, 227 KB at 9.0.
#pragma once

#include <cuda_runtime.h>

#include <cstdint>
#include <limits>

#include "gpu/cuda/kernel_registry.hpp"

namespace hemstitch::cuda {

// No bound where there is no device to ask: launching will say so.
inline std::uint32_t most_shared_bytes() {
  int device = 0, most_bytes = 0;
  if (cudaGetDevice(&device) != cudaSuccess ||
      cudaDeviceGetAttribute(&most_bytes, cudaDevAttrMaxSharedMemoryPerBlockOptin, device) != cudaSuccess)
    return std::numeric_limits<std::uint32_t>::max();
  return static_cast<std::uint32_t>(most_bytes);
}

inline bool fits_shared_memory(const KernelBudget& kernel) {
  return kernel.limits.dynamic_shared_bytes <= most_shared_bytes();
}

}  // namespace hemstitch::cuda
