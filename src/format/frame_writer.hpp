// Writing frames without any input or output: what stands before, around and behind the blocks, whose data engines
// write. One writer serves any number of frames of the same options, from several threads at once.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

#include "format/frame_layout.hpp"

namespace hemstitch {

// What a frame takes besides its blocks' data.
struct FrameRoom {
  std::size_t header_bytes = 0;        // at most
  std::size_t before_block_bytes = 0;  // exactly
  std::size_t behind_block_bytes = 0;  // at most
  std::size_t last_byte_bytes = 0;     // at most: the block of the last byte, where that stands apart
  std::size_t end_bytes = 0;           // at most

  std::size_t around_block_bytes() const { return before_block_bytes + behind_block_bytes; }
};

// The functions that write take a place with the room for it and return how many bytes they wrote, where that can differ.
class FrameWriter {
 public:
  virtual ~FrameWriter() = default;

  virtual FrameRoom room() const = 0;
  // How content of so many bytes is cut.
  virtual FrameLayout layout(std::uint64_t content_bytes) const = 0;

  virtual std::size_t write_header(std::optional<std::uint64_t> content_bytes, std::byte* to) const = 0;

  // How much room an engine has for a block's data. What does not fit into it stands in the frame as it is, if the format has that:
  // then the room is less than the content.
  virtual std::size_t data_room_bytes(std::size_t content_bytes) const { return content_bytes - 1; }
  // And the frame for the block, besides what stands around it.
  std::size_t block_room_bytes(std::size_t content_bytes) const {
    return std::max(content_bytes, data_room_bytes(content_bytes));
  }
  // How much of the content before a block its data may refer to. Without any, a dictionary stands before every block, otherwise before
  // the first one.
  virtual std::size_t history_bytes() const { return 0; }

  // A block of content that an engine was done with.
  struct Block {
    std::span<const std::byte> content;
    // Nothing where that did not fit into its room: the frame then holds the content.
    std::optional<std::span<const std::byte>> data;
    unsigned last_byte_bits = 8;                         // of the data's last byte; see BlockTask
    std::optional<std::uint32_t> content_checksum = {};  // where has_block_content_checksums()

    std::span<const std::byte> bytes() const { return data.value_or(content); }
  };
  virtual void write_before(const Block& block, std::byte* to) const = 0;
  virtual std::size_t write_behind(const Block& block, std::byte* to) const = 0;
  // Only where a layout has it apart.
  virtual std::size_t write_last_byte(std::byte last, std::byte* to) const = 0;

  // Whether blocks come with the checksum of their content.
  virtual bool has_block_content_checksums() const { return false; }
  // Whether a frame ends in the checksum of its content, since the options or the format ask for one.
  virtual bool has_content_checksum() const = 0;
  // `content_checksum` is there where the frame has one.
  virtual std::size_t write_end(std::uint64_t content_bytes, std::optional<std::uint32_t> content_checksum,
                                std::byte* to) const = 0;
};

}  // namespace hemstitch
