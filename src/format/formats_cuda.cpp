#include "format/formats_cuda.hpp"

#include <fmt/format.h>

#include <utility>
#include <vector>

#include "core/status.hpp"
#include "format/formats.hpp"
#include "format/stream_decoder.hpp"
#include "format/stream_in_memory_cuda.hpp"

namespace hemstitch::cuda {
namespace {

[[noreturn]] void refuse_to_restore(Format id) {
  throw Error(Status::kInvalidOption,
              fmt::format("CUDA devices do not restore {}", FormatTable::instance().of(id).title()));
}

std::vector<std::unique_ptr<DeviceFormat>> make_formats() {
  std::vector<std::unique_ptr<DeviceFormat>> formats;
#define ADD(name, cuda, webgpu)         \
  HEMSTITCH_IF_##cuda(for (auto& format \
                           : make_##name##_device_formats()) formats.push_back(std::move(format));)
  HEMSTITCH_KNOWN_FORMATS(ADD)
#undef ADD
  return formats;
}

}  // namespace

std::size_t DeviceFormat::restore_scratch_bytes(const DeviceRestore&) const { refuse_to_restore(id()); }
void DeviceFormat::restore(const DeviceRestore&, void*, std::size_t, cudaStream_t) const {
  refuse_to_restore(id());
}

StreamMemory DeviceFormat::stream_memory(const FrameHeader&, const StreamMeans&, std::uint64_t) const {
  return {};
}
std::unique_ptr<StreamDecoder> DeviceFormat::make_stream_decoder(const StreamDevice&, const FrameHeader&,
                                                                 std::span<const std::byte>,
                                                                 const StreamMeans&) const {
  return nullptr;
}

std::size_t DeviceFormat::stream_temp_bytes(std::uint64_t, std::uint64_t) const { refuse_to_restore(id()); }
StreamOutcome DeviceFormat::restore_stream(const StreamInMemory&, void*, std::size_t, cudaStream_t) const {
  refuse_to_restore(id());
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

const DeviceFormat* device_format_of_stream(std::span<const std::byte> head) {
  for (const auto& format : device_formats())
    if (format->restores_stream(head)) return format.get();
  return nullptr;
}

}  // namespace hemstitch::cuda
