// window_index for CUDA: the inverted cooperative search. CPU twin: window_index_reference.cpp.
//
// Threads: a workgroup of 256 for a group of 1024 positions; blocks of a batch through device_groups.
// Shared bytes: 26 KB: heads (16 KB), and of each indexed position the next one of its chain (2 KB), its leading bytes
// (4 KB) and its best match so far (4 KB).
// Synchronisation: a barrier behind the clearing of the heads, one behind indexing, one behind the search.
// Work: (window_size + 1024) / 1024 lookups a byte, and one step along a chain for each pair of a position and a
// candidate with the same hash. At worst every position of the group stands in one chain, which the runs of step 1
// bound in practice only: 1024 steps a candidate.
// Registers: 64 at most.
//
// A match is one number here, length << 16 | 65535 - offset: the larger is the better, and 0 is none. An atomic maximum
// of it in shared memory is better_match whoever comes first.
//
// What is skipped can't change a result: a candidate that cannot beat the position's best of that moment, because it
// differs in the last byte that it would need. Candidates are taken from the near end of the window, so that inside
// periods a full-length match is met early and all that is farther falls to that test.
#include "core/match.hpp"
#include "device/cuda/launch.hpp"
#include "match/device_groups.cuh"
#include "match/device_text.cuh"
#include "match/finder_parameters.hpp"
#include "match/window_index/window_index.hpp"
#include "match/window_index/window_index_cuda.hpp"
#include "match/window_index/window_index_tuning.hpp"

