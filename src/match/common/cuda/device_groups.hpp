// A batch cut into groups of neighbouring positions, with a thread block for each, for finders that search in
// groups.
//
// Blocks may differ in size by any factor, so groups are numbered over all blocks: `ends[b]` is the number of
// groups in the blocks up to b, and a thread block finds its block by searching these, 32 at once. Only the
// device knows the number of groups. The host launches the most thread blocks that may be needed, at most one
// too many for each block.
#pragma once

#include <cuda_runtime_api.h>

#include <cstddef>
#include <cstdint>

#include "match/common/cuda/device_block.hpp"

namespace hemstitch::cuda {

struct DeviceGroups {
  const DeviceBlock* d_blocks = nullptr;
  const std::uint32_t* d_ends = nullptr;
  std::uint32_t block_count = 0;
  std::uint32_t group_positions = 0;
};

std::size_t number_groups_scratch_bytes(const DeviceBlocks& blocks, std::uint32_t group_positions);

// The most groups that the batch can have: the number to launch. Throws kInvalidOption for a batch with more
// than 2^31 - 1 groups, or with a block that is too large for the kernels' 32-bit indices.
std::uint32_t most_groups(const DeviceBlocks& blocks, std::uint32_t group_positions);

// The groups are valid on the stream, as long as the scratch is. Neither function waits or allocates.
DeviceGroups number_groups(const DeviceBlocks& blocks, std::uint32_t group_positions, void* d_scratch,
                           std::size_t scratch_bytes, cudaStream_t stream);

}  // namespace hemstitch::cuda
