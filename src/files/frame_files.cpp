#include <fmt/format.h>

#include "core/options.hpp"
#include "core/status.hpp"
#include "files/frame_files_device.hpp"
#include "format/formats.hpp"
#include "hemstitch/batch.hpp"

namespace hemstitch {

// A frame in which far repeats are found, and of which some dozens make a batch.
constexpr std::size_t kDefaultSavedFrameBytes = std::size_t{4} << 20;

std::vector<DeviceContent> load_frames(const std::vector<std::string>& paths,
                                       const FrameLoadOptions& options) {
  RestoreOptions checked;
  checked.threads = options.threads;
  validate(checked);
  return load_frames_cuda(paths, options);
}

DeviceContent load_frame(const std::string& path, const FrameLoadOptions& options) {
  return std::move(load_frames({path}, options).front());
}

std::uint64_t save_frame(std::span<const std::byte> content, const std::string& path,
                         const FrameSaveOptions& options) {
  const bool is_seekable = FormatTable::instance().of(options.format).choices().seekable;
  if (!is_seekable && options.format != Format::kLz4)
    throw Error(Status::kInvalidOption, "format: files are saved as LZ4 or Zstandard");
  CompressOptions checked;
  checked.format = options.format;
  checked.level = options.level;
  checked.block_bytes = options.block_bytes;
  checked.threads = options.threads;
  if (is_seekable) {
    if (checked.block_bytes == 0) checked.block_bytes = kDefaultSavedFrameBytes;
    checked.seekable_bytes = checked.block_bytes;
    if (batch::blocks_compress_bound(options.format, checked.block_bytes) == SIZE_MAX)
      throw Error(Status::kInvalidOption,
                  fmt::format("block_bytes is {}, which is more than a device compresses as one frame",
                              checked.block_bytes));
  }
  checked = checked_options(checked);
  FrameSaveOptions resolved = options;
  resolved.level = checked.level;
  resolved.block_bytes = checked.block_bytes;
  return save_frame_cuda(content, path, resolved);
}

}  // namespace hemstitch
