// The solving of segments on a CUDA device: one lane a segment, backwards over its 1024 positions and the 256
// behind them.
//
// Mapping. A warp takes 32 segments, neighbours in the batch, and all its lanes go from position 1279 down to 0 of
// their segments in step. The grid is as large as the device holds at once and strides over the groups of 32.
//
// Records. Lanes read records 4 KB apart, so the warp stages kStaged positions of all 32 segments at a time, as rows of
// one 32-byte sector, asynchronously, while it works on those staged before. Each lane stages the same rows throughout and
// keeps their places in registers. A row is one word longer than that, so that the reading down a column touches 32 banks.
// Decisions replace the records in place and leave the same way, as 16-bit lengths.
//
// Costs. cost(p + length) is wanted for any length, up to 1280 positions ahead; but most matches are short. The
// nearest kNear costs of each lane are a ring in shared memory, lane l in bank l whatever its position. Every cost is
// also written to device memory (one coalesced store), where longer matches look them up; a lane reads only what it
// wrote itself. Costs at the horizon and beyond are 0: the ring starts zeroed, and stays so there.
//
// Deciding. A cost is kept times 8, and each edge adds its number in the order of preference, 0 for the literal: the
// smallest sum is then the cheapest edge, and on equal cost the preferred one, in one minimum an edge. Instructions, not
// memory, set the time, so edges are never tested one by one: lengths are made legal (LegalLengths), and one vote of the
// warp chooses between the ring alone and the way that also knows device memory and the horizon.
//
// Shared memory: 32 * (kNear + 2 * (kStaged + 1)) words a warp, which is the whole block.
// Synchronisation: within the warp alone. Work: 1.25 positions a position, each O(tried lengths).
// Registers: at most 96. CPU twin: solve_segment() in optimal_reference.hpp. Source: founding document 000's
// segmented parse. Holding all costs in shared memory would be simpler, but 160 KB a warp.
#pragma once

#include <cuda_pipeline.h>

#include "core/match.hpp"
#include "device/cuda/kernel_registry.hpp"
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
  constexpr unsigned kRowsAtOnce = 32 / kStaged, kRowsOfLane = kStaged;
  __shared__ std::uint32_t sh_cost[kNear * 32];
  __shared__ std::uint32_t sh_staged[2][32 * kRow];

  const unsigned lane = threadIdx.x;
  const unsigned staging_row = lane / kStaged, staging_column = lane % kStaged;
  std::uint32_t* const far_costs = d_far_costs + std::size_t{blockIdx.x} * kSolvedPositions * 32;
  const std::uint64_t all_segments = d_first_segment[block_count];
  const std::uint32_t shortest = shortest_match(plan);
  const std::uint32_t literal_cost = model.literal_cost() << kEdgeBits;

  for (std::uint64_t group = blockIdx.x; group * 32 < all_segments; group += gridDim.x) {
    std::uint64_t first = 0;  // index in the batch of the segment's first position
    unsigned solved = 0;      // positions of the segment and its look-ahead
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
      first = d_blocks[low].position + begin;
      solved = min(block_bytes - begin, kSolvedPositions);
      usable = UsableLengths(plan, block_bytes, begin);
    }

    // The rows that this lane stages, each at its column.
    std::uint64_t row_first[kRowsOfLane];
    unsigned row_solved[kRowsOfLane];
#pragma unroll
    for (unsigned k = 0; k < kRowsOfLane; ++k) {
      const int row = static_cast<int>(staging_row + k * kRowsAtOnce);
      row_first[k] = __shfl_sync(~0u, first, row) + staging_column;
      row_solved[k] = __shfl_sync(~0u, solved, row);
    }
    unsigned most_solved = solved, least_solved = solved;
#pragma unroll
    for (unsigned distance = 16; distance > 0; distance /= 2) {
      most_solved = max(most_solved, __shfl_xor_sync(~0u, most_solved, distance));
      least_solved = min(least_solved, __shfl_xor_sync(~0u, least_solved, distance));
    }
#pragma unroll
    for (unsigned i = 0; i < kNear; ++i) sh_cost[i * 32 + lane] = 0;

    const auto stage = [&](int tile) {
      if (tile >= 0) {
        const unsigned tile_begin = static_cast<unsigned>(tile) * kStaged;
        const MatchRecord* const records = d_records + tile_begin;
        std::uint32_t* const into = &sh_staged[tile & 1][staging_row * kRow + staging_column];
#pragma unroll
        for (unsigned k = 0; k < kRowsOfLane; ++k)
          if (tile_begin + staging_column < row_solved[k])
            __pipeline_memcpy_async(into + k * kRowsAtOnce * kRow, records + row_first[k],
                                    sizeof(MatchRecord));
      }
      __pipeline_commit();
    };

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
        const unsigned position = static_cast<unsigned>(tile) * kStaged + static_cast<unsigned>(i);
        const std::uint32_t length = usable(column[i], position);
        std::uint32_t best = 0xFFFFFFFFu;
        if (__any_sync(~0u, length != 0)) {
          if (__any_sync(~0u, length > kNear) || position + kNear > least_solved) {
            // priced_length() of optimal.hpp: no more than lies before the horizon.
            const std::uint32_t most_priced = max(solved - position, shortest);
            best = best_edge(model, length, shortest, most_priced, [&](std::uint32_t tried) {
              const unsigned target = position + tried;
              std::uint32_t there = 0;
              if (tried <= kNear) there = sh_cost[target * 32 % (kNear * 32) | lane];
              if (tried > kNear && target < solved) there = far_costs[target * 32 | lane];
              return there;
            });
          } else {
            best = best_edge(model, length, shortest, kNear, [&](std::uint32_t tried) {
              return sh_cost[(position + tried) * 32 % (kNear * 32) | lane];
            });
          }
        }
        best = min(length != 0 ? best : 0xFFFFFFFFu, cost + literal_cost);
        if (position >= solved) best = 0;  // at and beyond the horizon
        const unsigned edge = best % (1u << kEdgeBits);
        cost = best - edge;
        sh_cost[position * 32 % (kNear * 32) | lane] = cost;
        far_costs[position * 32 | lane] = cost;
        column[i] = edge == 0 ? 0 : LegalLengths<Model>::get(model, length, edge - 1, shortest);
      }
      __syncwarp();
      const unsigned tile_begin = static_cast<unsigned>(tile) * kStaged;
      if (tile_begin < kSegmentPositions) {
        std::uint16_t* const lengths = d_lengths + tile_begin;
        const std::uint32_t* const from = &sh_staged[tile & 1][staging_row * kRow + staging_column];
#pragma unroll
        for (unsigned k = 0; k < kRowsOfLane; ++k)
          if (tile_begin + staging_column < row_solved[k])
            lengths[row_first[k]] = static_cast<std::uint16_t>(from[k * kRowsAtOnce * kRow]);
      }
      __syncwarp();
    }
  }
}

constexpr KernelBudget kSolveBudget("optimal.solve_segments", "solve_segments",
                                    {.threads = 32, .registers = 96, .shared_bytes = 12 * 1024});

}  // namespace hemstitch::cuda
