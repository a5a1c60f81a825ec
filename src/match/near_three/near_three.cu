// The nearest place with the same three bytes, by walking chains. The first kernel leaves them (match/stitch/build_chains.cuh);
// this is the second.
//
// Mapping. One thread block (1024 threads) owns a run of one block of the batch: a segment of 64 KB or, in large batches, several
// in a row, which saves reading their windows. It takes the run in tiles of 4096 positions from left to right, four positions a
// thread. The four walks take their steps together, so that none waits for another's reads. A ring in shared memory holds a word
// for each position of the window before the tile and of the tile, so that a walk never leaves shared memory: its reads are
// scattered. The next tile's words are loaded while a tile is walked.
//
// A word is the position's link and its first two bytes. That suffices to compare three: links are exact (the table is swept), so
// all positions of a chain have the same hash, and the hash and the first two bytes determine the third. If the third bytes differ
// by d, the highest 16 bits of the hashed products differ by d * 0x79B9 modulo 65536, which is at least 148 away from 0: hashes of
// 9 bits and more differ (same_hash_and_two_bytes_suffice()). A step of a walk is then one read.
//
// At depth 1 a walk is only its first step, which needs no link but the position's own. So words are only the two bytes, and a
// multiprocessor holds two thread blocks.
//
// The ring is as long as the window and two tiles: no walk of this tile reads what the next tile's words overwrite. So one barrier
// a tile is enough. If a device has too little shared memory for the ring, walks read the same words from device memory.
//
// Bounds of work: `depth` reads a position. Shared memory: 4 bytes a position of the ring, 160 KB for a window of 32 KB: one
// thread block a multiprocessor; at depth 1 half of that, and two. Registers: at most 64, or 32. CPU twin: near_three_reference.cpp.
#include <algorithm>
#include <string>
#include <type_traits>

#include "gpu/cuda/kernel_trace.hpp"
#include "gpu/cuda/shared_memory.hpp"
#include "match/common/hash_word.hpp"
#include "match/near_three/near_three_cuda.hpp"
#include "match/stitch/build_chains.cuh"

namespace hemstitch::cuda {
namespace {

constexpr std::uint32_t kThreads = 1024;
constexpr std::uint32_t kTile = 4096;
constexpr std::uint32_t kPerThread = kTile / kThreads;
static_assert(kSegmentPositions % kTile == 0);
constexpr std::uint32_t kMostSegmentsPerRun = 4;
constexpr std::uint64_t kLeastRuns = 2048;  // some ten times as many as a large device holds at once
static_assert(kMostNearThreeWindowBytes <= kSweptWindowBytes, "links are exact");

// Two different words of three bytes whose first two agree have different hashes. They differ by d << 16, so their products differ
// only in the highest 16 bits.
consteval bool same_hash_and_two_bytes_suffice(unsigned hash_bits) {
  for (std::uint32_t difference = 1; difference < 256; ++difference) {
    const std::uint32_t apart = hash_word(difference << 16, 16);
    if (std::min(apart, 65536 - apart) < 1u << (16 - hash_bits)) return false;
  }
  return true;
}
static_assert(same_hash_and_two_bytes_suffice(kLeastNearThreeHashBits));

constexpr std::uint32_t ring_words(std::uint32_t reach_bytes) { return reach_bytes + 2 * kTile; }

// What a position's word holds: its first two bytes, and above depth 1 its link before them.
template <bool kNearest>
using RingWord = std::conditional_t<kNearest, std::uint16_t, std::uint32_t>;

// Bytes and links of positions, counted from the run's first; those before it are negative.
class Positions {
 public:
  __device__ Positions(const DeviceBlocks& batch, const Links& links, const DeviceBlock& block,
                       std::uint32_t block_index, std::uint32_t run_begin, std::uint32_t window_bytes)
      : here_(block.d_block + run_begin),
        block_links_(links.of_block(block) + run_begin),
        history_links_(links.of_history(block_index) + run_begin),
        readable_(block.block_bytes - run_begin) {
    std::uint32_t linked_before = run_begin;
    if (continues_previous(batch, block_index, window_bytes)) linked_before += window_bytes;
    first_block_position_ = -static_cast<std::int32_t>(min(linked_before, 2 * kMaxRecordOffset));
  }

