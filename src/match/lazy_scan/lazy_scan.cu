// lazy_scan for CUDA. CPU twin: lazy_scan_reference.cpp. Source: the plain scan of founding document 001
// (docs/founding.md).
//
// Threads, memory: scan_kernel.cuh.
// Work: the near offsets at two to three instructions each (device_scan.cuh); the far ones at one load of a byte each,
// eight at a time, since none waits for another. Offsets ascend in both, so only a longer match can replace the best one, and it
// agrees with the text in the byte after the best one's length; candidates that do are compared in full. A match of good_match_len
// bytes, or one that is as long as the text allows, ends the search.
#include "match/common/cuda/scan_kernel.cuh"
#include "match/lazy_scan/lazy_scan_cuda.hpp"

namespace hemstitch::cuda {
namespace {

constexpr std::uint32_t kFarOffsets = 8;  // looked at together

// The position's match: near offsets first, then the far ones in steps.
template <unsigned kKeyBytes>
__device__ void scan_near_and_far(const FinderParameters& parameters, const DeviceText& text,
                                  std::uint32_t position, std::uint32_t limit, Match& best) {
  const std::uint32_t enough = parameters.good_match_len == 0 ? limit : min(parameters.good_match_len, limit);
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

template <unsigned kKeyBytes>
__global__ void __launch_bounds__(kScanThreads, kScanGroupsAMultiprocessor)
    lazy_scan_kernel(DeviceGroups groups, FinderParameters parameters, MatchRecord* d_records) {
  scan_group(groups, parameters, d_records,
             [&](const DeviceText& text, std::uint32_t position, std::uint32_t limit, Match& best) {
               scan_near_and_far<kKeyBytes>(parameters, text, position, limit, best);
             });
}

constexpr KernelBudget kBudget("lazy_scan", "lazy_scan_kernel", kScanLimits);
const KernelRegistration kThreeByteRegistration(kBudget, lazy_scan_kernel<3>);
const KernelRegistration kFourByteRegistration(kBudget, lazy_scan_kernel<4>);

}  // namespace

std::size_t find_lazy_scan_cuda_scratch_bytes(const DeviceBlocks& blocks,
                                              const FinderParameters& parameters) {
  check_finder_parameters(Finder::kLazyScan, parameters);
  return number_groups_scratch_bytes(blocks, kScanThreads);
}

void find_lazy_scan_cuda(const DeviceBlocks& blocks, const FinderParameters& parameters,
                         MatchRecord* d_records, void* d_scratch, std::size_t scratch_bytes,
                         cudaStream_t stream) {
  check_finder_parameters(Finder::kLazyScan, parameters);
  launch_scan(kBudget, lazy_scan_kernel<3>, lazy_scan_kernel<4>, blocks, parameters, d_records, d_scratch,
              scratch_bytes, stream);
}

}  // namespace hemstitch::cuda
