// CUDA errors as Hemstitch's: the call or kernel, the error's name and CUDA's own sentence.
#pragma once

#include <cuda_runtime.h>

#include <string_view>

#include "core/status.hpp"

namespace hemstitch::cuda {

// kDeviceUnavailable, kDeviceOutOfMemory, kDeviceLost (a sticky error: the context is gone) or kDeviceFault.
Status status_of(cudaError_t error);

// Throws Error unless `error` is cudaSuccess. `what` is the call or the kernel, e.g. "cudaMallocAsync" or
// "hash_chain.build".
void check(cudaError_t error, std::string_view what);

// Right after a launch: throws if the launch itself was refused. What happens while the kernel runs shows at the next
// synchronisation.
void check_launch(std::string_view kernel);

}  // namespace hemstitch::cuda
