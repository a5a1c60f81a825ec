// The solving of segments on a CUDA device: one lane a segment, backwards over its 1024 positions and the 256 after them.
//
// Mapping. A warp takes 32 segments, neighbours in the batch, and all its lanes go through theirs in step, from the last
// position to the first. A lane works in chunks of 8 positions that begin at multiples of 8 *of the batch*, so that
// it loads their records in two words of 16 bytes, a whole sector of memory, and has their decisions in one. Positions
// therefore count from the multiple of 8 at or before a segment's first one; positions of a chunk outside the segment count as
// literals that cost nothing.
//
// Costs. cost(p + length) may be needed for any length, up to 1280 positions ahead; but most matches are short. The
// nearest kNear costs of each lane are a ring in shared memory, lane l in bank l whatever its position. All costs
// are also written to device memory, four positions a store, where longer matches look them up; a lane reads only what it
// wrote itself. Costs at the horizon and beyond are 0.
//
// Latency limits the speed: a step depends on the one before it, and in nearly every step some lane of 32 has a match that reaches
// beyond its ring. So everything is loaded as early as possible: while a chunk is solved, the records of the chunk after the next
// are in flight, and so are the far costs that the next one needs, which are older than either. In a chunk, four positions look up
// their near costs together: matches of four bytes and more point beyond those four. From step to step there remain an addition, a
// minimum, and removing the edge's number.
//
// Deciding. A cost is kept times 8, and each edge adds its number in the order of preference, 0 for the literal: the
// smallest sum is then the cheapest edge, and on equal cost the preferred one, in one minimum an edge. What a lane keeps of
// costs, and how it looks for a match's cheapest edge, is EdgeSearch; a model whose lengths allow a shorter way than the
// general one has a specialisation beside its instantiation.
//
// Shared memory: 32 * kNear words a warp, which is the whole block. Synchronisation: none; the lanes of a warp only agree where to
// begin. Work: 1.25 positions a position, each O(tried lengths). Registers: at most 128. CPU twin: solve_segment() in
// optimal_reference.hpp. Source: the segmented parse of founding document 000 (docs/founding.md). Holding all costs in shared
// memory would be simpler, but takes 160 KB a warp.
#pragma once

#include <bit>
#include <type_traits>

#include "core/match.hpp"
#include "gpu/cuda/kernel_registry.hpp"
#include "gpu/cuda/kernel_trace.hpp"
#include "parse/optimal/optimal_cuda.hpp"
#include "parse/optimal/optimal_tuning.hpp"
#include "parse/usable_length.cuh"

namespace hemstitch::cuda {

inline constexpr unsigned kSolvedPositions = kSegmentPositions + kLookAheadPositions;

// Positions whose records a lane loads together, and those that look up near costs together.
inline constexpr unsigned kChunkPositions = 8;
inline constexpr unsigned kBatchPositions = 4;

// Batches of costs that a lane keeps in device memory: a segment may begin anywhere in its first chunk.
inline constexpr unsigned kFarBatches = (kSolvedPositions + kChunkPositions) / kBatchPositions;
static_assert(kSolvedPositions % kChunkPositions == 0);

// Bits below a cost for the number of an edge.
inline constexpr unsigned kEdgeBits = 3;
inline constexpr std::uint32_t kEdgeMask = (1u << kEdgeBits) - 1;
static_assert(std::uint64_t{kSolvedPositions + 1} * kMaxUnitCost << kEdgeBits < std::uint64_t{1} << 32,
              "the cost of a segment, with an edge's number, has 32 bits");

constexpr std::uint32_t segment_count(std::uint32_t block_bytes) {
  return block_bytes / kSegmentPositions + (block_bytes % kSegmentPositions != 0);
}

// What a lane keeps of its segment: a word for each of the last kNear positions, and a FarWord for every one.
// Their types are the search's.
template <unsigned kNear, class Search>
struct LaneCosts {
  using NearWord = typename Search::NearWord;
  using FarWord = typename Search::FarWord;
  struct alignas(kBatchPositions * sizeof(FarWord)) FarBatch {
    FarWord words[kBatchPositions];
  };

  NearWord* sh_near;  // the lane's column
  FarBatch* d_far;
  std::uint32_t end;  // the horizon

