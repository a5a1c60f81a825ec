// The formats with DEFLATE blocks on WebGPU devices.
#pragma once

#include <memory>
#include <vector>

#include "format/device_format_webgpu.hpp"

namespace hemstitch::webgpu {

std::vector<std::unique_ptr<DeviceFormat>> make_deflate_device_formats();

}  // namespace hemstitch::webgpu
