// What all parses on a CUDA device share: where sequences go.
//
// A parse takes a batch of blocks (match/common/device_block.hpp) and one match record a position, and writes one list of
// sequences a block, equal to its twin's to the last element. It reads records alone, never the blocks' bytes: `d_block`
// may be anything. The batch has its blocks in ascending order of `position`, without overlap (parse_room.hpp). Lists are
// contiguous; between two lists there may be room.
#pragma once

#include <cuda_runtime.h>

#include <cstddef>
#include <cstdint>

#include "core/match.hpp"
#include "core/sequence.hpp"
#include "match/common/device_block.hpp"
#include "parse/parse_room.hpp"

namespace hemstitch::cuda {

struct DeviceSequences {
  Sequence* d_sequences;    // device_sequence_capacity() elements
  std::uint32_t* d_counts;  // one a block: sequences of its list, the last literals included
  std::uint64_t* d_total;   // the sum of the counts
};

constexpr std::uint64_t device_sequence_capacity(const DeviceBlocks& blocks, const BlockPlan& plan) {
  return first_sequence(blocks.total_block_bytes, blocks.block_count, plan);
}

}  // namespace hemstitch::cuda
