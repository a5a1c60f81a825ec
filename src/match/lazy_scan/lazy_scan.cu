// lazy_scan for CUDA. CPU twin: lazy_scan_reference.cpp. Source: the plain scan of founding document 001
// (docs/founding.md).
//
// Threads: a thread block of 128 neighbouring positions, a thread each; blocks of a batch through device_groups.
// Shared bytes: none. Synchronisation: none.
// Work: the near offsets at two to three instructions each (device_scan.cuh); the far ones at one load of a byte each,
// eight at a time, since none waits for another. Offsets come upwards in both, so only a longer match can replace the best
// one, and agrees with the text in the byte behind that one's length; what does is compared in full. A match of
// good_match_len bytes, or one that is as long as the text allows, ends the search.
// Registers: 64 at most.
#include "gpu/cuda/launch.hpp"
#include "match/common/device_groups.cuh"
#include "match/common/device_scan.cuh"
#include "match/common/device_work.hpp"
#include "match/finder_parameters.hpp"
#include "match/lazy_scan/lazy_scan_cuda.hpp"

namespace hemstitch::cuda {
namespace {

constexpr std::uint32_t kThreads = 128;
constexpr int kGroupsAMultiprocessor = 8;  // so at most 64 registers a thread
constexpr std::uint32_t kFarOffsets = 8;   // looked at together

template <unsigned kKeyBytes>
__global__ void __launch_bounds__(kThreads, kGroupsAMultiprocessor)
    lazy_scan_kernel(DeviceGroups groups, FinderParameters parameters, MatchRecord* d_records) {
  GroupPlace place;
  if (!find_group(groups, blockIdx.x, place)) return;
  const DeviceBlock block = groups.d_blocks[place.block_index];
  const DeviceText text(block);
  const std::uint32_t in_block = place.first + threadIdx.x;
  if (in_block >= block.block_bytes) return;

  const std::uint32_t position = text.block() + in_block;
  const std::uint32_t limit = min(parameters.max_match_len, text.end() - position);
  Match best;
  if (limit >= parameters.min_match_len) {
    best.length = parameters.min_match_len - 1;  // what a match must be longer than
    const std::uint32_t enough =
        parameters.good_match_len == 0 ? limit : min(parameters.good_match_len, limit);
    const std::uint32_t farthest = min(parameters.window_size, position - text.begin());
    const std::uint32_t near = min(parameters.near_range, farthest);
    const auto is_worth = [&](std::uint32_t offset) { return text.same_byte(position, offset, best.length); };
    const auto compare = [&](std::uint32_t offset) {
      const std::uint32_t length = text.common_length(position, position - offset, 0, limit);
      if (length > best.length) best = {offset, length};
      return best.length >= enough;
    };
    bool over = scan_offsets<kKeyBytes>(text, position, 1, near, is_worth, compare);

    const std::uint32_t far_count = (farthest - near) / parameters.far_step;
    const auto far_offset = [&](std::uint32_t index) { return near + (index + 1) * parameters.far_step; };
    for (std::uint32_t first = 0; first < far_count && !over; first += kFarOffsets) {
      std::uint32_t found = 0;
#pragma unroll
      for (std::uint32_t i = 0; i < kFarOffsets; ++i)
        if (first + i < far_count && is_worth(far_offset(first + i))) found |= 1u << i;
      while (found != 0 && !over) {
        over = compare(far_offset(first + static_cast<std::uint32_t>(__ffs(static_cast<int>(found))) - 1));
        found &= found - 1;
      }
    }
  }
  d_records[block.position + in_block] = best.offset == 0 ? 0 : pack_match(best.offset, best.length);
}

constexpr KernelBudget kBudget("lazy_scan", "lazy_scan_kernel", {.threads = kThreads, .registers = 64});
const KernelRegistration kThreeByteRegistration(kBudget, lazy_scan_kernel<3>);
const KernelRegistration kFourByteRegistration(kBudget, lazy_scan_kernel<4>);

}  // namespace

std::size_t find_lazy_scan_cuda_scratch_bytes(const DeviceBlocks& blocks,
                                              const FinderParameters& parameters) {
  check_finder_parameters(Finder::kLazyScan, parameters);
  return number_groups_scratch_bytes(blocks, kThreads);
}

void find_lazy_scan_cuda(const DeviceBlocks& blocks, const FinderParameters& parameters,
                         MatchRecord* d_records, void* d_scratch, std::size_t scratch_bytes,
                         cudaStream_t stream) {
  check_finder_parameters(Finder::kLazyScan, parameters);
  const std::uint32_t group_count = most_groups(blocks, kThreads);
  if (group_count == 0) return;
  const DeviceGroups groups = number_groups(blocks, kThreads, d_scratch, scratch_bytes, stream);
  const auto kernel = parameters.min_match_len == 3 ? lazy_scan_kernel<3> : lazy_scan_kernel<4>;
  launch({.kernel = kBudget, .grid = group_count, .stream = stream, .work = work_of(blocks)}, kernel, groups,
         parameters, d_records);
}

}  // namespace hemstitch::cuda
