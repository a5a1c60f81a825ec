// The formats that CUDA devices support (known_formats.hpp): searches restore their files on the device, and
// `bench` times them there.
#pragma once

#include <memory>
#include <span>
#include <vector>

#include "format/device_format.hpp"
#include "format/known_formats.hpp"

namespace hemstitch::cuda {

#define HEMSTITCH_DECLARE(name, cuda, webgpu) \
  HEMSTITCH_IF_##cuda(std::vector<std::unique_ptr<DeviceFormat>> make_##name##_device_formats();)
HEMSTITCH_KNOWN_FORMATS(HEMSTITCH_DECLARE)
#undef HEMSTITCH_DECLARE

std::span<const std::unique_ptr<DeviceFormat>> device_formats();

// Null if devices do not support the format.
const DeviceFormat* device_format(Format id);
// A format whose blocks are parts of a frame: devices write them behind what is before them, and restore only those that have nothing before
// them. Its dictionaries are more than history (FrameFormat::dictionary_is_history()).
class DeviceFormatOfParts : public DeviceFormat {
 public:
  // What of a dictionary is history.
  virtual std::span<const std::byte> dictionary_history(std::span<const std::byte> dictionary) const = 0;
};
// Judges by a file's first bytes. Null if devices restore no stream that begins like this.
const DeviceFormat* device_format_of_stream(std::span<const std::byte> head);

}  // namespace hemstitch::cuda
