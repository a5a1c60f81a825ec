// The formats whose blocks are DEFLATE as those that CUDA devices know. Devices compress to them; they restore none of them.
#pragma once

#include <memory>
#include <vector>

#include "format/device_format.hpp"

namespace hemstitch::cuda {

std::vector<std::unique_ptr<DeviceFormat>> make_deflate_device_formats();

}  // namespace hemstitch::cuda
