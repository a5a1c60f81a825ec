// Writes frames without doing any input or output: the bytes before, around and after the blocks, whose data
// engines write. One writer serves any number of frames with the same options, from several threads at once.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

#include "format/frame_layout.hpp"

namespace hemstitch {

// The bytes of a frame besides its blocks' data.
struct FrameRoom {
  std::size_t header_bytes = 0;        // at most
  std::size_t before_block_bytes = 0;  // exactly
  std::size_t behind_block_bytes = 0;  // at most
  std::size_t last_byte_bytes = 0;     // at most: the block of the last byte, if that is separate
  std::size_t end_bytes = 0;           // at most
  // A table of all blocks behind the end, where there is one: at most so much, and for each block exactly.
  std::size_t table_bytes = 0, table_entry_bytes = 0;

  std::size_t around_block_bytes() const { return before_block_bytes + behind_block_bytes; }
  bool has_table() const { return table_entry_bytes != 0; }
  std::size_t table_bytes_of(std::uint64_t block_count) const {
    return table_bytes + static_cast<std::size_t>(block_count) * table_entry_bytes;
  }
};

// The functions that write get a place with enough room. They return how many bytes they wrote if that can
// vary.
class FrameWriter {
 public:
  virtual ~FrameWriter() = default;

  virtual FrameRoom room() const = 0;
  // How content of this size is divided into blocks.
  virtual FrameLayout layout(std::uint64_t content_bytes) const = 0;

  virtual std::size_t write_header(std::optional<std::uint64_t> content_bytes, std::byte* to) const = 0;
  // Whether a header with a size tells it to readers, so that the content must have this size. A header is
  // corrected only if it keeps its length.
  virtual bool states_content_bytes() const = 0;

  // How much room an engine has for a block's data. A block that does not fit is stored, if the format can
  // do that; then the room is less than the content.
  virtual std::size_t data_room_bytes(std::size_t content_bytes) const { return content_bytes - 1; }
  // How much room the frame has for the block, without the bytes around it.
  std::size_t block_room_bytes(std::size_t content_bytes) const {
    return std::max(content_bytes, data_room_bytes(content_bytes));
  }
  // How much of the content before a block its data may refer to. If that is 0, a dictionary is the history
  // of every block, otherwise of the first one only.
  virtual std::size_t history_bytes() const { return 0; }

  // A block of content after an engine compressed it.
  struct Block {
    std::span<const std::byte> content;
    // Nothing if it did not fit into its room: the frame then holds the content.
    std::optional<std::span<const std::byte>> data;
    unsigned last_byte_bits = 8;                         // of the data's last byte; see BlockTask
    std::optional<std::uint32_t> content_checksum = {};  // if has_block_content_checksums()

    std::span<const std::byte> bytes() const { return data.value_or(content); }
  };
  virtual void write_before(const Block& block, std::byte* to) const = 0;
  virtual std::size_t write_behind(const Block& block, std::byte* to) const = 0;
  // Only if the layout has a separate last byte.
  virtual std::size_t write_last_byte(std::byte last, std::byte* to) const = 0;

  // How much of a frame a block takes, with the bytes around its data.
  struct BlockBytes {
    std::uint32_t bytes = 0;
    std::uint32_t content_bytes = 0;
  };
  // Only if room().has_table().
  virtual std::size_t write_table(std::span<const BlockBytes> /*blocks*/, std::byte* /*to*/) const {
    return 0;
  }

  // Whether blocks must come with the checksum of their content.
  virtual bool has_block_content_checksums() const { return false; }
  // Whether a frame ends with the checksum of its content, because the options or the format ask for it.
  virtual bool has_content_checksum() const = 0;
  // `content_checksum` is set if the frame has one.
  virtual std::size_t write_end(std::uint64_t content_bytes, std::optional<std::uint32_t> content_checksum,
                                std::byte* to) const = 0;
};

}  // namespace hemstitch
