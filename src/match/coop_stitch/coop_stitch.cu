// coop_stitch for CUDA. CPU twin: coop_stitch_reference.cpp. Source: founding documents 000 and 001 (docs/founding.md).
//
// Threads: a thread block of 64, one a position of the group; blocks of a batch through device_groups.
// Shared bytes: 64 * top_k lists of 4, as many offsets of 2, and 1 KB of filter: 2.6 KB at top_k 4, 7.2 KB at 16.
// Synchronisation: one barrier behind phase A, one behind the gathering of offsets.
// Work: phase A, between two and three instructions a candidate (device_scan.cuh) and a comparison for each that agrees
// in the leading bytes; phase B, one check of each different offset in the lists. Bounded by
// (near_range + window_size + 64 * top_k) * max_match_len byte comparisons a position.
// Registers: 64 at most.
//
// A match is one number here, length << 16 | 65535 - offset: the larger is the better, and 0 is none.
//
// What is skipped can't change a result:
//  - Offsets ascend, so a match must be longer than the list's last one to enter it, and so agrees with the text in the byte
//    after that length; that byte is checked first. When a full list holds only matches that cannot be longer, phase A is over.
//  - Offsets of the near range are tried by every position itself, so phase B leaves them out. (A position that ended
//    phase A early had a good match, and takes no part in phase B, or a full list of matches as long as can be with
//    smaller offsets.)
//  - An offset in several lists is tried only once if the filter notices. The filter is a table of the last offset seen in each
//    slot: it may forget an offset, which is then tried again.
// With counters, nothing is skipped, as in the definition.
#include <algorithm>

#include "gpu/cuda/cuda_error.hpp"
#include "gpu/cuda/kernel_registry.hpp"
#include "gpu/cuda/nvtx_range.hpp"
#include "match/common/cuda/device_groups.cuh"
#include "match/common/cuda/device_scan.cuh"
#include "match/common/cuda/device_work.hpp"
#include "match/coop_stitch/coop_stitch_cuda.hpp"
#include "match/coop_stitch/coop_stitch_tuning.hpp"
#include "match/finder_parameters.hpp"

namespace hemstitch::cuda {
namespace {

constexpr std::uint32_t kThreads = kCoopGroupPositions;
constexpr std::uint32_t kFilterSlots = 1u << kOffsetFilterBits;

using RankedMatch = std::uint32_t;

__device__ RankedMatch ranked(std::uint32_t offset, std::uint32_t length) {
  return length << 16 | (kMaxRecordOffset - offset);
}
__device__ std::uint32_t length_of(RankedMatch match) { return match >> 16; }
__device__ std::uint32_t offset_of(RankedMatch match) { return kMaxRecordOffset - (match & 0xFFFFu); }
__device__ MatchRecord record_of(RankedMatch match) {
  return match == 0 ? 0 : pack_match(offset_of(match), length_of(match));
}

// Of one thread.
struct Counts {
  std::uint64_t probes = 0;
  std::uint64_t stitch_probes = 0;
  std::uint64_t repeated_probes = 0;
  std::uint64_t byte_comparisons = 0;

  __device__ void probe(std::uint32_t length, std::uint32_t limit) {
    ++probes;
    byte_comparisons += length < limit ? length + 1 : length;
  }
};

__device__ void add_over_warp(std::uint64_t value, std::uint64_t* total) {
  for (int distance = 16; distance > 0; distance /= 2)
    value += __shfl_down_sync(0xFFFFFFFFu, value, distance);
  if (threadIdx.x % 32 == 0)
    atomicAdd(reinterpret_cast<unsigned long long*>(total), static_cast<unsigned long long>(value));
}

// The list of one thread: entry k of thread t is word k * 64 + t, so that a warp's threads use different banks.
class ShownMatches {
 public:
  __device__ ShownMatches(RankedMatch* sh_lists, const FinderParameters& parameters)
      : entries_(sh_lists + threadIdx.x), top_k_(parameters.top_k) {
    for (std::uint32_t k = 0; k < top_k_; ++k) entry(k) = 0;
  }

  __device__ RankedMatch& entry(std::uint32_t k) const { return entries_[k * kThreads]; }
  __device__ RankedMatch last() const { return entry(top_k_ - 1); }

  __device__ void insert_longest(RankedMatch match) const {
    if (match <= last()) return;
    std::uint32_t place = top_k_ - 1;
    for (; place > 0 && match > entry(place - 1); --place) entry(place) = entry(place - 1);
    entry(place) = match;
  }

