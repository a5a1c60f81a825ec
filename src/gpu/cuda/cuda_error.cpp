#include "gpu/cuda/cuda_error.hpp"

#include <fmt/format.h>

#include <string>

#include "gpu/cuda/kernel_trace.hpp"

namespace hemstitch::cuda {

Status status_of(cudaError_t error) {
  switch (error) {
    case cudaErrorMemoryAllocation:
      return Status::kDeviceOutOfMemory;
    case cudaErrorNoDevice:
    case cudaErrorInsufficientDriver:
    case cudaErrorInitializationError:
    case cudaErrorNoKernelImageForDevice:
    case cudaErrorInvalidDeviceFunction:
    case cudaErrorUnsupportedPtxVersion:
      return Status::kDeviceUnavailable;
    case cudaErrorIllegalAddress:
    case cudaErrorMisalignedAddress:
    case cudaErrorLaunchFailure:
    case cudaErrorLaunchTimeout:
    case cudaErrorHardwareStackError:
    case cudaErrorIllegalInstruction:
    case cudaErrorInvalidAddressSpace:
    case cudaErrorInvalidPc:
    case cudaErrorAssert:
    case cudaErrorECCUncorrectable:
      return Status::kDeviceLost;
    default:
      return Status::kDeviceFault;
  }
}

namespace {

// The last launch of a thread. It must not need a destructor: glibc ends the process if it has no memory to
// note one.
struct Launch {
  std::string_view kernel;  // of a registered kernel, so it stays valid
  LaunchWork work;
};
thread_local Launch last_launch;

std::string launch_text(const Launch& launch) {
  if (launch.work.block_count == 0) return std::string(launch.kernel);
  return fmt::format("{} on {} blocks, {} bytes", launch.kernel, launch.work.block_count, launch.work.bytes);
}

}  // namespace

void check(cudaError_t error, std::string_view what) {
  if (error == cudaSuccess) return;
  // The runtime keeps an error until it is queried. Clear it here, so that it is not attributed to the next
  // launch. (An error that lost the context stays.)
  cudaGetLastError();
  const Status status = status_of(error);
  std::string place;
  if (status == Status::kDeviceLost) {
    if (!last_launch.kernel.empty()) place = "; last launch: " + launch_text(last_launch);
    place += KernelTrace::last_record_text();
  }
  throw Error(status, fmt::format("{}: {} ({}): {}{}", what, cudaGetErrorName(error), static_cast<int>(error),
                                  cudaGetErrorString(error), place));
}

void check_launch(std::string_view kernel, const LaunchWork& work) {
  last_launch = {kernel, work};
  const cudaError_t error = cudaGetLastError();
  if (error != cudaSuccess) check(error, launch_text(last_launch));
}

}  // namespace hemstitch::cuda
