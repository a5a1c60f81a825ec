#include "format/formats_cuda.hpp"

#include "format/lz4/lz4_format_cuda.hpp"

namespace hemstitch::cuda {

std::span<const std::unique_ptr<DeviceFormat>> device_formats() {
  static const std::unique_ptr<DeviceFormat> formats[] = {make_lz4_device_format()};
  return formats;
}

const DeviceFormat* device_format(Format id) {
  for (const auto& format : device_formats())
    if (format->id() == id) return format.get();
  return nullptr;
}

}  // namespace hemstitch::cuda
