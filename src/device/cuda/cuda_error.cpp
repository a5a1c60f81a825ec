#include "device/cuda/cuda_error.hpp"

#include <fmt/format.h>

#include <string>

#include "device/cuda/kernel_trace.hpp"

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

// The last launch of a thread.
struct Launch {
  std::string kernel;
  std::uint32_t block_count = 0;  // 0: of no batch
  std::uint64_t bytes = 0;
};
thread_local Launch last_launch;

std::string launch_text() {
  if (last_launch.kernel.empty()) return {};
  if (last_launch.block_count == 0) return fmt::format("; last launch: {}", last_launch.kernel);
  return fmt::format("; last launch: {} on {} blocks, {} bytes", last_launch.kernel, last_launch.block_count,
                     last_launch.bytes);
}

}  // namespace

void check(cudaError_t error, std::string_view what) {
  if (error == cudaSuccess) return;
  // The runtime keeps an error until it is asked for: cleared here, it is not taken for the next launch's. (One that
  // lost the context stays.)
  cudaGetLastError();
  const Status status = status_of(error);
  std::string place;
  if (status == Status::kDeviceLost) place = launch_text() + KernelTrace::last_record_text();
  throw Error(status, fmt::format("{}: {} ({}): {}{}", what, cudaGetErrorName(error), static_cast<int>(error),
                                  cudaGetErrorString(error), place));
}

void check_launch(std::string_view kernel) {
  last_launch = {std::string(kernel)};
  check(cudaGetLastError(), kernel);
}

void check_launch(std::string_view kernel, const DeviceBlocks& batch) {
  last_launch = {std::string(kernel), batch.block_count, batch.total_block_bytes};
  const cudaError_t error = cudaGetLastError();
  if (error != cudaSuccess)
    check(error,
          fmt::format("{} on {} blocks, {} bytes", kernel, batch.block_count, batch.total_block_bytes));
}

}  // namespace hemstitch::cuda
