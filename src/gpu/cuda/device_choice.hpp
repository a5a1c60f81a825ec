// Which CUDA device a run uses, or why none can be used: a decision over plain facts, so that it is tested without a
// GPU.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace hemstitch::cuda {

struct DeviceFacts {
  int index = 0;  // as cudaSetDevice takes it
  std::string name;
  int capability = 0;  // 10 x major + minor: 90 for sm_90
  int multiprocessors = 0;
  std::uint64_t memory_bytes = 0;
  std::uint64_t l2_bytes = 0;
  std::uint64_t shared_bytes = 0;  // a block may ask for
  double memory_gbps = 0;          // 0: not known
};

// What the machine answers. Versions are CUDA's: 1000 x major + 10 x minor; a driver's version is the newest CUDA
// that it runs, 0 without a driver.
struct DeviceSurvey {
  int driver_version = 0;
  int runtime_version = 0;
  std::string failure;  // error of the count of devices, if it is none of "no driver", "too old", "no device"
  std::vector<DeviceFacts> devices;
};

struct DeviceChoice {
  std::optional<DeviceFacts> device;
  std::string reason;  // why there is none, and what mends it
};

// The same for those who take several.
struct DevicesChoice {
  std::vector<DeviceFacts> devices;
  std::string reason;  // why there is none
};

// What the bus of devices of that capability carries, one way, to and from pinned memory: 55 GB/s was measured over PCIe 5, and each
// generation before it carries half of that.
double bus_gbps(int capability);

// `architectures` is what the kernels were compiled for, as CMake has it but with commas:
// "75-real,80-real,90-real,90-virtual".
// True where a device of that capability runs them: machine code of its major version that is not newer, or PTX
// that is not newer.
bool runs_on(std::string_view architectures, int capability);

// Of those that `wanted` means (devices_meant()), the first that runs our kernels; where it is empty or "all", of all that run them the
// one with the most multiprocessors, the first of equals. CUDA_VISIBLE_DEVICES has already left its mark on the survey.
DeviceChoice choose_device(const DeviceSurvey& survey, std::string_view architectures,
                           std::string_view wanted = {});

// All that `wanted` means and that run our kernels, in its order, where it is a list; every one that does where it is "all"; else the
// one of choose_device().
DevicesChoice choose_devices(const DeviceSurvey& survey, std::string_view architectures,
                             std::string_view wanted = {});

}  // namespace hemstitch::cuda
