#include "format/formats_webgpu.hpp"

#include <vector>

#include "format/deflate/deflate_format_webgpu.hpp"
#include "format/lz4/lz4_format_webgpu.hpp"

namespace hemstitch::webgpu {
namespace {

std::vector<std::unique_ptr<DeviceFormat>> make_formats() {
  std::vector<std::unique_ptr<DeviceFormat>> formats = make_deflate_device_formats();
  formats.insert(formats.begin(), make_lz4_device_format());
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
