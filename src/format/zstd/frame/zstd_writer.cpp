#include "format/zstd/frame/zstd_writer.hpp"

#include <algorithm>

#include "core/bytes.hpp"
#include "core/status.hpp"
#include "format/checksum.hpp"
#include "format/zstd/frame/zstd_frame_header.hpp"
#include "format/zstd/restore/zstd_dictionary.hpp"
#include "format/zstd/zstd_limits.hpp"

namespace hemstitch {
namespace {

class ZstdWriter : public FrameWriter {
 public:
  explicit ZstdWriter(const CompressOptions& options)
      : part_bytes_(options.block_bytes),
        history_bytes_(zstd_history_bytes(options.level)),
        dictionary_id_(zstd_dictionary_id(options.dictionary)) {}

  FrameRoom room() const override {
    return {.header_bytes = kZstdMostHeaderBytes, .end_bytes = kZstdEndOfBlocks.size() + kChecksumBytes};
  }
  FrameLayout layout(std::uint64_t content_bytes) const override {
    return {content_bytes, part_bytes_, false};
  }
  std::size_t data_room_bytes(std::size_t content_bytes) const override {
    return zstd_data_room(content_bytes);
  }
  std::size_t history_bytes() const override { return history_bytes_; }

  // The window is as large as a match may reach back. It limits blocks as well, so a small content has a small
  // one.
  std::size_t write_header(std::optional<std::uint64_t> content_bytes, std::byte* to) const override {
    const std::uint64_t reach = part_bytes_ + history_bytes_;
    return write_zstd_header({.window_bytes = std::min(reach, content_bytes.value_or(reach)),
                              .content_bytes = content_bytes,
                              .dictionary_id = dictionary_id_,
                              .has_checksum = true},
                             to);
  }
  bool states_content_bytes() const override { return true; }

  void write_before(const Block& block, std::byte*) const override {
    if (!block.data) throw Error(Status::kInternal, "a part of a Zstandard frame was not written");
  }
  std::size_t write_behind(const Block&, std::byte*) const override { return 0; }
  std::size_t write_last_byte(std::byte, std::byte*) const override { return 0; }

  bool has_content_checksum() const override { return true; }
  std::size_t write_end(std::uint64_t, std::optional<std::uint32_t> content_checksum,
                        std::byte* to) const override {
    std::copy(kZstdEndOfBlocks.begin(), kZstdEndOfBlocks.end(), to);
    store_le32(to + kZstdEndOfBlocks.size(), content_checksum.value());
    return kZstdEndOfBlocks.size() + kChecksumBytes;
  }

 private:
  std::size_t part_bytes_, history_bytes_;
  std::uint32_t dictionary_id_;
};

}  // namespace

std::unique_ptr<FrameWriter> make_zstd_writer(const CompressOptions& options) {
  return std::make_unique<ZstdWriter>(options);
}

}  // namespace hemstitch
