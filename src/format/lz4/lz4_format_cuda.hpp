// LZ4 as a format of CUDA devices.
#pragma once

#include <memory>

#include "format/device_format.hpp"

namespace hemstitch::cuda {

std::unique_ptr<DeviceFormat> make_lz4_device_format();

}  // namespace hemstitch::cuda
