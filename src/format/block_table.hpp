// Where each byte of the content lies: a table of places from which the frames of an input can be read on.
// Ranges of the content use it, as often as they like.
//
// Such a place, a point, lies between two blocks, at least 64 KB of input after the one before it. Between
// two points, the headers of blocks are read again whenever they are needed. So the table takes less than one
// percent of the input, however short blocks and frames are.
//
// Making the table reads all headers. Block sizes follow from what frames state: the size of each block
// (BGZF), or the size of the content (LZ4), if all blocks but the last two are full. The last two are
// measured, which proves that (last_of_full_blocks()). Only other frames have all their blocks measured, by
// walking their tokens. Where a seek table lists the blocks, it is believed, and no header is read but those that ranges
// need.
//
// Thread safety: several threads may use a table at once.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "core/random_access.hpp"
#include "format/frame_index.hpp"
#include "format/frame_reader.hpp"

namespace hemstitch {

// A block with its place in the content of all frames together.
struct PlacedBlock {
  IndexedBlock block;
  Place place;
  std::uint64_t content_at = 0;
  std::uint64_t content_bytes = 0;
  Status status = Status::kOk;  // otherwise the block cannot have the content that belongs here
};

class BlockTable {
 public:
  // `input` must outlive the table and stay as it is. `format`: null if the first bytes identify it. Uses the
  // threads of the caller's arena. Throws Error as FrameReader does; kUnsupportedFeature for frames whose
  // blocks cannot be restored one by one; kCorruptBlock for a block that cannot be measured.
  BlockTable(const RandomAccess& input, const FrameFormat* format, bool verify_header_checksum);

  const FrameFormat& format() const { return *format_; }
  // gzip's reader reads blocks of BGZF too, but for engines BGZF is a format of its own.
  Format block_format() const { return block_format_; }
  std::uint64_t content_bytes() const { return content_bytes_; }
  // Where the last frame ends, and whether bytes follow there that are no frame.
  std::uint64_t used_bytes() const { return used_bytes_; }
  bool has_trailing_garbage() const { return has_trailing_garbage_; }
  // The most of any block.
  std::size_t most_content_bytes() const { return most_content_bytes_; }
  std::size_t most_data_bytes() const { return most_data_bytes_; }

  // A part reaches from one point to the next.
  std::size_t part_count() const { return points_.size(); }
  // The part that holds this byte of the content.
  std::size_t part_of(std::uint64_t content_at) const;
  // Reads the headers of a part. Throws kInputChanged if they are not what they were.
  std::vector<PlacedBlock> blocks_of(std::size_t part) const;

 private:
  class Builder;
  class Lister;

  // Of a frame whose blocks are full, but for the last two.
  struct FullBlocks {
    std::uint64_t content_end = 0;  // of the frame, in the content of all frames
    std::uint64_t last_bytes = 0;   // the content of its last block

    // The size of the block there.
    std::uint64_t bytes_at(std::uint64_t content_at, std::uint64_t block_bytes) const {
      const std::uint64_t left = content_end - std::min(content_at, content_end);
      return left > last_bytes ? std::min(left - last_bytes, block_bytes) : left;
    }
  };
  struct Point {
    FrameStream stream;
    std::uint64_t content_at = 0;
    std::optional<FullBlocks> full;  // for the frame that the point is in
  };

  const RandomAccess& input_;
  const FrameFormat* format_ = nullptr;
  Format block_format_{};
  std::uint64_t content_bytes_ = 0, used_bytes_ = 0;
  bool has_trailing_garbage_ = false;
  std::size_t most_content_bytes_ = 1, most_data_bytes_ = 1;
  std::vector<Point> points_;
};

}  // namespace hemstitch