  // For the last kNear positions that were kept.
  __device__ NearWord* near(std::uint32_t position) const { return sh_near + position * 32 % (kNear * 32); }
  // For positions kept at least a chunk ago, and before the horizon.
  __device__ FarWord far(std::uint32_t position) const {
    // That is d_far[position / 4 * 32].words[position % 4], in fewer instructions.
    return reinterpret_cast<const FarWord*>(d_far)[position * 32 - position % kBatchPositions * 31];
  }
  __device__ void keep(std::uint32_t first, const NearWord (&words)[kBatchPositions],
                       const FarWord (&far_words)[kBatchPositions]) const {
    static_assert(kNear % kBatchPositions == 0);
    NearWord* const column = near(first);
#pragma unroll
    for (unsigned i = 0; i < kBatchPositions; ++i) column[i * 32] = words[i];
    d_far[first / kBatchPositions * 32] = {far_words[0], far_words[1], far_words[2], far_words[3]};
  }
};

// Whether a model's costs are whole bits, and those of a segment are below 65536 bits: then memory has 16 bits for each.
template <typename Model>
struct NarrowCosts {
  static constexpr bool kAlways = false;
  static bool fit(const Model&) { return false; }
};
template <>
struct NarrowCosts<FullLengthCostModel> {
  static constexpr bool kAlways = false;
  static bool fit(const FullLengthCostModel& model) {
    return model.literal_cost_bits < 65536 / (kFarBatches * kBatchPositions);
  }
};

// How a lane finds the cheapest edge of each position, for any model: it looks up the cost after each length.
template <typename Model, bool kNarrow>
class EdgeSearch {
 public:
  static constexpr unsigned kEdges = Model{}.tried_length_count();
  static_assert(kEdges <= kEdgeMask);
  using NearWord = std::uint32_t;
  using FarWord = std::conditional_t<kNarrow, std::uint16_t, std::uint32_t>;

  static __device__ NearWord at_horizon() { return 0; }

  // The costs in device memory that a match needs.
  struct Far {
    FarWord words[kEdges];
  };

  __device__ EdgeSearch(const Model& model, std::uint32_t shortest)
      : model_(model), literal_cost_(model.literal_cost() << kEdgeBits), shortest_(shortest) {}

  template <unsigned kNear>
  __device__ Far far(const LaneCosts<kNear, EdgeSearch>& costs, std::uint32_t position,
                     std::uint32_t full_length) const {
    Far found;
#pragma unroll
    for (unsigned edge = 0; edge < kEdges; ++edge) {
      const std::uint32_t length = legal_length(full_length, edge), target = position + length;
      found.words[edge] = length > kNear && target < costs.end ? costs.far(target) : FarWord{0};
    }
    return found;
  }

  // Decides for the positions first .. first + 3, whose usable matches have these lengths: the length to take, or 0.
  template <unsigned kNear>
  __device__ void solve(const LaneCosts<kNear, EdgeSearch>& costs, std::uint32_t first,
                        const std::uint32_t* lengths, const Far* far, std::uint32_t* decisions) {
    const auto cheapest_match = [&](unsigned i) {
      const std::uint32_t position = first + i;
      const std::uint32_t most_priced = max(costs.end - position, shortest_);
      std::uint32_t best = 0xFFFFFFFFu;
#pragma unroll
      for (unsigned edge = 0; edge < kEdges; ++edge) {
        const std::uint32_t length = legal_length(lengths[i], edge);
        const std::uint32_t near = *costs.near(position + length);
        const std::uint32_t behind = length <= kNear ? near : std::uint32_t{far[i].words[edge]} << kFarShift;
        const std::uint32_t price = model_.match_cost(min(length, most_priced));
        best = min(best, behind + ((price << kEdgeBits) + edge + 1));
      }
      return lengths[i] == 0 ? 0xFFFFFFFFu : best;
    };
    // Shorter matches may end among the four.
    const bool together = shortest_ >= kBatchPositions;
    std::uint32_t matches[kBatchPositions];
    if (together)
#pragma unroll
      for (unsigned i = kBatchPositions; i-- > 0;) matches[i] = cheapest_match(i);
    std::uint32_t words[kBatchPositions];
    FarWord far_words[kBatchPositions];
#pragma unroll
    for (unsigned i = kBatchPositions; i-- > 0;) {
      if (!together) matches[i] = cheapest_match(i);
      const std::uint32_t best = min(cost_ + (first + i < costs.end ? literal_cost_ : 0), matches[i]);
      const std::uint32_t edge = best & kEdgeMask;
      cost_ = best - edge;
      if (!together) *costs.near(first + i) = cost_;
      words[i] = cost_;
      far_words[i] = static_cast<FarWord>(cost_ >> kFarShift);
      decisions[i] = edge == 0 ? 0 : legal_length(lengths[i], edge - 1);
    }
    costs.keep(first, words, far_words);
  }

