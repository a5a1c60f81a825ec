// The formats that WebGPU devices compress to and restore (known_formats.hpp).
#pragma once

#include <memory>
#include <span>
#include <vector>

#include "format/device_format_webgpu.hpp"
#include "format/known_formats.hpp"

namespace hemstitch::webgpu {

#define HEMSTITCH_DECLARE(name, cuda, webgpu) \
  HEMSTITCH_IF_##webgpu(std::vector<std::unique_ptr<DeviceFormat>> make_##name##_device_formats();)
HEMSTITCH_KNOWN_FORMATS(HEMSTITCH_DECLARE)
#undef HEMSTITCH_DECLARE

std::span<const std::unique_ptr<DeviceFormat>> device_formats();

// Null if devices do not support the format.
const DeviceFormat* device_format(Format id);

}  // namespace hemstitch::webgpu
