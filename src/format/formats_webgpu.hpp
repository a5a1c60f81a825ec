// The formats that WebGPU devices compress to and restore.
#pragma once

#include <memory>
#include <span>

#include "format/device_format_webgpu.hpp"

namespace hemstitch::webgpu {

std::span<const std::unique_ptr<DeviceFormat>> device_formats();

// Null if devices do not support the format.
const DeviceFormat* device_format(Format id);

}  // namespace hemstitch::webgpu
