#include "gpu/cuda/devices.hpp"

#include <cuda_runtime.h>
#include <fmt/format.h>

#include <map>
#include <memory>
#include <mutex>

#include "gpu/cuda/cuda_error.hpp"

namespace hemstitch::cuda {
namespace {

// Twice the clock in kHz, times the bytes of the bus. 0 if the driver does not report them.
double memory_gbps(int index) {
  int clock_khz = 0, bus_bits = 0;
  if (cudaDeviceGetAttribute(&clock_khz, cudaDevAttrMemoryClockRate, index) != cudaSuccess ||
      cudaDeviceGetAttribute(&bus_bits, cudaDevAttrGlobalMemoryBusWidth, index) != cudaSuccess) {
    cudaGetLastError();
    return 0;
  }
  return 2.0 * clock_khz * bus_bits / 8 / 1e6;
}

DeviceFacts facts_of(int index) {
  cudaDeviceProp properties{};
  check(cudaGetDeviceProperties(&properties, index), "cudaGetDeviceProperties");
  return {index,
          properties.name,
          10 * properties.major + properties.minor,
          properties.multiProcessorCount,
          properties.totalGlobalMem,
          static_cast<std::uint64_t>(properties.l2CacheSize),
          properties.sharedMemPerBlockOptin,
          memory_gbps(index)};
}

DeviceSurvey take_survey() {
  DeviceSurvey survey;
  cudaDriverGetVersion(&survey.driver_version);
  cudaRuntimeGetVersion(&survey.runtime_version);
  int count = 0;
  const cudaError_t error = cudaGetDeviceCount(&count);
  if (error != cudaSuccess) {
    cudaGetLastError();
    // A missing or old driver is visible in the versions; a missing device, in the empty list.
    if (error != cudaErrorInsufficientDriver && error != cudaErrorNoDevice)
      survey.failure = fmt::format("{} ({}): {}", cudaGetErrorName(error), static_cast<int>(error),
                                   cudaGetErrorString(error));
    return survey;
  }
  try {
    for (int index = 0; index < count; index++) survey.devices.push_back(facts_of(index));
  } catch (const Error& error_of_one) {
    survey.failure = error_of_one.what();
  }
  return survey;
}

Device& open(const DeviceFacts& facts) {
  static std::mutex mutex;
  // Never destroyed: when the process ends, the driver may be gone before static objects are.
  static auto& devices = *new std::map<int, std::unique_ptr<Device>>;
  const std::lock_guard lock(mutex);
  static const auto& pinned = *new std::shared_ptr<PinnedPool>(std::make_shared<PinnedPool>());
  std::unique_ptr<Device>& device = devices[facts.index];
  if (!device) device = std::make_unique<Device>(facts, pinned);
  return *device;
}

}  // namespace

const DeviceSurvey& device_survey() {
  static const DeviceSurvey survey = take_survey();
  return survey;
}

DeviceChoice find_device(std::string_view wanted) {
  return choose_device(device_survey(), HEMSTITCH_CUDA_ARCHITECTURES, wanted);
}

Device& open_device(std::string_view wanted) {
  const DeviceChoice choice = find_device(wanted);
  if (!choice.device) throw Error(Status::kDeviceUnavailable, choice.reason);
  return open(*choice.device);
}

DevicesChoice find_devices(std::string_view wanted) {
  return choose_devices(device_survey(), HEMSTITCH_CUDA_ARCHITECTURES, wanted);
}

std::vector<Device*> open_devices(std::string_view wanted) {
  const DevicesChoice choice = find_devices(wanted);
  if (choice.devices.empty()) throw Error(Status::kDeviceUnavailable, choice.reason);
  std::vector<Device*> devices;
  for (const DeviceFacts& facts : choice.devices) devices.push_back(&open(facts));
  return devices;
}

Device& open_current_device() {
  int index = 0;
  check(cudaGetDevice(&index), "cudaGetDevice");
  for (const DeviceFacts& facts : device_survey().devices)
    if (facts.index == index) return open(facts);
  throw Error(Status::kDeviceUnavailable, find_device({}).reason);
}

}  // namespace hemstitch::cuda
