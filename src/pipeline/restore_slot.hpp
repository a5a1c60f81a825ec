// A batch of blocks in flight while frames are restored: filled, worked on and emitted by RestoreJob.
#pragma once

#include <cstddef>
#include <cstdint>
#include <exception>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "core/large_buffer.hpp"
#include "core/status.hpp"
#include "format/block_task.hpp"

namespace hemstitch {

struct RestoreSlot {
  struct Block {
    std::span<const std::byte> data;
    bool stored = false;
    std::optional<std::uint32_t> checksum;
    Place place;
    std::uint64_t content_at = 0;                                            // for ranges only
    std::optional<std::uint32_t> content_checksum = {}, content_bytes = {};  // if the frame has them
    std::uint64_t data_at = 0;                // in the compressed stream, if the block may be a stream itself
    std::span<const std::byte> content = {};  // set by work(); for a stream, when it is received
    std::uint32_t found_checksum = 0;         // of the content, if checksums are computed for each block
  };

  LargeBuffer input;   // the blocks' data and checksums, and the bytes between them if all were read at once
  LargeBuffer output;  // history of linked frames, then the content
  std::size_t input_bytes = 0;
  std::size_t content_bytes = 0;     // of linked blocks: at most so much, known before they are restored
  std::uint64_t input_position = 0;  // bytes of the stream read when the slot was sealed
  std::uint64_t under_way =
      0;  // for a stream: content up to here is still in transfer (StreamDecoder::under_way())
  std::vector<Block> blocks;  // for a stream: its content in `output`, then what its decoder lent
  // What work() needs, kept for the next batch.
  std::vector<BlockTask> tasks;
  std::vector<std::uint32_t> data_checksums;
  std::shared_ptr<const std::byte> loan;
  std::size_t good_blocks = 0;  // the blocks that emit() writes before it throws
  std::exception_ptr error;
};

}  // namespace hemstitch
