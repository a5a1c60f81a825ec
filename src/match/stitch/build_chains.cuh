// Builds chains: for every position the distance to the one before it with the same hash. hash_chain's hashes cover four bytes or, in
// some blocks, more (HashWidths); near_three's three. A launch for four bytes skips blocks that hash more, and one for
// kVaryingBytes skips those that hash four. So the kernel for most data does not need the other one's registers.
//
// Mapping. One warp a segment of 64 KB; it first enters the window before the segment, which gives exactly the links of one pass
// over the whole block. If nobody needs links of that window, they are not computed (enter_unlinked). If there are many segments, a
// warp takes several, and keeps its table where one follows the other in memory. 32 positions a step, in order, one a lane
// (match/common/cuda/enter_row.cuh): a lane's previous position is that of the nearest lane below it with its hash, or else the head; the
// highest lane of a hash becomes the head.
//
// Above depth 1 a walk also needs the links of the history. They are stored separately, unless the block continues the one before
// it (continues_previous): then that block's links serve both, and nothing is entered twice.
//
// Heads are 16 bits: a position, plus one, modulo 65536. So a head that is 65536 positions old or older stands for a
// younger position q, and one that was never written stands for some q as well. That is harmless: if q had this hash, q
// itself would have become the head. So a link to a position with another hash is stale, and the chain ends there; at depth 1 the
// bytes differ anyway, if four are hashed. A walk need not check hashes where links are exact: in tables of at most 65536
// positions, and for windows of up to 32 KB. For those, old heads are swept from the table before 65536 positions have passed since
// it was cleared, and then about every 32 KB.
//
// Steps do not overlap, but the words of a group of steps are loaded a group earlier.
//
// Shared memory: 2^hash_bits heads of 2 bytes (32 KB at 14 bits: seven warps a multiprocessor). No barrier.
// CPU twins: walk_chains in hash_chain_reference.cpp, and the loop of near_three_reference.cpp.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

#include "gpu/cuda/cuda_error.hpp"
#include "gpu/cuda/kernel_registry.hpp"
#include "gpu/cuda/kernel_trace.hpp"
#include "match/common/cuda/device_work.hpp"
#include "match/stitch/link_table.cuh"
#include "match/stitch/links.cuh"

