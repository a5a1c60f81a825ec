// window_index for CUDA: the inverted cooperative search. CPU twin: window_index_reference.cpp.
//
// Threads: a thread block of 256 for a group of 1024 positions; blocks of a batch through device_groups.
// Shared bytes: 30 KB: the positions sorted by hash (2 KB) with their leading bytes (4 KB), where each hash ends (16 KB),
// the best match of each position (4 KB), the waiting pairs of the warps (2 KB), and what the scan needs.
// Synchronisation: barriers between the steps of sorting, and after each round of 1024 candidates.
// Work: (window_size + 1024) / 1024 lookups a byte, and one step for each pair of a position and a candidate with the
// same hash. How many pairs a candidate has differs by a factor of hundreds, so a warp adds up the pairs of its 32 candidates and
// distributes them to its lanes one by one. Pairs that are worth a comparison wait until there are 32, so that one long match does
// not keep 31 lanes idle. At worst all positions have the same hash and none is finished early: 1024 steps a candidate. Registers:
// 64 at most.
//
// A match is one number here, length << 16 | 65535 - offset: the larger is the better, and 0 is none. An atomic maximum of it in
// shared memory is better_match, in any order.
//
// What is skipped can't change a result: a candidate that cannot beat the position's current best, because it differs in the last
// byte that it would need; and a position that has a match as long as possible, once all nearer candidates have passed. Rounds go
// from the near end of the window to the far one, so that inside periods the first round settles nearly all.
#include <cub/block/block_scan.cuh>

#include "core/match.hpp"
#include "gpu/cuda/launch.hpp"
#include "match/common/cuda/device_groups.cuh"
#include "match/common/cuda/device_text.cuh"
#include "match/common/cuda/device_work.hpp"
#include "match/finder_parameters.hpp"
#include "match/window_index/window_index.hpp"
#include "match/window_index/window_index_cuda.hpp"
#include "match/window_index/window_index_tuning.hpp"

