// Launching a registered kernel: by its budget's threads and shared memory, inside a named range, with the launch
// checked. For .cu files.
//
//   launch({.kernel = kBuildBudget, .grid = batch.block_count, .stream = stream, .batch = &batch}, build_chains,
//          batch, d_heads);
//
// Nothing here waits, allocates or asks the device for anything, so launches may be captured in a graph.
#pragma once

#include <cuda_runtime.h>

#include <type_traits>

#include "device/cuda/cuda_error.hpp"
#include "device/cuda/device_block.hpp"
#include "device/cuda/kernel_registry.hpp"
#include "device/cuda/nvtx_range.hpp"

namespace hemstitch::cuda {

struct Launch {
  const KernelBudget& kernel;
  dim3 grid;
  cudaStream_t stream = nullptr;
  const DeviceBlocks* batch = nullptr;  // what it works on, for errors
};

// An empty grid launches nothing. Throws Error where the launch is refused.
template <class... Parameters, class... Arguments>
void launch(const Launch& how, void (*kernel)(Parameters...), Arguments&&... arguments) {
  static_assert(sizeof...(Parameters) == sizeof...(Arguments));
  if (how.grid.x == 0 || how.grid.y == 0 || how.grid.z == 0) return;
  const char* name = how.kernel.name.data();
  const NvtxRange range(name);
  const KernelLimits& limits = how.kernel.limits;
  if (limits.dynamic_shared_bytes > kUnaskedSharedBytes)
    check(cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize,
                               static_cast<int>(limits.dynamic_shared_bytes)),
          name);
  kernel<<<how.grid, limits.threads, limits.dynamic_shared_bytes, how.stream>>>(
      static_cast<std::decay_t<Parameters>>(arguments)...);
  if (how.batch != nullptr)
    check_launch(name, *how.batch);
  else
    check_launch(name);
}

}  // namespace hemstitch::cuda
