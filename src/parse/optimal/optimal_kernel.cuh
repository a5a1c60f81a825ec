// The solving of segments on a CUDA device: one lane a segment, backwards over its 1024 positions and the 256
// behind them.
//
// Mapping. A warp takes 32 segments, neighbours in the batch, and all its lanes go from position 1279 down to 0 of
// their segments in step. The grid is as large as the device holds at once and strides over the groups of 32.
//
// Records. Lanes read records 4 KB apart, so the warp stages 32 positions of 32 segments at a time: 32 rows of 128
// bytes, asynchronously, while it works on the 32 positions staged before. A row is one word longer than that, so
// that both the staging (along rows) and the reading (down a column) touch 32 banks. Decisions replace the records
// in place and leave the same way, as 16-bit lengths.
//
// Costs. cost(p + length) is wanted for any length, up to 1280 positions ahead; but most matches are short. The
// nearest kNear costs of each lane are a ring in shared memory, lane l in bank l whatever its position. Every cost is
// also written to device memory (one coalesced store), where longer matches look them up; a lane reads only what it
// wrote itself. Costs at the horizon and beyond are 0: the ring starts zeroed and is not written there.
//
// Deciding. A cost is kept times 8, and each edge adds its number in the order of preference, 0 for the literal: the
// smallest sum is then the cheapest edge, and on equal cost the preferred one, in one minimum an edge. Instructions set
// the time, so edges are not tested one by one: their lengths are made legal (LegalLengths).
//
// Shared memory: 32 * (kNear + 2 * (kStaged + 1)) words and 512 bytes a warp, which is the whole block.
// Synchronisation: within the warp alone. Work: 1.25 positions a position, each O(tried lengths).
// Registers: at most 80. CPU twin: solve_segment() in optimal_reference.hpp. Source: founding document 000's segmented
// parse. Holding all costs in shared memory would be simpler, but takes 160 KB a warp.
#pragma once

#include <cuda_pipeline.h>

#include "core/match.hpp"
#include "device/cuda/kernel_registry.hpp"
#include "device/cuda/kernel_trace.hpp"
#include "parse/optimal/optimal_cuda.hpp"
#include "parse/optimal/optimal_tuning.hpp"
#include "parse/usable_length.cuh"

