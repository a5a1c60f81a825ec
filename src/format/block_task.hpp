// Blocks to compress or to restore, as engines and codecs get them.
#pragma once

#include <cstddef>
#include <span>

#include "core/status.hpp"
#include "hemstitch/hemstitch.hpp"

namespace hemstitch {

// One block of a batch. The caller fills the first members, whoever works on it those below the empty line.
struct BlockTask {
  std::span<const std::byte> input;  // the block: raw bytes to compress, or a block's data to restore
  // The content before the block, at most as much as the format's data refers to (FrameFormat::history_bytes).
  std::span<const std::byte> history;
  // For the first block of a frame, if a dictionary of the format is more than history
  // (FrameFormat::dictionary_is_history()): the dictionary.
  std::span<const std::byte> dictionary = {};
  // Exactly the memory that may be written, as large as the format requires
  // (FrameWriter::data_room_bytes()). If outputs may be moved (EncodeParameters), the engine sets this to
  // where it put the data.
  std::span<std::byte> output;

  std::size_t output_bytes = 0;  // bytes written, when status is kOk
  // Of the last byte: how many of its bits belong to the block, from the lowest on, if the block ends
  // within a byte. The other bits are 0.
  unsigned last_byte_bits = 8;
  Status status = Status::kInternal;  // kOutputTooSmall: the block does not fit into `output`
};

struct EncodeParameters {
  Format format = Format::kLz4;
  int level = 1;                        // one of the format's
  int acceleration = 0;                 // 0: off; see CompressOptions
  std::size_t block_bytes = 256 << 10;  // the frame's block size; a task may be shorter

  // So many bytes before and after each task's output belong to the frame and stay free. If outputs may be
  // moved, those of a batch lie in one piece of memory, in order. Each has at least as much room as its
  // input, and only this room and the frame's bytes lie between them, so the engine may move the data
  // closer together. Among moved data, a block that does not fit into its room is stored as its input. After
  // that, no block can be redone alone, so the engine throws if a block fails.
  std::size_t before_block_bytes = 0;
  std::size_t behind_block_bytes = 0;
  bool movable_outputs = false;
  int window_log = 0;  // 0: the usual window; see CompressOptions
  // Other blocks of the frame may come before a task that has no history, too.
  bool within_frame = false;
};

}  // namespace hemstitch
