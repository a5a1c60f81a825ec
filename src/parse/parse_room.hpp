// Where the lists of a batch of blocks go, before their lengths are known.
//
// A block of n bytes has at most n / min_match_length matches, and the last literals besides. With blocks in ascending
// order of their positions in the batch, without overlap,
//   first_sequence(block) = position / min_match_length + index of the block
// leaves room for these, so that no block waits for another.
#pragma once

#include <cstdint>

#include "core/block_plan.hpp"
#include "core/host_device.hpp"

namespace hemstitch {

HEMSTITCH_HOST_DEVICE constexpr std::uint32_t shortest_match(const BlockPlan& plan) {
  return plan.min_match_length == 0 ? 1 : plan.min_match_length;
}

// The index of a block's first sequence. With all positions of a batch and the number of its blocks: the room for all.
HEMSTITCH_HOST_DEVICE constexpr std::uint64_t first_sequence(std::uint64_t position,
                                                             std::uint32_t block_index,
                                                             const BlockPlan& plan) {
  return position / shortest_match(plan) + block_index;
}

}  // namespace hemstitch
