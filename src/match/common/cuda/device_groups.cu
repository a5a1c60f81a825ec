#include <thrust/iterator/transform_iterator.h>

#include <cub/device/device_scan.cuh>
#include <limits>
#include <string>

#include "gpu/cuda/cuda_error.hpp"
#include "match/common/cuda/device_groups.hpp"
#include "match/common/cuda/device_text.cuh"

namespace hemstitch::cuda {
namespace {

constexpr std::size_t kAlignment = 256;  // bytes, of the two parts of the scratch

struct GroupCount {
  std::uint32_t group_positions;
  __host__ __device__ std::uint32_t operator()(const DeviceBlock& block) const {
    return block.block_bytes / group_positions + (block.block_bytes % group_positions != 0 ? 1 : 0);
  }
};

std::size_t ends_bytes(const DeviceBlocks& blocks) {
  return (blocks.block_count * sizeof(std::uint32_t) + kAlignment - 1) / kAlignment * kAlignment;
}

// Called without scratch, returns its size.
void sum_groups(const DeviceBlocks& blocks, std::uint32_t group_positions, void* d_scratch,
                std::size_t& scratch_bytes, std::uint32_t* d_ends, cudaStream_t stream) {
  const auto counts = thrust::make_transform_iterator(blocks.d_blocks, GroupCount{group_positions});
  check(cub::DeviceScan::InclusiveSum(d_scratch, scratch_bytes, counts, d_ends, blocks.block_count, stream),
        "cub::DeviceScan::InclusiveSum");
}

}  // namespace

std::size_t number_groups_scratch_bytes(const DeviceBlocks& blocks, std::uint32_t group_positions) {
  if (blocks.block_count == 0) return 0;
  std::size_t scan_bytes = 0;
  sum_groups(blocks, group_positions, nullptr, scan_bytes, nullptr, nullptr);
  return ends_bytes(blocks) + scan_bytes;
}

std::uint32_t most_groups(const DeviceBlocks& blocks, std::uint32_t group_positions) {
  constexpr std::uint64_t kMostBytes = kMaxTextBytes - DeviceText::kMostBegin;
  if (std::uint64_t{blocks.max_block_bytes} + blocks.max_history_bytes > kMostBytes)
    throw Error(Status::kInvalidOption,
                "a block of " + std::to_string(blocks.max_block_bytes) + " bytes with a history of " +
                    std::to_string(blocks.max_history_bytes) + " is more than the device's finders take, " +
                    std::to_string(kMostBytes));
  const std::uint64_t groups = blocks.total_block_bytes / group_positions + blocks.block_count;
  if (groups > std::numeric_limits<std::int32_t>::max())
    throw Error(Status::kInvalidOption, "a batch of " + std::to_string(blocks.total_block_bytes) +
                                            " bytes in " + std::to_string(blocks.block_count) +
                                            " blocks is too large for one launch");
  return static_cast<std::uint32_t>(groups);
}

DeviceGroups number_groups(const DeviceBlocks& blocks, std::uint32_t group_positions, void* d_scratch,
                           std::size_t scratch_bytes, cudaStream_t stream) {
  if (blocks.block_count == 0) return {};
  const std::size_t needed = number_groups_scratch_bytes(blocks, group_positions);
  if (scratch_bytes < needed)
    throw Error(Status::kInvalidOption, "scratch of " + std::to_string(scratch_bytes) + " bytes where " +
                                            std::to_string(needed) + " are needed");
  auto* const d_ends = static_cast<std::uint32_t*>(d_scratch);
  std::size_t scan_bytes = scratch_bytes - ends_bytes(blocks);
  sum_groups(blocks, group_positions, static_cast<std::byte*>(d_scratch) + ends_bytes(blocks), scan_bytes,
             d_ends, stream);
  return {blocks.d_blocks, d_ends, blocks.block_count, group_positions};
}

}  // namespace hemstitch::cuda
