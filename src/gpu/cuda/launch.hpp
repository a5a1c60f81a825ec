// Launching a registered kernel: by its budget's threads and shared memory, inside a named range, with the launch
// checked. For .cu files.
//
//   launch({.kernel = kBuildBudget, .grid = batch.block_count, .stream = stream, .work = work_of(batch)}, build_chains,
//          batch, d_heads);
//
// Nothing here waits, allocates or asks the device for anything, so launches may be captured in a graph.
#pragma once

#include <cuda_runtime.h>

#include <type_traits>

#include "gpu/cuda/cuda_error.hpp"
#include "gpu/cuda/kernel_registry.hpp"
#include "gpu/cuda/nvtx_range.hpp"

namespace hemstitch::cuda {

struct Launch {
  const KernelBudget& kernel;
  dim3 grid;
  cudaStream_t stream = nullptr;
  LaunchWork work = {};  // for errors
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
  check_launch(name, how.work);
}

}  // namespace hemstitch::cuda
