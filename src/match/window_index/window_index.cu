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
#include "device/cuda/cuda_error.hpp"
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

// The best match of one position and that candidate, if it can be better than `best`; 0 if not. Both agree in the bytes
// of the key.
__device__ RankedMatch try_candidate(const DeviceText& text, std::uint32_t position, std::uint32_t offset,
                                     std::uint32_t limit, RankedMatch best) {
  const std::uint32_t length_to_beat = length_of(best);
  const std::uint32_t needed = length_to_beat + (ranked(offset, length_to_beat) > best ? 0 : 1);
  if (needed > limit || (needed > 0 && !text.same_byte(position, offset, needed - 1))) return 0;
  return ranked(offset, text.common_length(position, position - offset, 0, limit));
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
        if (offset <= nearest && (candidate & key_mask) == key)
          best = max(best, try_candidate(text, position, offset, limit, best));
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
    for (std::uint32_t byte = 4; byte-- > 0;) {
      const std::uint32_t candidate = aligned + byte;
      if (candidate < oldest) break;
      const std::uint32_t key = __funnelshift_r(low, high, 8 * byte) & key_mask;
      for (std::uint32_t index = sh_heads[head_of(key)]; index != kNone; index = sh_next[index]) {
        const std::uint32_t position = group_begin + index;
        const std::uint32_t offset =
            position - candidate;  // wraps around where the candidate is no earlier one
        if (sh_keys[index] != key || offset - 1 >= parameters.window_size) continue;
        const RankedMatch best = *static_cast<volatile RankedMatch*>(&sh_best[index]);
        const RankedMatch match = try_candidate(text, position, offset, limit_at(position), best);
        if (match > best) atomicMax(&sh_best[index], match);
      }
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

}  // namespace

std::size_t window_index_scratch_bytes(const DeviceBlocks& blocks, const FinderParameters& parameters) {
  check_finder_parameters(Finder::kWindowIndex, parameters);
  return number_groups_scratch_bytes(blocks, kIndexedPositions);
}

void window_index(const DeviceBlocks& blocks, const FinderParameters& parameters, MatchRecord* d_records,
                  void* d_scratch, std::size_t scratch_bytes, cudaStream_t stream) {
  check_finder_parameters(Finder::kWindowIndex, parameters);
  const std::uint32_t group_count = most_groups(blocks, kIndexedPositions);
  if (group_count == 0) return;
  const DeviceGroups groups = number_groups(blocks, kIndexedPositions, d_scratch, scratch_bytes, stream);
  window_index_kernel<<<group_count, kIndexThreads, 0, stream>>>(groups, parameters, d_records);
  check_launch("window_index");
}

}  // namespace hemstitch::cuda
