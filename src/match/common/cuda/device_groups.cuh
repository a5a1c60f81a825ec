// How a thread block finds its group (device_groups.hpp).
#pragma once

#include <cstdint>

#include "match/common/cuda/device_groups.hpp"

namespace hemstitch::cuda {

struct GroupPlace {
  std::uint32_t block_index;
  std::uint32_t first;  // position in the block of the group's first one
};

// To be called by whole warps. False if there is no such group.
__device__ inline bool find_group(const DeviceGroups& groups, std::uint32_t group, GroupPlace& place) {
  // The first block whose end is above `group` is in [low, high).
  const std::uint32_t lane = threadIdx.x % 32;
  std::uint32_t low = 0, high = groups.block_count;
  while (low < high) {
    const std::uint32_t step = (high - low + 31) / 32;
    const std::uint32_t probe = min(low + (lane + 1) * step, high) - 1;
    const std::uint32_t above = __ballot_sync(0xFFFFFFFFu, groups.d_ends[probe] > group);
    if (above == 0) return false;
    const auto chosen = static_cast<std::uint32_t>(__ffs(static_cast<int>(above))) - 1;
    high = min(low + (chosen + 1) * step, high);
    low += chosen * step;
    if (step == 1) break;
  }
  const std::uint32_t end_before = groups.d_ends[max(low, 1u) - 1];
  place = {low, (group - (low == 0 ? 0 : end_before)) * groups.group_positions};
  return true;
}

}  // namespace hemstitch::cuda
