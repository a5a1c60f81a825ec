#include "format/zstd/frame/zstd_writer.hpp"

#include <algorithm>
#include <array>

#include "core/bytes.hpp"
#include "core/status.hpp"
#include "format/checksum.hpp"
#include "format/zstd/frame/zstd_frame_header.hpp"
#include "format/zstd/frame/zstd_places.hpp"
#include "format/zstd/restore/zstd_dictionary.hpp"
#include "format/zstd/zstd_levels.hpp"
#include "format/zstd/zstd_limits.hpp"

namespace hemstitch {
namespace {

class ZstdWriter : public FrameWriter {
 public:
  // A match may reach back by `reach_bytes`.
  ZstdWriter(const CompressOptions& options, std::size_t history_bytes, std::uint64_t reach_bytes)
      : part_bytes_(options.block_bytes),
        history_bytes_(history_bytes),
        reach_bytes_(reach_bytes),
        dictionary_id_(zstd_dictionary_id(options.dictionary)) {}

  FrameRoom room() const override {
    return {.header_bytes = kZstdMostHeaderBytes, .end_bytes = kZstdEndOfBlocks.size() + kChecksumBytes};
  }
  FrameLayout layout(std::uint64_t content_bytes) const override {
    return {content_bytes, part_bytes_, false};
  }
  std::size_t data_room_bytes(std::size_t content_bytes) const override {
    return zstd_data_room(content_bytes, std::min<std::uint64_t>(kZstdOwnBlockBytes, reach_bytes_));
  }
  std::size_t history_bytes() const override { return history_bytes_; }

  // The window is as large as a match may reach back. It limits blocks as well, so a small content has a small
  // one.
  std::size_t write_header(std::optional<std::uint64_t> content_bytes, std::byte* to) const override {
    return write_zstd_header({.window_bytes = std::min(reach_bytes_, content_bytes.value_or(reach_bytes_)),
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
  std::uint64_t reach_bytes_;
  std::uint32_t dictionary_id_;
};

// Writes a seekable file: each block becomes a frame, and their seek table follows the last one.
class ZstdSeekableWriter : public FrameWriter {
 public:
  explicit ZstdSeekableWriter(const CompressOptions& options)
      : frame_bytes_(options.seekable_bytes), dictionary_id_(zstd_dictionary_id(options.dictionary)) {}

  FrameRoom room() const override {
    return {.before_block_bytes = header_bytes(),
            .behind_block_bytes = kZstdEndOfBlocks.size() + kChecksumBytes,
            .end_bytes = end_bytes(),
            .table_bytes = zstd_seek_table_bytes(1),  // an empty file has a frame, too
            .table_entry_bytes = zstd_seek_table_bytes(1) - zstd_seek_table_bytes(0)};
  }
  FrameLayout layout(std::uint64_t content_bytes) const override {
    return {content_bytes, frame_bytes_, false};
  }
  std::size_t data_room_bytes(std::size_t content_bytes) const override {
    return zstd_data_room(content_bytes);
  }
  std::size_t write_header(std::optional<std::uint64_t>, std::byte*) const override { return 0; }
  bool states_content_bytes() const override { return false; }

  void write_before(const Block& block, std::byte* to) const override {
    if (!block.data) throw Error(Status::kInternal, "a frame of Zstandard was not written");
    write_frame_header(block.content.size(), to);
  }
  std::size_t write_behind(const Block& block, std::byte* to) const override {
    return write_frame_end(block.content_checksum.value(), to);
  }
  std::size_t write_last_byte(std::byte, std::byte*) const override { return 0; }

  bool has_block_content_checksums() const override { return true; }
  bool has_content_checksum() const override { return false; }
  // Without content there is one frame all the same, so that the file is known as Zstandard.
  std::size_t write_end(std::uint64_t content_bytes, std::optional<std::uint32_t>,
                        std::byte* to) const override {
    if (content_bytes != 0) return 0;
    write_frame_header(0, to);
    return header_bytes() + write_frame_end(checksum_of(Checksum::kXxh64, {}), to + header_bytes());
  }
  std::size_t write_table(std::span<const BlockBytes> blocks, std::byte* to) const override {
    const BlockBytes empty{static_cast<std::uint32_t>(end_bytes()), 0};
    return write_zstd_seek_table(blocks.empty() ? std::span(&empty, 1) : blocks, to);
  }

 private:
  // The window is the content.
  ZstdFrameHeader header_of(std::uint64_t content_bytes) const {
    return {.content_bytes = content_bytes,
            .dictionary_id = dictionary_id_,
            .has_checksum = true,
            .single_segment = true};
  }
  std::size_t header_bytes() const {
    std::array<std::byte, kZstdMostHeaderBytes> bytes;
    return write_zstd_header(header_of(0), bytes.data());
  }
  std::size_t end_bytes() const { return header_bytes() + kZstdEndOfBlocks.size() + kChecksumBytes; }
  void write_frame_header(std::uint64_t content_bytes, std::byte* to) const {
    write_zstd_header(header_of(content_bytes), to);
  }
  static std::size_t write_frame_end(std::uint32_t checksum, std::byte* to) {
    std::copy(kZstdEndOfBlocks.begin(), kZstdEndOfBlocks.end(), to);
    store_le32(to + kZstdEndOfBlocks.size(), checksum);
    return kZstdEndOfBlocks.size() + kChecksumBytes;
  }

  std::size_t frame_bytes_;
  std::uint32_t dictionary_id_;
};

}  // namespace

std::unique_ptr<FrameWriter> make_zstd_writer(const CompressOptions& options) {
  if (options.seekable_bytes != 0) return std::make_unique<ZstdSeekableWriter>(options);
  if (options.window_log != 0)
    return std::make_unique<ZstdWriter>(options, 0, std::uint64_t{1} << options.window_log);
  const std::size_t history_bytes = zstd_history_bytes(options.level);
  return std::make_unique<ZstdWriter>(options, history_bytes, options.block_bytes + history_bytes);
}

std::unique_ptr<FrameWriter> make_zstd_own_writer(const CompressOptions& options) {
  const std::uint32_t window_bytes = zstd_far_window_bytes(options.level);
  if (options.seekable_bytes != 0 || options.window_log != 0 || window_bytes == 0)
    return make_zstd_writer(options);
  return std::make_unique<ZstdWriter>(options, window_bytes, window_bytes);
}

}  // namespace hemstitch
