// A batch cut into groups of neighbouring positions, one thread block each, for finders that search in groups.
//
// Blocks may differ in size by any factor, so the groups are numbered through: `ends[b]` is the number of groups in
// the blocks up to b, and a thread block finds its block by a search among them, 32 ways at once. The number of groups is
// known on the device only; the host launches as many thread blocks as there can be, at most one a block too many.
#pragma once

#include <cuda_runtime_api.h>

#include <cstddef>
#include <cstdint>

#include "match/common/device_block.hpp"

namespace hemstitch::cuda {

struct DeviceGroups {
  const DeviceBlock* d_blocks = nullptr;
  const std::uint32_t* d_ends = nullptr;
  std::uint32_t block_count = 0;
  std::uint32_t group_positions = 0;
};

std::size_t number_groups_scratch_bytes(const DeviceBlocks& blocks, std::uint32_t group_positions);

// The most groups that the batch can have: what to launch. Throws kInvalidOption for a batch with more than 2^31 - 1 of
// them, or with a block that is too large for the kernels' 32-bit indices.
std::uint32_t most_groups(const DeviceBlocks& blocks, std::uint32_t group_positions);

// The groups are valid on the stream, as long as the scratch is. Neither synchronises nor allocates.
DeviceGroups number_groups(const DeviceBlocks& blocks, std::uint32_t group_positions, void* d_scratch,
                           std::size_t scratch_bytes, cudaStream_t stream);

}  // namespace hemstitch::cuda
