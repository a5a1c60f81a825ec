// brute_force for CUDA: the definition itself. CPU twin: brute_force_reference.cpp, which finds the same by search
// trees. Source: the exhaustive search of founding document 000 (docs/founding.md).
//
// Threads, memory: scan_kernel.cuh.
// Work: window_size candidates a position at two to three instructions each (device_scan.cuh), and a comparison for each that
// agrees in the leading bytes and in the byte after the best length so far. Offsets ascend, so only a longer match can replace the
// best one; a match as long as the text allows ends the search.
#include "match/brute_force/brute_force_cuda.hpp"
#include "match/common/cuda/scan_kernel.cuh"

namespace hemstitch::cuda {
namespace {

template <unsigned kKeyBytes>
__global__ void __launch_bounds__(kScanThreads, kScanGroupsAMultiprocessor)
    brute_force_kernel(DeviceGroups groups, FinderParameters parameters, MatchRecord* d_records) {
  scan_group(groups, parameters, d_records,
             [&](const DeviceText& text, std::uint32_t position, std::uint32_t limit, Match& best) {
               scan_offsets<kKeyBytes>(
                   text, position, 1, min(parameters.window_size, position - text.begin()),
                   [&](std::uint32_t offset) { return text.same_byte(position, offset, best.length); },
                   [&](std::uint32_t offset) {
                     const std::uint32_t length = text.common_length(position, position - offset, 0, limit);
                     if (length > best.length) best = {offset, length};
                     return best.length == limit;
                   });
             });
}

constexpr KernelBudget kBudget("brute_force", "brute_force_kernel", kScanLimits);
const KernelRegistration kThreeByteRegistration(kBudget, brute_force_kernel<3>);
const KernelRegistration kFourByteRegistration(kBudget, brute_force_kernel<4>);

}  // namespace

std::size_t find_brute_force_cuda_scratch_bytes(const DeviceBlocks& blocks,
                                                const FinderParameters& parameters) {
  check_finder_parameters(Finder::kBruteForce, parameters);
  return number_groups_scratch_bytes(blocks, kScanThreads);
}

void find_brute_force_cuda(const DeviceBlocks& blocks, const FinderParameters& parameters,
                           MatchRecord* d_records, void* d_scratch, std::size_t scratch_bytes,
                           cudaStream_t stream) {
  check_finder_parameters(Finder::kBruteForce, parameters);
  launch_scan(kBudget, brute_force_kernel<3>, brute_force_kernel<4>, blocks, parameters, d_records, d_scratch,
              scratch_bytes, stream);
}

}  // namespace hemstitch::cuda
