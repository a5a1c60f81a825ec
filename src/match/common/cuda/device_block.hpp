// A batch of blocks on the device, as every kernel of the match and parse stages takes it.
//
// The history of a block stands directly before it in memory, as on the host (match/common/finder.hpp). Blocks may have any
// alignment and any sizes, may overlap each other's histories (the blocks of one file do), and must not be written
// while a kernel reads them. Nothing outside [block - history_bytes, block + block_bytes) may be read: it may belong to another
// allocation, or to none.
#pragma once

#include <cstddef>
#include <cstdint>

#include "core/match.hpp"

namespace hemstitch {

struct DeviceBlock {
  const std::byte* d_block;     // first byte of the block
  std::uint32_t block_bytes;    // 0 is allowed
  std::uint32_t history_bytes;  // 0..65536; bytes before d_block that matches may point to
  std::uint64_t position;  // of the block's first byte in the batch: index of its first record, decision, ...
};

struct DeviceBlocks {
  const DeviceBlock* d_blocks = nullptr;
  std::uint32_t block_count = 0;
  std::uint32_t max_block_bytes = 0;    // no block of the batch is larger
  std::uint32_t max_history_bytes = 0;  // no history is longer
  std::uint64_t total_block_bytes = 0;  // records, decisions, ... of the batch
};

}  // namespace hemstitch