namespace hemstitch::cuda {
namespace {

constexpr std::uint32_t kHeads = 1u << kIndexBits;
constexpr std::uint32_t kPositionsEach = kIndexedPositions / kIndexThreads;  // a thread
constexpr int kGroupsAMultiprocessor = 4;
static_assert(kIndexedPositions <= kMaxIndexedPositions);

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

// The index of a group: its positions in the order of their hashes.
struct GroupIndex {
  std::uint32_t
      ends[kHeads];  // where the positions of a hash end; they begin where those of the hash before end
  std::uint16_t positions[kIndexedPositions];
  std::uint32_t keys[kIndexedPositions];  // of `positions`, in the same order
  RankedMatch best[kIndexedPositions];    // of each position of the group
};

// Sorts the group's positions by hash: bit k of `indexed` stands for position threadIdx.x + k * kIndexThreads. All threads must
// call it.
template <typename KeyOf>
__device__ void build_index(GroupIndex& sh_index, std::uint32_t indexed, const KeyOf& key_of) {
  using Scan = cub::BlockScan<std::uint32_t, kIndexThreads>;
  __shared__ typename Scan::TempStorage sh_scan;
  constexpr std::uint32_t kHeadsEach = kHeads / kIndexThreads;

  for (std::uint32_t head = threadIdx.x; head < kHeads; head += kIndexThreads) sh_index.ends[head] = 0;
  __syncthreads();
#pragma unroll 1
  for (std::uint32_t k = 0; k < kPositionsEach; ++k)
    if (indexed >> k & 1) atomicAdd(&sh_index.ends[head_of(key_of(threadIdx.x + k * kIndexThreads))], 1);
  __syncthreads();
  std::uint32_t* const own_ends = sh_index.ends + threadIdx.x * kHeadsEach;
  std::uint32_t begin = 0;
#pragma unroll
  for (std::uint32_t k = 0; k < kHeadsEach; ++k) begin += own_ends[k];
  Scan(sh_scan).ExclusiveSum(begin, begin);
#pragma unroll
  for (std::uint32_t k = 0; k < kHeadsEach; ++k) {
    const std::uint32_t count = own_ends[k];
    own_ends[k] = begin;
    begin += count;
  }
  __syncthreads();
#pragma unroll 1
  for (std::uint32_t k = 0; k < kPositionsEach; ++k) {
    if ((indexed >> k & 1) == 0) continue;
    const std::uint32_t index = threadIdx.x + k * kIndexThreads, key = key_of(index);
    const std::uint32_t place = atomicAdd(&sh_index.ends[head_of(key)], 1);
    sh_index.positions[place] = static_cast<std::uint16_t>(index);
    sh_index.keys[place] = key;
  }
  __syncthreads();
}

// The first of a warp's lanes whose running sum is above `pair`.
__device__ std::uint32_t owner_of(std::uint32_t pair, std::uint32_t running_sum) {
  std::uint32_t owner = 0;
#pragma unroll
  for (std::uint32_t step = 16; step > 0; step /= 2)
    if (__shfl_sync(0xFFFFFFFFu, running_sum, owner + step - 1) <= pair) owner += step;
  return owner;
}

__global__ void __launch_bounds__(kIndexThreads, kGroupsAMultiprocessor)
    window_index_kernel(DeviceGroups groups, FinderParameters parameters, MatchRecord* d_records) {
  __shared__ GroupIndex sh_index;
  __shared__ std::uint32_t sh_queues[kIndexThreads / 32]
                                    [64];  // pairs of each warp that wait for their comparison

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

  const auto key_of = [&](std::uint32_t index) { return text.word(group_begin + index) & key_mask; };

  // Step 1: each position by itself. Then the index of those that are not in runs.
  std::uint32_t indexed = 0;  // bit k: position threadIdx.x + k * kIndexThreads of the group
#pragma unroll 1
  for (std::uint32_t k = 0; k < kPositionsEach; ++k) {
    const std::uint32_t index = threadIdx.x + k * kIndexThreads;
    const std::uint32_t position = group_begin + index;
    if (index >= count) break;
    const std::uint32_t limit = limit_at(position);
    RankedMatch best = 0;
    if (limit >= parameters.min_match_len) {
      const std::uint32_t word = text.word(position);
      const std::uint32_t nearest = min(min(position - text.begin(), parameters.window_size), kRunOffsets);
      // The eight bytes before the position; `nearest` leaves out those before the text.
      const std::uint32_t before = text.word(position - 4), far_before = text.word(position - 8);
#pragma unroll 1
      for (std::uint32_t offset = 1; offset <= nearest; ++offset) {
        const std::uint32_t candidate = offset <= 4 ? __funnelshift_r(before, word, 8 * (4 - offset))
                                                    : __funnelshift_r(far_before, before, 8 * (8 - offset));
        if (((candidate ^ word) & key_mask) == 0 && may_be_better(text, position, offset, limit, best))
          best = max(best, ranked(offset, text.common_length(position, position - offset, 0, limit)));
      }
      if (length_of(best) < kRunLength) indexed |= 1u << k;
    }
    sh_index.best[index] = best;
  }
  build_index(sh_index, indexed, key_of);
  std::uint32_t indexed_count = sh_index.ends[kHeads - 1];

  // The window streams past from its near end, in rounds of four candidates a thread.
  const std::uint32_t lane = threadIdx.x % 32;
  std::uint32_t* const sh_waiting = sh_queues[threadIdx.x / 32];
  std::uint32_t waiting = 0;
  // Whether a pair, index << 16 | offset, may raise the position's best. Others raise it meanwhile.
  const auto may_raise = [&](std::uint32_t pair) {
    const std::uint32_t index = pair >> 16, position = group_begin + index;
    const RankedMatch best = *static_cast<volatile RankedMatch*>(&sh_index.best[index]);
    return may_be_better(text, position, pair & 0xFFFFu, limit_at(position), best);
  };
  const auto compare = [&](std::uint32_t pair) {
    if (!may_raise(pair)) return;
    const std::uint32_t index = pair >> 16, offset = pair & 0xFFFFu, position = group_begin + index;
    atomicMax(&sh_index.best[index],
              ranked(offset, text.common_length(position, position - offset, 0, limit_at(position))));
  };
  const std::uint32_t oldest = group_begin - min(group_begin - text.begin(), parameters.window_size);
  const std::uint32_t last_word = (group_begin + count - 1) & ~3u;
  const std::uint32_t words = (last_word - (oldest & ~3u)) / 4 + 1;
  for (std::uint32_t round = 0; round < words && indexed_count != 0; round += kIndexThreads) {
    const std::uint32_t word = round + threadIdx.x;
    const bool has_word = word < words;
    const std::uint32_t aligned = last_word - 4 * word;
    const std::uint32_t low = has_word ? text.aligned_word(aligned) : 0;
    const std::uint32_t high = has_word ? text.aligned_word(aligned + 4) : 0;
#pragma unroll 1
    for (std::uint32_t byte = 4; byte-- > 0;) {
      const std::uint32_t candidate = aligned + byte;
      const std::uint32_t key = __funnelshift_r(low, high, 8 * byte) & key_mask;
      std::uint32_t begin = 0, end = 0;
      if (has_word && candidate >= oldest) {
        const std::uint32_t head = head_of(key);
        begin = head == 0 ? 0 : sh_index.ends[head - 1];
        end = sh_index.ends[head];
      }
      // The pairs of all 32 candidates, divided among the lanes.
      std::uint32_t running_sum = end - begin;
#pragma unroll
      for (std::uint32_t step = 1; step < 32; step *= 2) {
        const std::uint32_t below = __shfl_up_sync(0xFFFFFFFFu, running_sum, step);
        if (lane >= step) running_sum += below;
      }
      const std::uint32_t pair_count = __shfl_sync(0xFFFFFFFFu, running_sum, 31);
      const std::uint32_t first_place =
          end - running_sum;  // a pair's number added gives its place in the index
      for (std::uint32_t pairs = 0; pairs < pair_count; pairs += 32) {
        const std::uint32_t owner = owner_of(pairs + lane, running_sum) % 32;
        const std::uint32_t index_place = __shfl_sync(0xFFFFFFFFu, first_place, owner) + pairs + lane;
        const std::uint32_t owner_key = __shfl_sync(0xFFFFFFFFu, key, owner);
        const std::uint32_t owner_candidate = __shfl_sync(0xFFFFFFFFu, candidate, owner);
        bool is_worth = false;
        std::uint32_t pair = 0;
        if (pairs + lane < pair_count && sh_index.keys[index_place] == owner_key) {
          const std::uint32_t index = sh_index.positions[index_place];
          // Wraps around if the candidate is not an earlier position.
          const std::uint32_t offset = group_begin + index - owner_candidate;
          pair = index << 16 | (offset & 0xFFFFu);
          is_worth = offset - 1 < parameters.window_size && may_raise(pair);
        }
        const std::uint32_t worth = __ballot_sync(0xFFFFFFFFu, is_worth);
        if (is_worth) sh_waiting[waiting + __popc(worth & ((1u << lane) - 1))] = pair;
        waiting += __popc(worth);
        if (waiting >= 32) {
          __syncwarp();
          compare(sh_waiting[lane]);
          __syncwarp();
          waiting -= 32;
          if (lane < waiting) sh_waiting[lane] = sh_waiting[32 + lane];
          __syncwarp();
        }
      }
    }
    __syncwarp();
    if (lane < waiting) compare(sh_waiting[lane]);
    waiting = 0;
    // All later candidates are farther than all earlier ones: a position whose match can't be longer is done. If many are done, the
    // index is rebuilt without them.
    const auto is_done = [&](std::uint32_t index) {
      return length_of(sh_index.best[index]) >= limit_at(group_begin + index);
    };
    __syncthreads();
    std::uint32_t staying = indexed, done_count = 0;
#pragma unroll 1
    for (std::uint32_t k = 0; k < kPositionsEach; ++k) {
      const bool done = (indexed >> k & 1) != 0 && is_done(threadIdx.x + k * kIndexThreads);
      if (done) staying &= ~(1u << k);
      done_count += static_cast<std::uint32_t>(__syncthreads_count(done));
    }
    if (done_count > indexed_count / kRebuildFraction) {
      indexed = staying;
      build_index(sh_index, indexed, key_of);
      indexed_count = sh_index.ends[kHeads - 1];
    }
  }
  __syncthreads();

  for (std::uint32_t index = threadIdx.x; index < count; index += kIndexThreads) {
    const RankedMatch best = sh_index.best[index];
    const bool is_match = length_of(best) >= parameters.min_match_len;
    d_records[block.position + place.first + index] =
        is_match ? pack_match(offset_of(best), length_of(best)) : 0;
  }
}

constexpr KernelBudget kBudget("window_index", "window_index_kernel",
                               {.threads = kIndexThreads, .registers = 64, .shared_bytes = 30 * 1024});
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
  launch({.kernel = kBudget, .grid = group_count, .stream = stream, .work = work_of(blocks)},
         window_index_kernel, groups, parameters, d_records);
}

}  // namespace hemstitch::cuda
