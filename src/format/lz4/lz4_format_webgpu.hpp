// LZ4 as a format of WebGPU devices.
#pragma once

#include <memory>

#include "format/device_format_webgpu.hpp"

namespace hemstitch::webgpu {

std::unique_ptr<DeviceFormat> make_lz4_device_format();

}  // namespace hemstitch::webgpu
