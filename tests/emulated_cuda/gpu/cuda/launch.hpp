// In place of src/gpu/cuda/launch.hpp, for kernels that are compiled for the processor (emulated_cuda.hpp): a launch runs the kernel.
#pragma once

#include <cuda_runtime.h>

#include "gpu/cuda/cuda_error.hpp"
#include "gpu/cuda/kernel_registry.hpp"

namespace hemstitch::cuda {

struct Launch {
  const KernelBudget& kernel;
  dim3 grid;
  cudaStream_t stream = nullptr;
  LaunchWork work = {};
};

template <class... Parameters, class... Arguments>
void launch(const Launch& how, void (*kernel)(Parameters...), const Arguments&... arguments) {
  emulated::run(how.grid.x, how.kernel.limits.threads, [&] { kernel(arguments...); });
}

}  // namespace hemstitch::cuda