namespace hemstitch::cuda {

// Links are exact for windows up to here, if the table is swept.
inline constexpr std::uint32_t kSweptWindowBytes = 32768;
// Two groups before heads would be mistaken, since a group may begin anywhere.
inline constexpr std::uint32_t kFirstSweep = 65536 - 2 * kBuildGroup;
inline constexpr std::uint32_t kSweepPositions = 32768 - 2 * kBuildGroup;

// Before position x enters: heads more than kSweptWindowBytes back, and unused ones, get a value that stays farther back than that,
// and nearer than 65536, until the next sweep.
__device__ inline void sweep_heads(std::uint16_t* sh_heads, unsigned hash_bits, std::uint32_t x,
                                   std::uint32_t lane) {
  auto* pairs = reinterpret_cast<std::uint32_t*>(sh_heads);
  const std::uint32_t far = (x - kSweptWindowBytes) & 0xFFFF, next = (x + 1) << 16;
  for (std::uint32_t i = lane; i < (1u << hash_bits) / 2; i += 32) {
    const std::uint32_t pair = pairs[i];
    const bool low_is_old = next - (pair << 16) > kSweptWindowBytes << 16;
    const bool high_is_old = next - (pair & 0xFFFF0000u) > kSweptWindowBytes << 16;
    pairs[i] = (low_is_old ? far : pair & 0xFFFF) | (high_is_old ? far << 16 : pair & 0xFFFF0000u);
  }
  __syncwarp();
}
static_assert((1u << kMinHashBits) / 2 % 32 == 0);

template <std::size_t kKeyBytes>
__global__ void __launch_bounds__(32)
    build_chains(DeviceBlocks batch, Links links, std::uint32_t segments_per_block,
                 std::uint32_t segments_per_warp, unsigned hash_bits, std::uint32_t window_bytes,
                 bool sweeping, HashWidths widths) {
  extern __shared__ uint4 sh_memory[];
  auto* sh_heads = reinterpret_cast<std::uint16_t*>(sh_memory);
  const std::uint32_t lane = threadIdx.x;
  const std::uint64_t segments = std::uint64_t{batch.block_count} * segments_per_block;

  HashedRun<kKeyBytes> run{nullptr, 0, 0};
  std::uint32_t entered = 0;  // positions of the run that are in the table
  std::uint32_t next_sweep = 0;
  const std::uint64_t begin = std::uint64_t{blockIdx.x} * segments_per_warp;
  for (std::uint64_t segment = begin; segment < min(begin + segments_per_warp, segments); ++segment) {
    const auto block_index = static_cast<std::uint32_t>(segment / segments_per_block);
    const auto segment_begin = static_cast<std::uint32_t>(segment % segments_per_block) * kSegmentPositions;
    const DeviceBlock block = batch.d_blocks[block_index];
    if (segment_begin >= block.block_bytes) continue;
    const std::uint32_t width = kKeyBytes == 3 ? 3 : widths.of_block(block_index);
    if (kKeyBytes != 3 && (kKeyBytes == kVaryingBytes) != (width > kHashedBytes)) continue;
    if (lane == 0) trace_mark(kTraceBuildChains, static_cast<std::uint32_t>(segment));

    const std::uint64_t before = std::uint64_t{block.history_bytes} + segment_begin;
    auto lead = static_cast<std::uint32_t>(min(before, std::uint64_t{window_bytes}));
    const std::uint32_t readable = block.block_bytes - segment_begin;
    const std::byte* here = block.d_block + segment_begin;
    // Links of the history are needed above depth 1; only there is room for them. The first segment writes them.
    const bool wants_lead = segment_begin == 0 && links.max_history_bytes > 0;
    const bool continues = wants_lead && continues_previous(batch, block_index, window_bytes, widths);
    const bool keeps_lead = wants_lead && !continues;
    // The last positions of a block have no hash in it, but have one for the block that continues it. So that block writes their
    // links.
    const std::uint32_t left_before = continues ? width - 1 : 0;
    const bool leaves_last =
        links.max_history_bytes == 0 || !continues_previous(batch, block_index + 1, window_bytes, widths);

    // If the segment continues the run so far, its window is in the table already. Positions before its window may be there too,
    // unless the history is shorter than the window: then they would be within reach.
    const bool goes_on = run.first != nullptr && run.first + run.positions == here && !keeps_lead &&
                         run.key_bytes() == width &&
                         (run.first == here - lead || (lead == window_bytes && run.first < here - lead));
    if (goes_on) {
      lead = run.positions;
    } else {
      run.first = here - lead;
      if constexpr (kKeyBytes == kVaryingBytes) run.varying_bytes = width;
      entered = 0;
      next_sweep = kFirstSweep;
      __syncwarp();
      clear_heads(sh_heads, hash_bits, lane);
    }
    run.positions = lead + min(readable, kSegmentPositions);
    run.readable = std::uint64_t{lead} + readable;
    if (!goes_on && !keeps_lead) {
      entered = lead > left_before ? lead - left_before : 0;
      enter_unlinked(sh_heads, run, entered, lane, hash_bits);
    }
    std::uint16_t* lead_links = keeps_lead ? links.of_history(block_index) - lead : nullptr;
    std::uint16_t* segment_links = links.of_block(block) + segment_begin - lead;

    LaneWords<kBuildSteps, kKeyBytes> words;
    std::uint32_t slots[kBuildSteps], distances[kBuildSteps];
    words.load(run, entered, lane);
    for (std::uint32_t group = entered; group < run.positions; group += kBuildGroup) {
      if (sweeping && group >= next_sweep) {
        sweep_heads(sh_heads, hash_bits, group, lane);
        next_sweep = group + kSweepPositions;
      }
      take_slots(words, hash_bits, slots);
      const bool in_lead = group + kBuildGroup + left_before <= lead;
      if ((in_lead || group >= lead) && group + kBuildGroup <= run.positions &&
          run.inside(group + 4, 2 * kBuildGroup)) {
        words.load_inside(run, group + kBuildGroup, lane);
        enter_group<true>(sh_heads, run, group, run.positions, lane, slots, distances);
        std::uint16_t* links_here = in_lead ? lead_links : segment_links;
#pragma unroll
        for (unsigned i = 0; i < kBuildSteps; ++i)
          links_here[group + i * 32 + lane] = static_cast<std::uint16_t>(distances[i]);
      } else {
        words.load(run, group + kBuildGroup, lane);
        enter_group<false>(sh_heads, run, group, run.positions, lane, slots, distances);
#pragma unroll
        for (unsigned i = 0; i < kBuildSteps; ++i) {
          const std::uint32_t x = group + i * 32 + lane;
          if (x + left_before >= lead && x < run.positions) {
            if (leaves_last || run.hashed(x)) segment_links[x] = static_cast<std::uint16_t>(distances[i]);
          } else if (x < lead && lead_links != nullptr) {
            lead_links[x] = static_cast<std::uint16_t>(distances[i]);
          }
        }
      }
    }
    // The last positions of a block have no hash in it, but have one for the block after it.
    entered = static_cast<std::uint32_t>(
        min(std::uint64_t{run.positions}, run.readable < width ? 0 : run.readable - (width - 1)));
  }
}

// `entry` names the instantiation.
consteval KernelBudget build_chains_budget(std::string_view name, std::string_view entry,
                                           std::uint32_t registers = 72) {
  return {name,
          entry,
          {.threads = 32,
           .dynamic_shared_bytes = sizeof(std::uint16_t) << kMaxHashBits,
           .registers = registers,
           .shared_bytes = sizeof(std::uint16_t) << kMaxHashBits}};
}

// Launches the build over a batch. `sweeping` makes links exact, for windows of up to kSweptWindowBytes.
template <std::size_t kKeyBytes>
void launch_build_chains(const DeviceBlocks& batch, const Links& links, unsigned hash_bits,
                         std::uint32_t window_bytes, bool sweeping, const HashWidths& widths,
                         const char* name, cudaStream_t stream) {
  const std::uint64_t segments = std::uint64_t{batch.block_count} * segments_per_block(batch);
  if (segments == 0) return;
  // Several segments for a warp save entering the windows before them, as long as there are enough warps.
  std::uint32_t segments_per_warp = 1;
  const bool have_windows = segments_per_block(batch) > 1 || batch.max_history_bytes != 0;
  while (have_windows && segments_per_warp < kMostSegmentsPerWarp &&
         segments / (2 * segments_per_warp) >= kLeastWarps)
    segments_per_warp *= 2;
  const auto shared_bytes = static_cast<int>(sizeof(std::uint16_t) << hash_bits);
  check(cudaFuncSetAttribute(build_chains<kKeyBytes>, cudaFuncAttributeMaxDynamicSharedMemorySize,
                             shared_bytes),
        name);
  build_chains<kKeyBytes><<<static_cast<unsigned>((segments + segments_per_warp - 1) / segments_per_warp), 32,
                            shared_bytes, stream>>>(
      batch, links, segments_per_block(batch), segments_per_warp, hash_bits, window_bytes, sweeping, widths);
  check_launch(name);
}

}  // namespace hemstitch::cuda