namespace hemstitch::cuda {

inline constexpr unsigned kSolvedPositions = kSegmentPositions + kLookAheadPositions;

// Bits below a cost for the number of an edge.
inline constexpr unsigned kEdgeBits = 3;
static_assert(std::uint64_t{kSolvedPositions + 1} * kMaxUnitCost << kEdgeBits < std::uint64_t{1} << 32,
              "the cost of a segment, with an edge's number, has 32 bits");

constexpr std::uint32_t segment_count(std::uint32_t block_bytes) {
  return block_bytes / kSegmentPositions + (block_bytes % kSegmentPositions != 0);
}

// The lengths that a model tries, made so that no edge has to be tested: where an edge's length would be shorter than the
// format's shortest match, or there is none, it is that of an earlier edge, which then costs the same and is preferred.
// A model whose lengths allow a shorter way than this one has a specialisation beside its instantiation.
template <typename Model>
struct LegalLengths {
  static __device__ std::uint32_t get(const Model& model, std::uint32_t full_length, unsigned edge,
                                      std::uint32_t shortest) {
    const std::uint32_t tried = model.tried_length(full_length, edge);
    return tried >= shortest ? tried : full_length;
  }
};

// The smallest sum of a match's edges: cost there, price and number of the edge. `cost_at` gives the cost behind a length.
template <typename Model, typename CostAt>
__device__ std::uint32_t best_edge(const Model& model, std::uint32_t length, std::uint32_t shortest,
                                   std::uint32_t most_priced, const CostAt& cost_at) {
  std::uint32_t best = 0xFFFFFFFFu;
#pragma unroll
  for (unsigned edge = 0; edge < model.tried_length_count(); ++edge) {
    const std::uint32_t tried = LegalLengths<Model>::get(model, length, edge, shortest);
    const std::uint32_t price = model.match_cost(min(tried, most_priced));
    best = min(best, cost_at(tried) + ((price << kEdgeBits) + edge + 1));
  }
  return best;
}

template <typename Model, unsigned kNear, unsigned kStaged>
__global__ void __launch_bounds__(32)
    solve_segments(const DeviceBlock* __restrict__ d_blocks, std::uint32_t block_count,
                   const std::uint64_t* __restrict__ d_first_segment,
                   const MatchRecord* __restrict__ d_records, const BlockPlan plan, const Model model,
                   std::uint16_t* __restrict__ d_lengths, std::uint32_t* d_far_costs) {
  static_assert((kNear & (kNear - 1)) == 0 && kSolvedPositions % kStaged == 0 &&
                kSegmentPositions % kStaged == 0);
  static_assert(kStaged <= 32 && 32 % kStaged == 0);
  constexpr unsigned kRow = kStaged + 1;
  constexpr unsigned kRowsAtOnce = 32 / kStaged;
  struct alignas(16) Row {
    std::uint64_t first;   // index in the batch of the segment's first position
    std::uint32_t own;     // positions of the segment
    std::uint32_t solved;  // these and the look-ahead
  };
  __shared__ std::uint32_t sh_cost[kNear * 32];
  __shared__ std::uint32_t sh_staged[2][32 * kRow];
  __shared__ Row sh_row[32];

  const unsigned lane = threadIdx.x;
  const unsigned staging_row = lane / kStaged, staging_column = lane % kStaged;
  std::uint32_t* const far_costs = d_far_costs + std::size_t{blockIdx.x} * kSolvedPositions * 32;
  const std::uint64_t all_segments = d_first_segment[block_count];
  const std::uint32_t shortest = shortest_match(plan);
  const std::uint32_t literal_cost = model.literal_cost() << kEdgeBits;

  for (std::uint64_t group = blockIdx.x; group * 32 < all_segments; group += gridDim.x) {
    if (lane == 0) trace_mark(kTraceSolveSegments, static_cast<std::uint32_t>(group));
    Row row{};
    UsableLengths usable(plan, 0, 0);
    const std::uint64_t segment = group * 32 + lane;
    if (segment < all_segments) {
      // The last block that begins at or before this segment.
      std::uint32_t low = 0, high = block_count;
      while (high - low > 1) {
        const std::uint32_t middle = low + (high - low) / 2;
        if (d_first_segment[middle] <= segment)
          low = middle;
        else
          high = middle;
      }
      const std::uint32_t block_bytes = d_blocks[low].block_bytes;
      const std::uint32_t begin =
          static_cast<std::uint32_t>(segment - d_first_segment[low]) * kSegmentPositions;
      const std::uint32_t rest = block_bytes - begin;
      row = {d_blocks[low].position + begin, min(rest, static_cast<std::uint32_t>(kSegmentPositions)),
             min(rest, kSolvedPositions)};
      usable = UsableLengths(plan, block_bytes, begin);
    }
    __syncwarp();
    sh_row[lane] = row;
#pragma unroll
    for (unsigned i = 0; i < kNear; ++i) sh_cost[i * 32 + lane] = 0;
    __syncwarp();

    const auto stage = [&](int tile) {
      if (tile >= 0) {
        const unsigned position = static_cast<unsigned>(tile) * kStaged + staging_column;
#pragma unroll 8
        for (unsigned r = staging_row; r < 32; r += kRowsAtOnce)
          if (position < sh_row[r].solved)
            __pipeline_memcpy_async(&sh_staged[tile & 1][r * kRow + staging_column],
                                    d_records + sh_row[r].first + position, sizeof(MatchRecord));
      }
      __pipeline_commit();
    };

    unsigned most_solved = row.solved;
#pragma unroll
    for (unsigned distance = 16; distance > 0; distance /= 2)
      most_solved = max(most_solved, __shfl_xor_sync(~0u, most_solved, distance));
    const int top = static_cast<int>((most_solved + kStaged - 1) / kStaged) - 1;
    std::uint32_t cost = 0;  // of the position to the right
    stage(top);
    for (int tile = top; tile >= 0; --tile) {
      stage(tile - 1);
      __pipeline_wait_prior(1);
      __syncwarp();
      std::uint32_t* const column = &sh_staged[tile & 1][lane * kRow];
#pragma unroll 4
      for (int i = kStaged - 1; i >= 0; --i) {
        const int position = tile * static_cast<int>(kStaged) + i;
        const std::uint32_t length = usable(column[i], static_cast<unsigned>(position));
        std::uint32_t best = cost + literal_cost;
        if (length != 0) {
          const unsigned from = static_cast<unsigned>(position);
          // priced_length() of optimal.hpp: no more than lies before the horizon.
          const std::uint32_t most_priced = max(row.solved - from, shortest);
          if (length <= kNear)
            best = min(best, best_edge(model, length, shortest, most_priced, [&](std::uint32_t tried) {
                         return sh_cost[(from + tried) * 32 % (kNear * 32) | lane];
                       }));
          else
            best = min(best, best_edge(model, length, shortest, most_priced, [&](std::uint32_t tried) {
                         const unsigned target = from + tried;
                         return target < row.solved ? far_costs[target * 32 | lane] : 0;
                       }));
        }
        if (position >= static_cast<int>(row.solved)) best = 0;  // at and beyond the horizon
        const unsigned edge = best % (1u << kEdgeBits);
        cost = best - edge;
        sh_cost[static_cast<unsigned>(position) * 32 % (kNear * 32) | lane] = cost;
        far_costs[static_cast<unsigned>(position) * 32 | lane] = cost;
        column[i] = edge == 0 ? 0 : LegalLengths<Model>::get(model, length, edge - 1, shortest);
      }
      __syncwarp();
      const unsigned position = static_cast<unsigned>(tile) * kStaged + staging_column;
      if (position < kSegmentPositions) {
#pragma unroll 8
        for (unsigned r = staging_row; r < 32; r += kRowsAtOnce)
          if (position < sh_row[r].own)
            d_lengths[sh_row[r].first + position] =
                static_cast<std::uint16_t>(sh_staged[tile & 1][r * kRow + staging_column]);
      }
      __syncwarp();
    }
  }
}

constexpr KernelBudget kSolveBudget("optimal.solve_segments", "solve_segments",
                                    {.threads = 32, .registers = 80, .shared_bytes = 18 * 1024});

}  // namespace hemstitch::cuda
