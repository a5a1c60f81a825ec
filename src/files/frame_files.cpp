#include "core/options.hpp"
#include "files/frame_files_device.hpp"
#include "format/formats.hpp"

namespace hemstitch {

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
  CompressOptions checked;
  checked.level = options.level;
  checked.block_bytes = options.block_bytes;
  checked.threads = options.threads;
  checked = checked_options(checked);
  FrameSaveOptions resolved = options;
  resolved.level = checked.level;
  resolved.block_bytes = checked.block_bytes;
  return save_frame_cuda(content, path, resolved);
}

}  // namespace hemstitch
