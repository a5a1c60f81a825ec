#include "gpu/cuda/device_choice.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <charconv>

#include "gpu/device_names.hpp"

namespace hemstitch::cuda {
namespace {

std::string version_text(int version) { return fmt::format("{}.{}", version / 1000, version % 1000 / 10); }
std::string capability_text(int capability) { return fmt::format("{}.{}", capability / 10, capability % 10); }

// A driver runs programs of its own major version, whatever their minor version is.
bool driver_is_too_old(const DeviceSurvey& survey) {
  return survey.driver_version / 1000 < survey.runtime_version / 1000;
}

std::vector<DeviceFacts> devices_wanted(const DeviceSurvey& survey, std::string_view wanted) {
  if (wanted.empty() || wanted == kAllDevices) return survey.devices;
  std::vector<std::string> names;
  for (const DeviceFacts& device : survey.devices) names.push_back(device.name);
  std::vector<DeviceFacts> meant;
  for (const std::size_t number : devices_meant(wanted, names)) meant.push_back(survey.devices[number]);
  return meant;
}

std::vector<std::string> list_of(const DeviceSurvey& survey) {
  std::vector<std::string> list;
  for (const DeviceFacts& device : survey.devices)
    list.push_back(fmt::format("{}: {}", device.index, device.name));
  return list;
}

}  // namespace

double bus_gbps(int capability) {
  constexpr double kPcie5Gbps = 55;
  return capability >= 90 ? kPcie5Gbps : capability >= 80 ? kPcie5Gbps / 2 : kPcie5Gbps / 4;
}

bool runs_on(std::string_view architectures, int capability) {
  while (!architectures.empty()) {
    const std::size_t end = std::min(architectures.find(','), architectures.size());
    const std::string_view entry = architectures.substr(0, end);
    architectures.remove_prefix(std::min(end + 1, architectures.size()));
    int compiled = 0;
    const auto number = std::from_chars(entry.data(), entry.data() + entry.size(), compiled);
    const std::string_view kind(number.ptr, entry.data() + entry.size());
    if (compiled > capability) continue;
    const bool has_code = kind != "-virtual", has_ptx = kind != "-real";
    if (has_ptx || (has_code && compiled / 10 == capability / 10)) return true;
  }
  return false;
}

DeviceChoice choose_device(const DeviceSurvey& survey, std::string_view architectures,
                           std::string_view wanted) {
  if (survey.driver_version == 0) return {{}, "no NVIDIA driver is installed here"};
  if (driver_is_too_old(survey))
    return {
        {},
        fmt::format("the NVIDIA driver is too old: it runs CUDA {}, this build needs {}; update the driver",
                    version_text(survey.driver_version), version_text(survey.runtime_version))};
  if (!survey.failure.empty()) return {{}, survey.failure};
  if (survey.devices.empty())
    return {{}, "the NVIDIA driver shows no device (nvidia-smi lists them; CUDA_VISIBLE_DEVICES hides them)"};

  const std::vector<DeviceFacts> meant = devices_wanted(survey, wanted);
  if (meant.empty())
    return {
        {},
        fmt::format("no CUDA device '{}'; this machine has {}", wanted, fmt::join(list_of(survey), ", "))};
  const bool any = wanted.empty() || wanted == kAllDevices;
  const DeviceFacts* best = nullptr;
  for (const DeviceFacts& device : meant)
    if (runs_on(architectures, device.capability) &&
        (best == nullptr || (any && device.multiprocessors > best->multiprocessors)))
      best = &device;
  if (best != nullptr) return {*best, {}};

  std::vector<std::string> devices;
  devices.reserve(meant.size());
  for (const DeviceFacts& device : meant)
    devices.push_back(
        fmt::format("{} has compute capability {}", device.name, capability_text(device.capability)));
  return {{},
          fmt::format("this build's kernels run on none of the devices: {}; compiled for {} (CMake's "
                      "HEMSTITCH_CUDA_ARCHITECTURES)",
                      fmt::join(devices, ", "), architectures)};
}

DevicesChoice choose_devices(const DeviceSurvey& survey, std::string_view architectures,
                             std::string_view wanted) {
  const DeviceChoice one = choose_device(survey, architectures, wanted);
  if (!one.device) return {{}, one.reason};
  if (wanted != kAllDevices && wanted.find(',') == std::string_view::npos) return {{*one.device}, {}};
  DevicesChoice several;
  for (DeviceFacts& device : devices_wanted(survey, wanted))
    if (runs_on(architectures, device.capability)) several.devices.push_back(std::move(device));
  return several;
}

}  // namespace hemstitch::cuda
