#include "gpu/webgpu/devices.hpp"

#include <map>
#include <mutex>

#include "core/status.hpp"

namespace hemstitch::webgpu {

std::shared_ptr<Device> open_device(std::string_view wanted) {
  const AdapterSurvey& survey = adapter_survey();
  if (!survey.failure.empty()) throw Error(Status::kDeviceUnavailable, survey.failure);
  const AdapterChoice choice = choose_adapter(survey.adapters, wanted);
  if (!choice.reason.empty()) throw Error(Status::kDeviceUnavailable, choice.reason);
  static std::mutex mutex;
  // Never destroyed: drivers release their own state at exit, possibly earlier.
  static auto& devices = *new std::map<std::size_t, std::shared_ptr<Device>>;
  const std::scoped_lock lock(mutex);
  std::shared_ptr<Device>& device = devices[choice.index];
  if (!device) device = std::make_shared<Device>(DeviceOptions{std::to_string(choice.index), {}, false});
  return device;
}

}  // namespace hemstitch::webgpu
