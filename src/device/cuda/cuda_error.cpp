#include "device/cuda/cuda_error.hpp"

#include <fmt/format.h>

namespace hemstitch::cuda {

Status status_of(cudaError_t error) {
  switch (error) {
    case cudaErrorMemoryAllocation:
      return Status::kDeviceOutOfMemory;
    case cudaErrorNoDevice:
    case cudaErrorInsufficientDriver:
    case cudaErrorInitializationError:
    case cudaErrorNoKernelImageForDevice:
    case cudaErrorUnsupportedPtxVersion:
      return Status::kDeviceUnavailable;
    case cudaErrorIllegalAddress:
    case cudaErrorMisalignedAddress:
    case cudaErrorLaunchFailure:
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

void check(cudaError_t error, std::string_view what) {
  if (error != cudaSuccess)
    throw Error(status_of(error),
                fmt::format("{}: {}: {}", what, cudaGetErrorName(error), cudaGetErrorString(error)));
}

void check_launch(std::string_view kernel) { check(cudaGetLastError(), kernel); }

}  // namespace hemstitch::cuda