 private:
  static constexpr unsigned kFarShift = kNarrow ? kEdgeBits + std::countr_zero(kCostUnitsPerBit) : 0;

  // A missing edge, or one shorter than the format's shortest match, gets the length of an earlier edge, which then costs the same
  // and is preferred. So edges need no tests of their own.
  __device__ std::uint32_t legal_length(std::uint32_t full_length, unsigned edge) const {
    if (edge == 0) return full_length;
    const std::uint32_t tried = model_.tried_length(full_length, edge);
    return tried >= shortest_ ? tried : full_length;
  }

  const Model model_;
  const std::uint32_t literal_cost_, shortest_;
  std::uint32_t cost_ = 0;  // of the position to the right
};

// Four records of a lane's segment. The same lane soon needs the records before them, so the whole line is loaded from the device's
// memory at once.
__device__ inline uint4 load_records(const MatchRecord* d_records) {
  uint4 words;
  asm("ld.global.nc.L2::128B.v4.u32 {%0, %1, %2, %3}, [%4];"
      : "=r"(words.x), "=r"(words.y), "=r"(words.z), "=r"(words.w)
      : "l"(d_records));
  return words;
}

// Eight neighbouring positions of a lane.
struct Chunk {
  std::uint32_t records[kChunkPositions];
};

template <typename Model, bool kNarrow, unsigned kNear>
__global__ void __launch_bounds__(32)
    solve_segments(const DeviceBlock* __restrict__ d_blocks, std::uint32_t block_count,
                   const std::uint64_t* __restrict__ d_first_segment,
                   const MatchRecord* __restrict__ d_records, const BlockPlan plan, const Model model,
                   std::uint16_t* __restrict__ d_lengths, void* d_far_costs) {
  using Search = EdgeSearch<Model, kNarrow>;
  using Costs = LaneCosts<kNear, Search>;
  static_assert((kNear & (kNear - 1)) == 0 && kNear >= 4 * kChunkPositions,
                "what is not near was kept before the chunk that looks it up early");
  __shared__ typename Search::NearWord sh_near[kNear * 32];

  const unsigned lane = threadIdx.x;
  const std::uint64_t all_segments = d_first_segment[block_count];
  const std::uint32_t shortest = shortest_match(plan);
  const bool whole_words = reinterpret_cast<std::uintptr_t>(d_records) % sizeof(uint4) == 0;

  for (std::uint64_t group = blockIdx.x; group * 32 < all_segments; group += gridDim.x) {
    if (lane == 0) trace_mark(kTraceSolveSegments, static_cast<std::uint32_t>(group));
    // From here on positions count from the multiple of 8 of the batch at or before the segment: the segment's begin, its end, and
    // the horizon.
    std::uint32_t begin = 0, own_end = 0;
    const MatchRecord* records = d_records;
    std::uint16_t* decided = d_lengths;
    UsableLengths usable(plan, 0, 0);
    Costs costs{sh_near + lane,
                static_cast<typename Costs::FarBatch*>(d_far_costs) +
                    std::size_t{blockIdx.x} * kFarBatches * 32 + lane,
                0};
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
      const std::uint32_t in_block =
          static_cast<std::uint32_t>(segment - d_first_segment[low]) * kSegmentPositions;
      const std::uint32_t rest = block_bytes - in_block;
      const std::uint64_t first = d_blocks[low].position + in_block;
      begin = static_cast<std::uint32_t>(first % kChunkPositions);
      own_end = begin + min(rest, static_cast<std::uint32_t>(kSegmentPositions));
      costs.end = begin + min(rest, kSolvedPositions);
      records += first - begin;
      decided += first - begin;
      usable = UsableLengths(plan, block_bytes, in_block);
      usable.count_from(begin);
    }

    const auto load = [&](int chunk) {
      Chunk loaded;
      const std::uint32_t at = static_cast<std::uint32_t>(chunk) * kChunkPositions;
      if (whole_words && at >= begin && at + kChunkPositions <= costs.end) {
        const uint4 low = load_records(records + at), high = load_records(records + at + 4);
        loaded = {{low.x, low.y, low.z, low.w, high.x, high.y, high.z, high.w}};
      } else {
#pragma unroll
        for (unsigned i = 0; i < kChunkPositions; ++i)
          loaded.records[i] = at + i >= begin && at + i < costs.end ? records[at + i] : 0;
      }
      return loaded;
    };
    const auto store = [&](int chunk, const uint4& decisions) {
      const std::uint32_t at = static_cast<std::uint32_t>(chunk) * kChunkPositions;
      if (at >= begin && at + kChunkPositions <= own_end) {
        *reinterpret_cast<uint4*>(decided + at) = decisions;
      } else if (at < own_end) {
        const std::uint32_t pairs[] = {decisions.x, decisions.y, decisions.z, decisions.w};
#pragma unroll
        for (unsigned i = 0; i < kChunkPositions; ++i)
          if (at + i >= begin && at + i < own_end)
            decided[at + i] = static_cast<std::uint16_t>(pairs[i / 2] >> i % 2 * 16);
      }
    };

    unsigned most = costs.end;
#pragma unroll
    for (unsigned distance = 16; distance > 0; distance /= 2)
      most = max(most, __shfl_xor_sync(~0u, most, distance));
    const int top = static_cast<int>((most + kChunkPositions - 1) / kChunkPositions) - 1;
#pragma unroll
    for (unsigned i = 0; i < kNear; ++i) sh_near[i * 32 + lane] = Search::at_horizon();

    Search search(model, shortest);
    std::uint32_t next_lengths[kChunkPositions];
    typename Search::Far next_far[kChunkPositions];
    const auto look_ahead = [&](int chunk, const Chunk& loaded) {
#pragma unroll
      for (unsigned i = 0; i < kChunkPositions; ++i) {
        const std::uint32_t position = static_cast<std::uint32_t>(chunk) * kChunkPositions + i;
        next_lengths[i] = usable(loaded.records[i], position);
        next_far[i] = search.far(costs, position, next_lengths[i]);
      }
    };
    look_ahead(top, load(top));
    Chunk loaded = top > 0 ? load(top - 1) : Chunk{};
    uint4 held[3]{};  // decisions of the chunks after this one, up to a multiple of four
    for (int chunk = top; chunk >= 0; --chunk) {
      std::uint32_t lengths[kChunkPositions], decisions[kChunkPositions];
      typename Search::Far far[kChunkPositions];
#pragma unroll
      for (unsigned i = 0; i < kChunkPositions; ++i) lengths[i] = next_lengths[i], far[i] = next_far[i];
      if (chunk > 0) look_ahead(chunk - 1, loaded);
      if (chunk > 1) loaded = load(chunk - 2);
#pragma unroll
      for (int i = kChunkPositions - kBatchPositions; i >= 0; i -= kBatchPositions)
        search.solve(costs, static_cast<std::uint32_t>(chunk) * kChunkPositions + i, lengths + i, far + i,
                     decisions + i);
      const uint4 packed = {decisions[0] | decisions[1] << 16, decisions[2] | decisions[3] << 16,
                            decisions[4] | decisions[5] << 16, decisions[6] | decisions[7] << 16};
      if (chunk % 4 != 0) {
        if (chunk % 4 == 3) held[2] = packed;
        if (chunk % 4 == 2) held[1] = packed;
        if (chunk % 4 == 1) held[0] = packed;
      } else {
        store(chunk + 3, held[2]);
        store(chunk + 2, held[1]);
        store(chunk + 1, held[0]);
        store(chunk, packed);
      }
    }
  }
}

constexpr KernelBudget kSolveBudget("optimal.solve_segments", "solve_segments",
                                    {.threads = 32, .registers = 128, .shared_bytes = 10 * 1024});

}  // namespace hemstitch::cuda
