// Links: the kernels that build chains write them, and those that walk chains read them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

#include "core/status.hpp"
#include "match/common/cuda/device_block.hpp"
#include "match/common/hash_word.hpp"
#include "match/stitch/find_tiles_tuning.hpp"

namespace hemstitch::cuda {

// One distance a position: first those of the blocks, at DeviceBlock::position, then the last max_history_bytes
// positions of every block's history. 0 for none.
struct Links {
  std::uint16_t* d_links;
  std::uint64_t total_block_bytes;
  std::uint32_t max_history_bytes;

  // The link of position 0 of `block`; its history's positions are negative.
  __device__ std::uint16_t* of_block(const DeviceBlock& block) const { return d_links + block.position; }
  __device__ std::uint16_t* of_history(std::uint32_t index) const {
    return d_links + total_block_bytes + (std::uint64_t{index} + 1) * max_history_bytes;
  }
};

// How many bytes the hashes of a block cover.
struct HashWidths {
  const std::uint8_t* d_widths = nullptr;  // of each block of the batch; nullptr: of all of them the same
  std::uint32_t same = kHashedBytes;

  __device__ std::uint32_t of_block(std::uint32_t index) const {
    return d_widths == nullptr ? same : d_widths[index];
  }
};

// Whether a block's history is the end of the block before it in the batch, and no shorter than the window, as with consecutive
// blocks of a file. Then that block's links are also those of the history, if both hash equally many bytes. They were computed with
// other bytes before them, but that can change only links farther than the window.
__device__ inline bool continues_previous(const DeviceBlocks& batch, std::uint32_t index,
                                          std::uint32_t window_bytes, const HashWidths& widths = {}) {
  if (index == 0 || index >= batch.block_count || window_bytes < kMostHashedBytes) return false;
  const DeviceBlock previous = batch.d_blocks[index - 1], block = batch.d_blocks[index];
  return block.block_bytes > 0 && block.history_bytes >= window_bytes &&
         previous.block_bytes >= window_bytes && previous.d_block + previous.block_bytes == block.d_block &&
         previous.position + previous.block_bytes == block.position &&
         widths.of_block(index - 1) == widths.of_block(index);
}

// Throws kInvalidOption where a caller gave too little scratch.
inline void check_scratch(const char* finder, std::size_t scratch_bytes, std::size_t needed_bytes) {
  if (scratch_bytes < needed_bytes)
    throw Error(Status::kInvalidOption, std::string(finder) + ": scratch_bytes is " +
                                            std::to_string(scratch_bytes) + ", must be at least " +
                                            std::to_string(needed_bytes));
}

// The segments that the largest block of a batch has; every block gets as many thread blocks, and those after its end have nothing
// to do.
inline std::uint32_t segments_per_block(const DeviceBlocks& batch) {
  return batch.max_block_bytes / kSegmentPositions + (batch.max_block_bytes % kSegmentPositions != 0 ? 1 : 0);
}

}  // namespace hemstitch::cuda
