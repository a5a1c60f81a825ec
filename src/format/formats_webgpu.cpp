#include "format/formats_webgpu.hpp"

#include <utility>
#include <vector>

namespace hemstitch::webgpu {
namespace {

std::vector<std::unique_ptr<DeviceFormat>> make_formats() {
  std::vector<std::unique_ptr<DeviceFormat>> formats;
#define ADD(name, cuda, webgpu)           \
  HEMSTITCH_IF_##webgpu(for (auto& format \
                             : make_##name##_device_formats()) formats.push_back(std::move(format));)
  HEMSTITCH_KNOWN_FORMATS(ADD)
#undef ADD
  return formats;
}

}  // namespace

std::span<const std::unique_ptr<DeviceFormat>> device_formats() {
  static const std::vector<std::unique_ptr<DeviceFormat>> formats = make_formats();
  return formats;
}

const DeviceFormat* device_format(Format id) {
  for (const auto& format : device_formats())
    if (format->id() == id) return format.get();
  return nullptr;
}

}  // namespace hemstitch::webgpu