  __device__ std::uint32_t two_bytes(std::int32_t position) const {
    return static_cast<std::uint32_t>(here_[position + 1]) << 8 | static_cast<std::uint32_t>(here_[position]);
  }
  __device__ std::uint32_t link(std::int32_t position) const {
    return position >= first_block_position_ ? block_links_[position] : history_links_[position];
  }

  // What a thread reads of a tile: for positions kThreads apart, their links above their two bytes. 0 if a position has no hash or
  // is after the block: its chain ends there, and no position has a link to it.
  __device__ void read_rows(std::uint32_t tile, std::uint32_t (&words)[kPerThread]) const {
    // Pointers that advance, and constants: indices of 32 bits would become addresses one by one.
    const std::byte* const bytes = here_ + tile + threadIdx.x;
    const std::uint16_t* const row_links = block_links_ + tile + threadIdx.x;
    const bool all_hashed = std::uint64_t{tile} + kTile + kNearThreeBytes <= readable_;
#pragma unroll
    for (std::uint32_t row = 0; row < kPerThread; ++row) {
      const std::size_t at = row * kThreads;
      words[row] = 0;
      if (all_hashed || tile + at + threadIdx.x + kNearThreeBytes <= readable_)
        words[row] = static_cast<std::uint32_t>(row_links[at]) << 16 |
                     static_cast<std::uint32_t>(bytes[at + 1]) << 8 | static_cast<std::uint32_t>(bytes[at]);
    }
  }

