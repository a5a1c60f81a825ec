#include "format/formats_webgpu.hpp"

#include <utility>
#include <vector>

#include "core/status.hpp"

namespace hemstitch::webgpu {
namespace {

std::vector<std::unique_ptr<DeviceFormat>> make_formats() {
  std::vector<std::unique_ptr<DeviceFormat>> formats;
#define ADD(name, cuda, webgpu)           \
  HEMSTITCH_IF_##webgpu(for (auto& format \
                             : make_##name##_device_formats()) formats.push_back(std::move(format));)
  HEMSTITCH_KNOWN_FORMATS(ADD)
#undef ADD
  return formats;
}

[[noreturn]] void refuse_to_compress() {
  throw Error(Status::kInvalidOption, "WebGPU devices do not compress to this format");
}

}  // namespace

BatchLimits DeviceFormat::compress_limits(int, std::size_t, std::uint64_t, std::uint64_t) const {
  refuse_to_compress();
}
std::uint64_t DeviceFormat::counted_bytes(const BlockSizes&) const { refuse_to_compress(); }
StagedBatch DeviceFormat::stage_compress(std::span<const BlockSizes>, int, std::size_t) const {
  refuse_to_compress();
}

std::span<const std::unique_ptr<DeviceFormat>> device_formats() {
  static const std::vector<std::unique_ptr<DeviceFormat>> formats = make_formats();
  return formats;
}

const DeviceFormat* device_format(Format id) {
  for (const auto& format : device_formats())
    if (format->id() == id) return format.get();
  return nullptr;
}

}  // namespace hemstitch::webgpu
