// What all parses on a CUDA device share: where sequences go.
//
// A parse takes a batch of blocks (device/cuda/device_block.hpp) and one match record a position, and writes
// one list of sequences a block, equal to its twin's to the last element. It reads records alone, never the
// blocks' bytes: `d_block` may be anything.
//
// The batch has its blocks in ascending order of `position`, without overlap. This gives every list its place
// before anything is known of its length, so that blocks need not wait for each other: a block of n bytes has
// at most n / min_match_length matches, and
//   first_sequence(block) = position / min_match_length + index of the block
// leaves room for these and the last literals. Lists are contiguous; between two lists there may be room.
#pragma once

#include <cuda_runtime.h>

#include <cstddef>
#include <cstdint>

#include "core/block_plan.hpp"
#include "core/host_device.hpp"
#include "core/match.hpp"
#include "core/sequence.hpp"
#include "device/cuda/device_block.hpp"

namespace hemstitch {

struct DeviceSequences {
  Sequence* d_sequences;     // device_sequence_capacity() elements
  std::uint32_t* d_counts;   // one a block: sequences of its list, the last literals included
  std::uint64_t* d_total;    // the sum of the counts
};

HEMSTITCH_HOST_DEVICE constexpr std::uint32_t shortest_match(const BlockPlan& plan) {
  return plan.min_match_length == 0 ? 1 : plan.min_match_length;
}

// The index of a block's first sequence in d_sequences.
HEMSTITCH_HOST_DEVICE constexpr std::uint64_t first_sequence(std::uint64_t position, std::uint32_t block_index,
                                                             const BlockPlan& plan) {
  return position / shortest_match(plan) + block_index;
}

constexpr std::uint64_t device_sequence_capacity(const DeviceBlocks& blocks, const BlockPlan& plan) {
  return first_sequence(blocks.total_block_bytes, blocks.block_count, plan);
}

}  // namespace hemstitch
