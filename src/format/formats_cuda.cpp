#include "format/formats_cuda.hpp"

#include <fmt/format.h>

#include <vector>

#include "core/status.hpp"
#include "format/deflate/deflate_format_cuda.hpp"
#include "format/formats.hpp"
#include "format/lz4/lz4_format_cuda.hpp"

namespace hemstitch::cuda {
namespace {

[[noreturn]] void refuse_to_restore(Format id) {
  throw Error(Status::kInvalidOption,
              fmt::format("CUDA devices do not restore {}", FormatTable::instance().of(id).title()));
}

std::vector<std::unique_ptr<DeviceFormat>> make_formats() {
  std::vector<std::unique_ptr<DeviceFormat>> formats = make_deflate_device_formats();
  formats.insert(formats.begin(), make_lz4_device_format());
  return formats;
}

}  // namespace

std::size_t DeviceFormat::restore_scratch_bytes(const DeviceRestore&) const { refuse_to_restore(id()); }
void DeviceFormat::restore(const DeviceRestore&, void*, std::size_t, cudaStream_t) const {
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

}  // namespace hemstitch::cuda
