// The formats with DEFLATE blocks on CUDA devices. Devices compress to all of them, and restore blocks that
// can be told apart.
#pragma once

#include <memory>
#include <vector>

#include "format/device_format.hpp"

namespace hemstitch::cuda {

std::vector<std::unique_ptr<DeviceFormat>> make_deflate_device_formats();

}  // namespace hemstitch::cuda