 private:
  RankedMatch* entries_;
  std::uint32_t top_k_;
};

template <unsigned kKeyBytes, bool kCounted>
__global__ void __launch_bounds__(kThreads, kCoopGroupsAMultiprocessor)
    coop_stitch_kernel(DeviceGroups groups, FinderParameters parameters, DeviceFound output) {
  extern __shared__ std::uint32_t sh_memory[];
  RankedMatch* const sh_lists = sh_memory;
  std::uint32_t* const sh_filter = sh_lists + kThreads * parameters.top_k;
  auto* const sh_offsets = reinterpret_cast<std::uint16_t*>(sh_filter + kFilterSlots);
  __shared__ std::uint32_t sh_offset_count;

  GroupPlace place;
  if (!find_group(groups, blockIdx.x, place)) return;
  const DeviceBlock block = groups.d_blocks[place.block_index];
  const DeviceText text(block);

  const std::uint32_t thread = threadIdx.x;
  const std::uint32_t in_block = place.first + thread;
  const bool has_position = in_block < block.block_bytes;
  const std::uint32_t position = text.block() + in_block;
  const std::uint32_t limit = has_position ? min(parameters.max_match_len, text.end() - position) : 0;
  const std::uint32_t farthest = min(kMaxRecordOffset, position - text.begin());
  const std::uint32_t band_first = parameters.band_origin + thread * parameters.stride + 1;
  const std::uint32_t band_last = band_first + parameters.window_size - 1;
  const bool per_bucket = parameters.top_k_policy == TopKPolicy::kLongestPerBucket;

  const ShownMatches shown(sh_lists, parameters);
  for (std::uint32_t slot = thread; slot < kFilterSlots; slot += kThreads) sh_filter[slot] = 0;
  if (thread == 0) sh_offset_count = 0;

  const std::uint32_t bucket_offsets = (parameters.window_size + parameters.top_k - 1) / parameters.top_k;
  const auto in_band = [&](std::uint32_t offset) { return offset >= band_first && offset <= band_last; };
  const auto bucket_of = [&](std::uint32_t offset) -> RankedMatch& {
    return shown.entry((offset - band_first) / bucket_offsets);
  };

  RankedMatch best = 0;
  bool good = false;
  Counts counts;

  // Phase A. True when the match ends it.
  const auto keep = [&](std::uint32_t offset, std::uint32_t length) {
    if (length < parameters.min_match_len) return false;
    const RankedMatch match = ranked(offset, length);
    best = max(best, match);
    if (!per_bucket) {
      shown.insert_longest(match);
    } else if (in_band(offset)) {
      bucket_of(offset) = max(bucket_of(offset), match);
    }
    good = parameters.good_match_len != 0 && length >= parameters.good_match_len;
    return good;
  };
  // A match at this offset must be longer than this one.
  const auto to_beat = [&](std::uint32_t offset) {
    if (!per_bucket) return shown.last();
    return in_band(offset) ? bucket_of(offset) : best;
  };
  const auto is_worth = [&](std::uint32_t offset) {
    const std::uint32_t length = length_of(to_beat(offset));
    return length < limit && text.same_byte(position, offset, length);
  };
  const auto compare = [&](std::uint32_t offset) {
    if (keep(offset, text.common_length(position, position - offset, 0, limit))) return true;
    return !per_bucket && length_of(shown.last()) >= limit;  // nothing longer can come
  };
  if (kCounted ? has_position : limit >= parameters.min_match_len) {
    bool over = false;
    for (int range = 0; range < 2 && !over; ++range) {
      const std::uint32_t first = range == 0 ? 1 : max(band_first, parameters.near_range + 1);
      const std::uint32_t last = min(farthest, range == 0 ? parameters.near_range : band_last);
      if constexpr (kCounted) {
        for (std::uint32_t offset = first; offset <= last && !over; ++offset) {
          const std::uint32_t length = text.common_length(position, position - offset, 0, limit);
          counts.probe(length, limit);
          over = keep(offset, length);
        }
      } else {
        over = scan_offsets<kKeyBytes>(text, position, first, last, is_worth, compare);
      }
    }
  }
  if (has_position && output.d_before_stitch != nullptr)
    output.d_before_stitch[block.position + in_block] = record_of(best);
  __syncthreads();

  // Phase B.
  if (parameters.stitch) {
    if constexpr (kCounted) {
      for (std::uint32_t other = 0; other < kThreads && has_position && !good; ++other)
        for (std::uint32_t k = 0; k < parameters.top_k; ++k) {
          const RankedMatch match = sh_lists[k * kThreads + other];
          const std::uint32_t offset = offset_of(match);
          if (other == thread || match == 0 || offset > farthest) continue;
          const std::uint32_t length = text.common_length(position, position - offset, 0, limit);
          counts.probe(length, limit);
          ++counts.stitch_probes;
          if (offset <= parameters.near_range || in_band(offset)) ++counts.repeated_probes;
          if (length >= parameters.min_match_len) best = max(best, ranked(offset, length));
        }
    } else {
      for (std::uint32_t k = 0; k < parameters.top_k; ++k) {
        const RankedMatch match = shown.entry(k);
        const std::uint32_t offset = offset_of(match);
        if (match == 0 || offset <= parameters.near_range) continue;
        const std::uint32_t slot = offset * 2654435769u >> (32 - kOffsetFilterBits);
        if (atomicExch(&sh_filter[slot], offset) != offset)
          sh_offsets[atomicAdd(&sh_offset_count, 1)] = static_cast<std::uint16_t>(offset);
      }
      __syncthreads();
      if (limit >= parameters.min_match_len && !good) {
        const std::uint32_t leading = text.word(position) << (kKeyBytes == 3 ? 8 : 0);
        const std::uint32_t offset_count = sh_offset_count;
        const auto may_be_better = [&](std::uint32_t offset) {
          if (offset > farthest) return false;
          const std::uint32_t length = length_of(best);
          const std::uint32_t needed = length + (ranked(offset, length) > best ? 0 : 1);
          return needed <= limit && text.word(position - offset) << (kKeyBytes == 3 ? 8 : 0) == leading &&
                 text.same_byte(position, offset, max(needed, 1u) - 1);
        };
        std::uint32_t i = 0;
        while (true) {
          while (i < offset_count && !may_be_better(sh_offsets[i])) ++i;
          if (i == offset_count) break;
          const std::uint32_t offset = sh_offsets[i++];
          const std::uint32_t length = text.common_length(position, position - offset, kKeyBytes, limit);
          if (length >= parameters.min_match_len) best = max(best, ranked(offset, length));
        }
      }
    }
  }
  if (has_position) output.d_records[block.position + in_block] = record_of(best);

  if constexpr (kCounted) {
    add_over_warp(counts.probes, &output.d_counters->probes);
    add_over_warp(counts.stitch_probes, &output.d_counters->stitch_probes);
    add_over_warp(counts.repeated_probes, &output.d_counters->repeated_probes);
    add_over_warp(counts.byte_comparisons, &output.d_counters->byte_comparisons);
  }
}

constexpr std::uint32_t shared_bytes(std::uint32_t top_k) {
  return static_cast<std::uint32_t>(kThreads * top_k * (sizeof(RankedMatch) + sizeof(std::uint16_t)) +
                                    kFilterSlots * sizeof(std::uint32_t));
}

constexpr KernelBudget kBudget("coop_stitch", "coop_stitch_kernel",
                               {.threads = kThreads,
                                .dynamic_shared_bytes = shared_bytes(kMaxTopK),
                                .registers = 64,
                                .shared_bytes = shared_bytes(kMaxTopK) + 16});
const KernelRegistration kThreeByteRegistration(kBudget, coop_stitch_kernel<3, false>);
const KernelRegistration kFourByteRegistration(kBudget, coop_stitch_kernel<4, false>);
const KernelRegistration kCountedRegistration(kBudget, coop_stitch_kernel<3, true>);

}  // namespace

std::size_t find_coop_stitch_cuda_scratch_bytes(const DeviceBlocks& blocks,
                                                const FinderParameters& parameters) {
  check_finder_parameters(Finder::kCoopStitch, parameters);
  return number_groups_scratch_bytes(blocks, kThreads);
}

void find_coop_stitch_cuda(const DeviceBlocks& blocks, const FinderParameters& parameters,
                           const DeviceFound& output, void* d_scratch, std::size_t scratch_bytes,
                           cudaStream_t stream) {
  check_finder_parameters(Finder::kCoopStitch, parameters);
  const std::uint32_t group_count = most_groups(blocks, kThreads);
  if (group_count == 0) return;
  const DeviceGroups groups = number_groups(blocks, kThreads, d_scratch, scratch_bytes, stream);
  const auto kernel = output.d_counters != nullptr    ? coop_stitch_kernel<3, true>
                      : parameters.min_match_len == 3 ? coop_stitch_kernel<3, false>
                                                      : coop_stitch_kernel<4, false>;
  // Does not use launch(), which takes the most shared memory possible: here the rest serves as cache.
  const NvtxRange range(kBudget.name.data());
  kernel<<<group_count, kThreads, shared_bytes(parameters.top_k), stream>>>(groups, parameters, output);
  check_launch(kBudget.name.data(), work_of(blocks));
}

}  // namespace hemstitch::cuda
