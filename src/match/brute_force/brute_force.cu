// brute_force for CUDA: the definition itself. CPU twin: brute_force_reference.cpp, which finds the same by search
// trees. Source: the exhaustive search of founding document 000 (docs/founding.md).
//
// Threads: a thread block of 128 neighbouring positions, a thread each; blocks of a batch through device_groups.
// Shared bytes: none. Synchronisation: none.
// Work: window_size candidates a position at two to three instructions each (device_scan.cuh), and a comparison for
// each that agrees in the leading bytes and in the byte behind the best length so far. Offsets come upwards, so only a
// longer match can replace the best one; one that is as long as the text allows ends the search.
// Registers: 64 at most.
#include "gpu/cuda/launch.hpp"
#include "match/brute_force/brute_force_cuda.hpp"
#include "match/common/device_groups.cuh"
#include "match/common/device_scan.cuh"
#include "match/common/device_work.hpp"
#include "match/finder_parameters.hpp"

namespace hemstitch::cuda {
namespace {

constexpr std::uint32_t kThreads = 128;
constexpr int kGroupsAMultiprocessor = 8;  // so at most 64 registers a thread

template <unsigned kKeyBytes>
__global__ void __launch_bounds__(kThreads, kGroupsAMultiprocessor)
    brute_force_kernel(DeviceGroups groups, FinderParameters parameters, MatchRecord* d_records) {
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
    const std::uint32_t last = min(parameters.window_size, position - text.begin());
    scan_offsets<kKeyBytes>(
        text, position, 1, last,
        [&](std::uint32_t offset) { return text.same_byte(position, offset, best.length); },
        [&](std::uint32_t offset) {
          const std::uint32_t length = text.common_length(position, position - offset, 0, limit);
          if (length > best.length) best = {offset, length};
          return best.length == limit;
        });
  }
  d_records[block.position + in_block] = best.offset == 0 ? 0 : pack_match(best.offset, best.length);
}

constexpr KernelBudget kBudget("brute_force", "brute_force_kernel", {.threads = kThreads, .registers = 64});
const KernelRegistration kThreeByteRegistration(kBudget, brute_force_kernel<3>);
const KernelRegistration kFourByteRegistration(kBudget, brute_force_kernel<4>);

}  // namespace

std::size_t find_brute_force_cuda_scratch_bytes(const DeviceBlocks& blocks,
                                                const FinderParameters& parameters) {
  check_finder_parameters(Finder::kBruteForce, parameters);
  return number_groups_scratch_bytes(blocks, kThreads);
}

void find_brute_force_cuda(const DeviceBlocks& blocks, const FinderParameters& parameters,
                           MatchRecord* d_records, void* d_scratch, std::size_t scratch_bytes,
                           cudaStream_t stream) {
  check_finder_parameters(Finder::kBruteForce, parameters);
  const std::uint32_t group_count = most_groups(blocks, kThreads);
  if (group_count == 0) return;
  const DeviceGroups groups = number_groups(blocks, kThreads, d_scratch, scratch_bytes, stream);
  const auto kernel = parameters.min_match_len == 3 ? brute_force_kernel<3> : brute_force_kernel<4>;
  launch({.kernel = kBudget, .grid = group_count, .stream = stream, .work = work_of(blocks)}, kernel, groups,
         parameters, d_records);
}

}  // namespace hemstitch::cuda
