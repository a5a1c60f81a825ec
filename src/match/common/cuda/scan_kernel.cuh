// What brute_force and lazy_scan share: a kernel in which each thread scans the offsets of its own position, and its launch.
//
// Threads: a thread block of 128 neighbouring positions, a thread each; blocks of a batch through device_groups.
// Shared bytes: none. Synchronisation: none. Registers: 64 at most.
#pragma once

#include <cstdint>

#include "core/match.hpp"
#include "gpu/cuda/kernel_trace.hpp"
#include "gpu/cuda/launch.hpp"
#include "match/common/cuda/device_groups.cuh"
#include "match/common/cuda/device_scan.cuh"
#include "match/common/cuda/device_work.hpp"
#include "match/finder_parameters.hpp"

namespace hemstitch::cuda {

inline constexpr std::uint32_t kScanThreads = 128;
inline constexpr int kScanGroupsAMultiprocessor = 8;  // so at most 64 registers a thread
inline constexpr KernelLimits kScanLimits{.threads = kScanThreads, .registers = 64};

using ScanKernel = void(DeviceGroups groups, FinderParameters parameters, MatchRecord* d_records);

// The kernel's body. scan(text, position, limit, best) sets `best` to the position's match, if there is one of more than
// best.length and at most `limit` bytes.
template <typename Scan>
__device__ void scan_group(const DeviceGroups& groups, const FinderParameters& parameters,
                           MatchRecord* d_records, const Scan& scan) {
  GroupPlace place;
  if (!find_group(groups, blockIdx.x, place)) return;
  if (threadIdx.x == 0) trace_mark(kTraceScanGroup, blockIdx.x);
  const DeviceBlock block = groups.d_blocks[place.block_index];
  const DeviceText text(block);
  const std::uint32_t in_block = place.first + threadIdx.x;
  if (in_block >= block.block_bytes) return;

  const std::uint32_t position = text.block() + in_block;
  const std::uint32_t limit = min(parameters.max_match_len, text.end() - position);
  Match best;
  if (limit >= parameters.min_match_len) {
    best.length = parameters.min_match_len - 1;  // what a match must be longer than
    scan(text, position, limit, best);
  }
  d_records[block.position + in_block] = best.offset == 0 ? 0 : pack_match(best.offset, best.length);
}

// Runs `three` if three-byte matches are allowed, else `four`.
inline void launch_scan(const KernelBudget& budget, ScanKernel* three, ScanKernel* four,
                        const DeviceBlocks& blocks, const FinderParameters& parameters,
                        MatchRecord* d_records, void* d_scratch, std::size_t scratch_bytes,
                        cudaStream_t stream) {
  const std::uint32_t group_count = most_groups(blocks, kScanThreads);
  if (group_count == 0) return;
  const DeviceGroups groups = number_groups(blocks, kScanThreads, d_scratch, scratch_bytes, stream);
  launch({.kernel = budget, .grid = group_count, .stream = stream, .work = work_of(blocks)},
         parameters.min_match_len == 3 ? three : four, groups, parameters, d_records);
}

}  // namespace hemstitch::cuda
