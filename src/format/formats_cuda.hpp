// The formats that CUDA devices know. A row here, and searches restore a format's files on the device, and `bench` times it there.
#pragma once

#include <memory>
#include <span>

#include "format/device_format.hpp"

namespace hemstitch::cuda {

std::span<const std::unique_ptr<DeviceFormat>> device_formats();

// Null where devices do not know the format.
const DeviceFormat* device_format(Format id);

}  // namespace hemstitch::cuda
