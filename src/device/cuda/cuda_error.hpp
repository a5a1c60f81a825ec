// CUDA errors as Hemstitch's: the call or kernel, the error's name and CUDA's own sentence.
//
// What goes wrong while a kernel runs shows at a later call, usually a synchronisation. So each launch is remembered
// by its thread, and an error that can only come from a kernel names the last one that was launched, and its batch.
#pragma once

#include <cuda_runtime.h>

#include <string_view>

#include "core/status.hpp"
#include "device/cuda/device_block.hpp"

namespace hemstitch::cuda {

// kDeviceUnavailable, kDeviceOutOfMemory, kDeviceLost (a sticky error: the context is gone) or kDeviceFault.
Status status_of(cudaError_t error);

// Throws Error unless `error` is cudaSuccess. `what` is the call or the kernel, e.g. "cudaMallocAsync" or
// "hash_chain.build".
void check(cudaError_t error, std::string_view what);

// Right after a launch: throws if the launch itself was refused.
void check_launch(std::string_view kernel);
void check_launch(std::string_view kernel, const DeviceBlocks& batch);

}  // namespace hemstitch::cuda