namespace hemstitch::cuda {
namespace {

constexpr std::uint32_t kHeads = 1u << kIndexBits;
constexpr std::uint32_t kNone = 0xFFFF;  // no position of a group
constexpr int kGroupsAMultiprocessor = 4;
static_assert(kIndexedPositions <= kMaxIndexedPositions && kIndexedPositions <= kNone);

using RankedMatch = std::uint32_t;

__device__ RankedMatch ranked(std::uint32_t offset, std::uint32_t length) {
  return length << 16 | (kMaxRecordOffset - offset);
}
__device__ std::uint32_t length_of(RankedMatch match) { return match >> 16; }
__device__ std::uint32_t offset_of(RankedMatch match) { return kMaxRecordOffset - (match & 0xFFFFu); }

__device__ std::uint32_t head_of(std::uint32_t key) { return key * 2654435769u >> (32 - kIndexBits); }

// Whether a match at that offset may be better than `best`, by the last byte that it would need.
__device__ bool may_be_better(const DeviceText& text, std::uint32_t position, std::uint32_t offset,
                              std::uint32_t limit, RankedMatch best) {
  const std::uint32_t length = length_of(best);
  const std::uint32_t needed = length + (ranked(offset, length) > best ? 0 : 1);
  return needed <= limit && text.same_byte(position, offset, max(needed, 1u) - 1);
}

__global__ void __launch_bounds__(kIndexThreads, kGroupsAMultiprocessor)
    window_index_kernel(DeviceGroups groups, FinderParameters parameters, MatchRecord* d_records) {
  __shared__ std::uint32_t sh_heads[kHeads];
  __shared__ RankedMatch sh_best[kIndexedPositions];
  __shared__ std::uint32_t sh_keys[kIndexedPositions];
  __shared__ std::uint16_t sh_next[kIndexedPositions];

  GroupPlace place;
  if (!find_group(groups, blockIdx.x, place)) return;
  const DeviceBlock block = groups.d_blocks[place.block_index];
  const DeviceText text(block);
  const std::uint32_t count = min(kIndexedPositions, block.block_bytes - place.first);
  const std::uint32_t group_begin = text.block() + place.first;
  const std::uint32_t key_mask = parameters.min_match_len == 3 ? 0x00FFFFFFu : 0xFFFFFFFFu;
  const auto limit_at = [&](std::uint32_t position) {
    return min(parameters.max_match_len, text.end() - position);
  };

  // While others raise it.
  const auto best_of = [&](std::uint32_t index) {
    return *static_cast<volatile RankedMatch*>(&sh_best[index]);
  };

  for (std::uint32_t head = threadIdx.x; head < kHeads; head += kIndexThreads) sh_heads[head] = kNone;
  __syncthreads();

  // Steps 1 and 2: each position alone.
  for (std::uint32_t index = threadIdx.x; index < count; index += kIndexThreads) {
    const std::uint32_t position = group_begin + index;
    const std::uint32_t limit = limit_at(position);
    RankedMatch best = 0;
    if (limit >= parameters.min_match_len) {
      const std::uint32_t word = text.word(position), key = word & key_mask;
      const std::uint32_t nearest = min(min(position - text.begin(), parameters.window_size), kRunOffsets);
      // The eight bytes before the position; what stands there before the text is out of `nearest`.
      const std::uint32_t before = text.word(position - 4), far_before = text.word(position - 8);
#pragma unroll
      for (std::uint32_t offset = 1; offset <= kRunOffsets; ++offset) {
        const std::uint32_t candidate = offset <= 4 ? __funnelshift_r(before, word, 8 * (4 - offset))
                                                    : __funnelshift_r(far_before, before, 8 * (8 - offset));
        if (offset <= nearest && (candidate & key_mask) == key &&
            may_be_better(text, position, offset, limit, best))
          best = max(best, ranked(offset, text.common_length(position, position - offset, 0, limit)));
      }
      if (length_of(best) < kRunLength) {
        sh_keys[index] = key;
        sh_next[index] = static_cast<std::uint16_t>(atomicExch(&sh_heads[head_of(key)], index));
      }
    }
    sh_best[index] = best;
  }
  __syncthreads();

  // The window streams past, four candidates a word, from the near end.
  const std::uint32_t group_end = group_begin + count;
  const std::uint32_t oldest = group_begin - min(group_begin - text.begin(), parameters.window_size);
  const std::uint32_t last_word = (group_end - 1) & ~3u;
  const std::uint32_t words = (last_word - (oldest & ~3u)) / 4 + 1;
  for (std::uint32_t i = threadIdx.x; i < words; i += kIndexThreads) {
    const std::uint32_t aligned = last_word - 4 * i;
    const std::uint32_t low = text.aligned_word(aligned), high = text.aligned_word(aligned + 4);
    std::uint32_t bytes_left = 4, key = 0, index = kNone;
    while (true) {
      // On to the next pair that is worth comparing, along the chains of the word's four candidates.
      bool is_worth = false;
      std::uint32_t position = 0, offset = 0, found = 0;
      while (!is_worth) {
        if (index == kNone) {
          if (bytes_left == 0 || aligned + bytes_left <= oldest) break;
          key = __funnelshift_r(low, high, 8 * --bytes_left) & key_mask;
          index = sh_heads[head_of(key)];
          continue;
        }
        found = index;
        position = group_begin + index;
        offset =
            position - (aligned + bytes_left);  // wraps around where the candidate is no earlier position
        is_worth = sh_keys[index] == key && offset - 1 < parameters.window_size &&
                   may_be_better(text, position, offset, limit_at(position), best_of(index));
        index = sh_next[index];
      }
      if (!is_worth) break;
      const std::uint32_t length = text.common_length(position, position - offset, 0, limit_at(position));
      atomicMax(&sh_best[found], ranked(offset, length));
    }
  }
  __syncthreads();

  for (std::uint32_t index = threadIdx.x; index < count; index += kIndexThreads) {
    const RankedMatch best = sh_best[index];
    const bool is_match = length_of(best) >= parameters.min_match_len;
    d_records[block.position + place.first + index] =
        is_match ? pack_match(offset_of(best), length_of(best)) : 0;
  }
}

constexpr KernelBudget kBudget("window_index", "window_index_kernel",
                               {.threads = kIndexThreads, .registers = 64, .shared_bytes = 26 * 1024});
const KernelRegistration kRegistration(kBudget, window_index_kernel);

}  // namespace

std::size_t find_window_index_cuda_scratch_bytes(const DeviceBlocks& blocks,
                                                 const FinderParameters& parameters) {
  check_finder_parameters(Finder::kWindowIndex, parameters);
  return number_groups_scratch_bytes(blocks, kIndexedPositions);
}

void find_window_index_cuda(const DeviceBlocks& blocks, const FinderParameters& parameters,
                            MatchRecord* d_records, void* d_scratch, std::size_t scratch_bytes,
                            cudaStream_t stream) {
  check_finder_parameters(Finder::kWindowIndex, parameters);
  const std::uint32_t group_count = most_groups(blocks, kIndexedPositions);
  if (group_count == 0) return;
  const DeviceGroups groups = number_groups(blocks, kIndexedPositions, d_scratch, scratch_bytes, stream);
  launch({.kernel = kBudget, .grid = group_count, .stream = stream, .batch = &blocks}, window_index_kernel,
         groups, parameters, d_records);
}

}  // namespace hemstitch::cuda
