#include "gpu/cuda/device_survey.hpp"

#include <cuda_runtime.h>
#include <fmt/format.h>

#include "gpu/cuda/cuda_error.hpp"
#include "gpu/cuda/kernel_trace.hpp"

namespace hemstitch::cuda {
namespace {

DeviceFacts facts_of(int index) {
  cudaDeviceProp properties{};
  check(cudaGetDeviceProperties(&properties, index), "cudaGetDeviceProperties");
  return {index,
          properties.name,
          10 * properties.major + properties.minor,
          properties.multiProcessorCount,
          properties.totalGlobalMem,
          static_cast<std::uint64_t>(properties.l2CacheSize),
          properties.sharedMemPerBlockOptin};
}

#ifdef HEMSTITCH_KERNEL_TRACE
// Marks of a process in a build that traces; kept until the process ends, so that the last error can be read.
void start_trace() {
  constexpr std::uint32_t kSlotCount = 1 << 16;
  static const auto& trace = *new KernelTrace(kSlotCount);
  static_cast<void>(trace);
}
#endif

}  // namespace

DeviceSurvey survey_devices() {
  DeviceSurvey survey;
  cudaDriverGetVersion(&survey.driver_version);
  cudaRuntimeGetVersion(&survey.runtime_version);
  int count = 0;
  const cudaError_t error = cudaGetDeviceCount(&count);
  if (error != cudaSuccess) {
    cudaGetLastError();
    // No driver and an old one show in the versions; no device, in an empty list.
    if (error != cudaErrorInsufficientDriver && error != cudaErrorNoDevice)
      survey.failure = fmt::format("{} ({}): {}", cudaGetErrorName(error), static_cast<int>(error),
                                   cudaGetErrorString(error));
    return survey;
  }
  for (int index = 0; index < count; index++) survey.devices.push_back(facts_of(index));
  return survey;
}

const DeviceChoice& chosen_device() {
  static const DeviceChoice choice = [] {
    try {
      return choose_device(survey_devices(), HEMSTITCH_CUDA_ARCHITECTURES);
    } catch (const Error& error) {
      return DeviceChoice{{}, error.what()};
    }
  }();
  return choice;
}

const DeviceFacts& use_device() {
  const DeviceChoice& choice = chosen_device();
  if (!choice.device) throw Error(Status::kDeviceUnavailable, choice.reason);
  check(cudaSetDevice(choice.device->index), "cudaSetDevice");
#ifdef HEMSTITCH_KERNEL_TRACE
  start_trace();
#endif
  return *choice.device;
}

}  // namespace hemstitch::cuda
