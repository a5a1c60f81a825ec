// What all parses share on a CUDA device: where sequences go.
//
// A parse takes a batch of blocks (match/common/cuda/device_block.hpp) and one match record for each position. It
// writes one list of sequences for each block, exactly equal to that of its twin. It reads only records,
// never the blocks' bytes, so `d_block` may be anything. The batch has its blocks in ascending order of
// `position`, without overlap (parse_room.hpp). A list is contiguous; there may be room between two lists.
//
// greedy, lazy and optimal_exact take records of both widths. Decisions have 16 bits: the plan of wide records allows
// matches of at most 65535 bytes. The library has the kernels of narrow records alone.
#pragma once

#include <cuda_runtime.h>

#include <cstddef>
#include <cstdint>

#include "core/match.hpp"
#include "core/sequence.hpp"
#include "match/common/cuda/device_block.hpp"
#include "parse/parse_room.hpp"

namespace hemstitch::cuda {

struct DeviceSequences {
  Sequence* d_sequences;    // device_sequence_capacity() elements
  std::uint32_t* d_counts;  // for each block: the sequences of its list, including the last literals
  std::uint64_t* d_total;   // the sum of the counts
};

constexpr std::uint64_t device_sequence_capacity(const DeviceBlocks& blocks, const BlockPlan& plan) {
  return first_sequence(blocks.total_block_bytes, blocks.block_count, plan);
}

}  // namespace hemstitch::cuda
