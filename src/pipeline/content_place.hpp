// How far restoring has come in the content of all frames together, and which part of it is wanted.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

#include "format/frame_reader.hpp"
#include "pipeline/restore_slot.hpp"

namespace hemstitch {

// Content bytes [begin, end) of all frames together.
struct ContentRange {
  std::uint64_t begin = 0;
  std::uint64_t end = UINT64_MAX;
};

class ContentPlace {
 public:
  explicit ContentPlace(std::optional<ContentRange> range) : range_(range) {}

  const std::optional<ContentRange>& range() const { return range_; }
  std::uint64_t at() const { return at_; }
  void move_to(std::uint64_t at) { at_ = at; }
  void pass(std::uint64_t bytes) { at_ += bytes; }
  // Of a range: whether nothing, or all, of it has been passed.
  bool is_before_range() const { return range_ && at_ <= range_->begin; }
  bool is_at_end_of_range() const { return range_ && at_ >= range_->end; }

  void begin_frame() {
    frame_at_ = at_;
    last_block_bytes_.reset();
  }
  // For ranges: all blocks of this frame except the last two are known to be full, and the last one has this size.
  void frame_has_full_blocks(std::uint64_t last_block_bytes) { last_block_bytes_ = last_block_bytes; }
  // Whether the next block of that frame is before the range. `announced`: how much content it has, if it says so.
  bool may_skip_block(const FrameHeader& header, std::optional<std::uint32_t> announced) const {
    return range_ && (announced || last_block_bytes_) &&
           at_ + next_block_bytes(header, announced) <= range_->begin;
  }
  // How many of these blocks, which come next, are before the range.
  std::size_t before_range(std::span<const FrameReader::KnownBlock> blocks) const {
    std::size_t count = 0;
    for (std::uint64_t at = at_; count < blocks.size(); ++count) {
      at += blocks[count].content_bytes;
      if (at > range_->begin) break;
    }
    return count;
  }
  void skip_block(const FrameHeader& header, std::optional<std::uint32_t> announced) {
    at_ += next_block_bytes(header, announced);
  }

  // The part of the block's content that is wanted.
  std::span<const std::byte> wanted(const RestoreSlot::Block& block) const {
    if (!range_) return block.content;
    const auto clip = [&](std::uint64_t at) {
      return std::clamp(at, block.content_at, block.content_at + block.content.size()) - block.content_at;
    };
    const std::uint64_t from = clip(range_->begin), to = clip(range_->end);
    return block.content.subspan(from, to - from);
  }

 private:
  std::uint64_t next_block_bytes(const FrameHeader& header, std::optional<std::uint32_t> announced) const {
    if (announced) return *announced;
    const std::uint64_t left = frame_at_ + header.content_bytes.value() - at_;
    const std::uint64_t last = last_block_bytes_.value();
    return left > last ? std::min<std::uint64_t>(left - last, header.block_bytes) : left;
  }

  std::optional<ContentRange> range_;
  std::uint64_t at_ = 0;                           // counted for ranges and streams
  std::uint64_t frame_at_ = 0;                     // where this frame's content begins
  std::optional<std::uint64_t> last_block_bytes_;  // if a block's place follows from its number
};

}  // namespace hemstitch
