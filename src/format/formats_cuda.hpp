// The formats that CUDA devices support. A row here makes searches restore a format's files on the device,
// and `bench` time it there.
#pragma once

#include <memory>
#include <span>

#include "format/device_format.hpp"

namespace hemstitch::cuda {

std::span<const std::unique_ptr<DeviceFormat>> device_formats();

// Null if devices do not support the format.
const DeviceFormat* device_format(Format id);
// Judges by a file's first bytes. Null if devices restore no stream that begins like this.
const DeviceFormat* device_format_of_stream(std::span<const std::byte> head);

}  // namespace hemstitch::cuda