 private:
  const std::byte* here_;
  const std::uint16_t* block_links_;
  const std::uint16_t* history_links_;
  std::uint32_t readable_;
  std::int32_t first_block_position_;
};

// kNearest: for depth 1. A run is one or more segments of a block.
template <bool kRing, bool kNearest>
__global__ void __launch_bounds__(kThreads, kNearest ? 2 : 1)
    walk_near_chains(const DeviceBlocks batch, const Links links, std::uint32_t runs_per_block,
                     std::uint32_t run_positions, std::uint32_t ring_positions, std::uint32_t depth,
                     std::uint32_t window_bytes, std::uint16_t* __restrict__ d_near_offsets) {
  extern __shared__ std::uint32_t sh_memory[];
  using Word = RingWord<kNearest>;
  auto* const sh_ring = reinterpret_cast<Word*>(sh_memory);
  const std::uint32_t thread = threadIdx.x;
  const std::uint32_t block_index = blockIdx.x / runs_per_block;
  const std::uint32_t run_begin = blockIdx.x % runs_per_block * run_positions;
  const DeviceBlock block = batch.d_blocks[block_index];
  if (run_begin >= block.block_bytes) return;
  const std::uint32_t positions = min(block.block_bytes - run_begin, run_positions);
  const auto lead = static_cast<std::uint32_t>(
      min(std::uint64_t{block.history_bytes} + run_begin, std::uint64_t{window_bytes}));
  std::uint16_t* const near_offsets = d_near_offsets + block.position + run_begin;
  const Positions data(batch, links, block, block_index, run_begin, window_bytes);

  // The window before the run fills the ring's first slots, the first tile the next ones.
  std::uint32_t own[kPerThread];
  data.read_rows(0, own);
  if constexpr (kRing) {
#pragma unroll 4
    for (std::uint32_t i = thread; i < lead; i += kThreads) {
      const std::int32_t position = static_cast<std::int32_t>(i) - static_cast<std::int32_t>(lead);
      sh_ring[i] = static_cast<Word>((kNearest ? 0 : data.link(position) << 16) | data.two_bytes(position));
    }
#pragma unroll
    for (std::uint32_t row = 0; row < kPerThread; ++row)
      sh_ring[lead + row * kThreads + thread] = static_cast<Word>(own[row]);
    __syncthreads();
  }

  std::uint32_t tile_slot = lead;  // of the tile's first position
  for (std::uint32_t tile = 0; tile < positions; tile += kTile) {
    if (thread == 0) trace_mark(kTraceFindTile, tile);
    const auto slot_in_tile = [&](std::uint32_t index) {  // up to two tiles after its first position
      const std::uint32_t slot = tile_slot + index;
      return slot < ring_positions ? slot : slot - ring_positions;
    };
    std::uint32_t next[kPerThread];
    data.read_rows(tile + kTile, next);

    std::uint32_t step[kPerThread], offset[kPerThread], found[kPerThread];
#pragma unroll
    for (std::uint32_t row = 0; row < kPerThread; ++row) {
      step[row] = own[row] >> 16;
      offset[row] = found[row] = 0;
    }
    for (std::uint32_t walked = 0; walked < (kNearest ? 1 : depth); ++walked) {
      bool goes_on = false;
#pragma unroll
      for (std::uint32_t row = 0; row < kPerThread; ++row) {
        offset[row] += step[row];
        if (step[row] == 0 || offset[row] > window_bytes) {
          step[row] = 0;
          continue;
        }
        std::uint32_t candidate;
        if constexpr (kRing) {
          const std::uint32_t back = slot_in_tile(row * kThreads + thread) - offset[row];
          candidate = sh_ring[min(back, back + ring_positions)];  // a negative `back` is huge
        } else {
          const auto position = static_cast<std::int32_t>(tile + row * kThreads + thread - offset[row]);
          candidate = (kNearest ? 0 : data.link(position) << 16) | data.two_bytes(position);
        }
        const bool equal = ((candidate ^ own[row]) & 0xFFFF) == 0;
        if (equal) found[row] = offset[row];
        step[row] = equal ? 0 : candidate >> 16;
        goes_on |= step[row] != 0;
      }
      if (!goes_on) break;
    }

    std::uint16_t* const tile_offsets = near_offsets + tile + thread;
#pragma unroll
    for (std::uint32_t row = 0; row < kPerThread; ++row)
      if (tile + row * kThreads + thread < positions)
        tile_offsets[std::size_t{row} * kThreads] = static_cast<std::uint16_t>(found[row]);

#pragma unroll
    for (std::uint32_t row = 0; row < kPerThread; ++row) {
      if constexpr (kRing)
        sh_ring[slot_in_tile(kTile + row * kThreads + thread)] = static_cast<Word>(next[row]);
      own[row] = next[row];
    }
    if constexpr (kRing) {
      tile_slot = slot_in_tile(kTile);
      __syncthreads();
    }
  }
}

constexpr KernelBudget kBuildBudget = build_chains_budget("near_three.build", "build_chains<3>");
const KernelRegistration kBuildRegistration(kBuildBudget, build_chains<kNearThreeBytes>);

constexpr std::uint32_t kMostRingWords = ring_words(kMostNearThreeWindowBytes);
template <bool kNearest>
consteval KernelBudget walk_budget(std::string_view name, std::string_view function) {
  return {name,
          function,
          {.threads = kThreads,
           .dynamic_shared_bytes = kMostRingWords * sizeof(RingWord<kNearest>),
           .registers = kNearest ? 32 : 64,
           .shared_bytes = kMostRingWords * sizeof(RingWord<kNearest>)}};
}
constexpr KernelBudget kWalkBudget = walk_budget<false>("near_three.walk", "walk_near_chains<true, false>");
constexpr KernelBudget kRinglessBudget =
    walk_budget<false>("near_three.walk_ringless", "walk_near_chains<false, false>");
constexpr KernelBudget kNearestBudget =
    walk_budget<true>("near_three.nearest", "walk_near_chains<true, true>");
constexpr KernelBudget kNearestRinglessBudget =
    walk_budget<true>("near_three.nearest_ringless", "walk_near_chains<false, true>");
const KernelRegistration kWalkRegistration(kWalkBudget, walk_near_chains<true, false>);
const KernelRegistration kRinglessRegistration(kRinglessBudget, walk_near_chains<false, false>);
const KernelRegistration kNearestRegistration(kNearestBudget, walk_near_chains<true, true>);
const KernelRegistration kNearestRinglessRegistration(kNearestRinglessBudget, walk_near_chains<false, true>);

void check_parameters(const NearThreeParameters& parameters) {
  check_near_three_parameters(parameters);
  if (parameters.hash_bits < kLeastNearThreeHashBits)
    throw Error(Status::kInvalidOption, "near_three: hash_bits is " + std::to_string(parameters.hash_bits) +
                                            ", must be at least " + std::to_string(kLeastNearThreeHashBits) +
                                            " on a CUDA device");
  if (parameters.window_bytes > kMostNearThreeWindowBytes)
    throw Error(Status::kInvalidOption, "near_three: window_bytes is " +
                                            std::to_string(parameters.window_bytes) + ", must be at most " +
                                            std::to_string(kMostNearThreeWindowBytes) + " on a CUDA device");
}

// Positions of each history whose links are kept.
std::uint32_t kept_history_bytes(const DeviceBlocks& batch, const NearThreeParameters& parameters) {
  return parameters.depth > 1 ? batch.max_history_bytes : 0;
}

}  // namespace

std::size_t find_near_three_cuda_scratch_bytes(const DeviceBlocks& batch,
                                               const NearThreeParameters& parameters) {
  check_parameters(parameters);
  return (batch.total_block_bytes +
          std::uint64_t{batch.block_count} * kept_history_bytes(batch, parameters)) *
         sizeof(std::uint16_t);
}

void find_near_three_cuda(const DeviceBlocks& batch, const NearThreeParameters& parameters,
                          std::uint16_t* d_near_offsets, void* d_scratch, std::size_t scratch_bytes,
                          cudaStream_t stream) {
  find_near_three_cuda(batch, parameters, d_near_offsets, d_scratch, scratch_bytes, stream,
                       kMostRingWords * sizeof(RingWord<false>) <= most_shared_bytes()
                           ? NearWords::kRing
                           : NearWords::kDeviceMemory);
}

void find_near_three_cuda(const DeviceBlocks& batch, const NearThreeParameters& parameters,
                          std::uint16_t* d_near_offsets, void* d_scratch, std::size_t scratch_bytes,
                          cudaStream_t stream, NearWords near_words) {
  check_scratch("near_three", scratch_bytes, find_near_three_cuda_scratch_bytes(batch, parameters));
  const Links links{static_cast<std::uint16_t*>(d_scratch), batch.total_block_bytes,
                    kept_history_bytes(batch, parameters)};
  launch_build_chains<kNearThreeBytes>(batch, links, parameters.hash_bits, parameters.window_bytes, true, {},
                                       kBuildBudget.name.data(), stream);
  const std::uint64_t segments = std::uint64_t{batch.block_count} * segments_per_block(batch);
  if (segments == 0) return;
  // Several segments in a thread block save reading the windows before them, as long as there are enough thread blocks.
  std::uint32_t segments_per_run = 1;
  while (segments_per_run < segments_per_block(batch) && segments_per_run < kMostSegmentsPerRun &&
         segments / (2 * segments_per_run) >= kLeastRuns)
    segments_per_run *= 2;
  const std::uint32_t runs_per_block = (segments_per_block(batch) + segments_per_run - 1) / segments_per_run;
  const std::uint64_t longest = std::uint64_t{batch.max_history_bytes} + batch.max_block_bytes;
  const std::uint32_t ring_positions =
      ring_words(static_cast<std::uint32_t>(std::min<std::uint64_t>(longest, parameters.window_bytes)));
  const auto walk = [&](const KernelBudget& budget, auto kernel, std::size_t word_bytes) {
    const std::size_t shared_bytes = ring_positions * word_bytes;
    check(cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize,
                               static_cast<int>(shared_bytes)),
          budget.name.data());
    kernel<<<batch.block_count * runs_per_block, kThreads, shared_bytes, stream>>>(
        batch, links, runs_per_block, segments_per_run * kSegmentPositions, ring_positions, parameters.depth,
        parameters.window_bytes, d_near_offsets);
    check_launch(budget.name.data(), work_of(batch));
  };
  const bool has_ring = near_words == NearWords::kRing;
  if (parameters.depth == 1)
    has_ring ? walk(kNearestBudget, walk_near_chains<true, true>, sizeof(RingWord<true>))
             : walk(kNearestRinglessBudget, walk_near_chains<false, true>, 0);
  else
    has_ring ? walk(kWalkBudget, walk_near_chains<true, false>, sizeof(RingWord<false>))
             : walk(kRinglessBudget, walk_near_chains<false, false>, 0);
}

}  // namespace hemstitch::cuda
