// CUDA errors as Hemstitch's: the call or kernel, the error's name and CUDA's own sentence.
//
// What goes wrong while a kernel runs shows at a later call, usually a synchronisation. So each launch is remembered
// by its thread, and an error that can only come from a kernel names the last one that was launched, and its batch.
#pragma once

#include <cuda_runtime.h>

#include <cstdint>
#include <string_view>

#include "core/status.hpp"

namespace hemstitch::cuda {

// kDeviceUnavailable, kDeviceOutOfMemory, kDeviceLost (a sticky error: the context is gone) or kDeviceFault.
Status status_of(cudaError_t error);

// Throws Error unless `error` is cudaSuccess. `what` is the call or the kernel, e.g. "cudaMallocAsync" or
// "hash_chain.build".
void check(cudaError_t error, std::string_view what);

// What a kernel works on, for errors; nothing is said where there are no blocks.
struct LaunchWork {
  std::uint64_t block_count = 0;
  std::uint64_t bytes = 0;
};

// Right after a launch: throws if the launch itself was refused. The name is kept as it is given, so it must stay: a literal.
void check_launch(std::string_view kernel, const LaunchWork& work = {});

}  // namespace hemstitch::cuda
