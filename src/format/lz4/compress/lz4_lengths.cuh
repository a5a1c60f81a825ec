// LZ4's lengths for the optimal parse on a CUDA device.
//
// Of a match of L bytes the lengths L .. L-3 and 18 are tried. Looking each up would cost five accesses a position; here one is
// enough, and a few that positions share. Beside the cost of each position p, in bytes times 8, a lane keeps the best of four:
//
//   best_of_four(p) = min( cost(p+3) + 1, cost(p+2) + 2, cost(p+1) + 3, cost(p) + 4 )
//
// where 1 to 4 are the edges' numbers. All four lengths of a match have one price unless an extension byte lies between
// them, so its best edge is best_of_four(p + L - 3) and that price: one access. Shorter matches than 7 bytes have fewer
// lengths; theirs are the minima over the first one, two and three positions. These were intermediate results of best_of_four()
// four positions ago and are still in registers. For matches of 19 to 21 bytes, some of the four lengths are 18 or less and a byte
// cheaper: 18, 17 and 16 are three more edges. Their costs are at the same distance for every position, so they pass from register
// to register. Where an extension byte lies between lengths of more than 21, or the format's shortest match is not LZ4's, the four
// costs are looked up (few_lengths()).
#pragma once

#include "format/lz4/compress/lz4_cost.hpp"
#include "parse/optimal/optimal_kernel.cuh"

namespace hemstitch::cuda {

template <>
struct NarrowCosts<Lz4CostModel> {
  static constexpr bool kAlways = true;
};

template <>
class EdgeSearch<Lz4CostModel, true> {
 public:
  struct alignas(4) NearWord {
    std::uint16_t best_of_four, cost;
  };
  // A word in device memory: best_of_four, and in the upper two bits by how many bytes the position's own cost is higher. Since
  // literals cost a byte, that is at most 3.
  using FarWord = std::uint16_t;
  using Far = std::uint16_t;  // the word that the match looks up

  __device__ EdgeSearch(const Lz4CostModel&, std::uint32_t shortest)
      : shortest_(shortest),
        first_with_18_(shortest <= 16                   ? kLz4LongestInToken + 1
                       : shortest <= kLz4LongestInToken ? kLz4LongestInToken + 4
                                                        : ~0u),
        few_below_(shortest == kLz4MinMatchBytes
                       ? 0
                       : max(shortest + 3, shortest <= 16 ? 0 : kLz4LongestInToken + 4)) {}

  static __device__ NearWord at_horizon() { return {1, 0}; }

  template <unsigned kNear>
  __device__ Far far(const LaneCosts<kNear, EdgeSearch>& costs, std::uint32_t position,
                     std::uint32_t length) const {
    const std::uint32_t target = position + length - 3;
    return length > kNear + 3 && target < costs.end ? costs.far(target) : Far{1};
  }

  template <unsigned kNear>
  __device__ void solve(const LaneCosts<kNear, EdgeSearch>& costs, std::uint32_t first,
                        const std::uint32_t* lengths, const Far* far, std::uint32_t* decisions) {
    std::uint32_t cost_16[kBatchPositions + 2];  // from position first + 16 on
#pragma unroll
    for (unsigned i = 0; i < kBatchPositions; ++i) cost_16[i] = costs.near(first + 16)[i * 32].cost;
    cost_16[kBatchPositions] = cost_20_, cost_16[kBatchPositions + 1] = cost_21_;
    cost_20_ = cost_16[0], cost_21_ = cost_16[1];

    std::uint32_t matches[kBatchPositions];
    bool is_few[kBatchPositions], any_few = false;
#pragma unroll
    for (unsigned i = kBatchPositions; i-- > 0;) {
      const std::uint32_t position = first + i, length = lengths[i];
      const std::uint32_t near = costs.near(position + length - 3)->best_of_four;
      std::uint32_t best = length <= kNear + 3 ? near : far[i] & kFarBestMask;
      best = length == 4 ? best_of_one_[i] : best;
      best = length == 5 ? best_of_two_[i] : best;
      best = length == 6 ? best_of_three_[i] : best;
      const std::uint32_t priced = min(length, most_priced(costs.end, position));
      const std::uint32_t extension_bytes = (priced + kToNextExtension) * 32897 >> 23;
      best += (kBytes + extension_bytes) << kEdgeBits;
      // From two extension bytes on; the prices of 19 to 21 bytes are handled right here.
      is_few[i] = (extension_bytes >= 2 && priced + kToNextExtension - extension_bytes * 255 < 3) ||
                  length < few_below_;
      any_few = any_few || is_few[i];
      constexpr std::uint32_t kPrice = kBytes << kEdgeBits;
      const std::uint32_t for_18 = cost_16[i + 2] + (kPrice + 5);
      const std::uint32_t for_17 = min(cost_16[i + 1] + (kPrice + 6), for_18);
      const std::uint32_t for_16 = min(cost_16[i] + (kPrice + 7), for_17);
      const std::uint32_t in_token = length == 19 ? for_16 : length == 20 ? for_17 : for_18;
      best = min(best, length >= first_with_18_ ? in_token : ~0u);
      matches[i] = length == 0 ? ~0u : best;
    }
    if (any_few)
#pragma unroll
      for (unsigned i = 0; i < kBatchPositions; ++i)
        if (is_few[i] && lengths[i] != 0) {
          const std::uint32_t best =
              few_lengths(costs, first + i, lengths[i], most_priced(costs.end, first + i));
          // A match that costs too much keeps its price. One that is too short is dropped.
          matches[i] = lengths[i] < few_below_ ? best : min(best, matches[i]);
        }

    NearWord words[kBatchPositions];
    FarWord far_words[kBatchPositions];
#pragma unroll
    for (unsigned i = kBatchPositions; i-- > 0;) {
      const std::uint32_t best = min(costs_[0] + (first + i < costs.end ? kLiteral : 0), matches[i]);
      const std::uint32_t edge = best & kEdgeMask, now = best - edge;
      best_of_one_[i] = now + 1;
      best_of_two_[i] = min(best_of_one_[i], costs_[0]) + 1;
      best_of_three_[i] = min(best_of_two_[i], costs_[1]) + 1;
      const std::uint32_t best_of_four = min(best_of_three_[i], costs_[2]) + 1;
      words[i] = {static_cast<std::uint16_t>(best_of_four), static_cast<std::uint16_t>(now)};
      far_words[i] = static_cast<FarWord>(best_of_four + ((now - (best_of_four & ~kEdgeMask)) << kFarShift));
      costs_[2] = costs_[1], costs_[1] = costs_[0], costs_[0] = now;
      const std::uint32_t length = edge <= 4 ? lengths[i] + 1 - edge : 18 + 5 - edge;
      decisions[i] = edge == 0 ? 0 : length;
    }
    costs.keep(first, words, far_words);
  }

 private:
  static constexpr std::uint32_t kBytes = 1 + kLz4OffsetBytes;  // of a match without extension bytes
  static constexpr std::uint32_t kLiteral = 1 << kEdgeBits;
  static constexpr std::uint32_t kToNextExtension = 255 - kLz4NibbleMax - kLz4MinMatchBytes;
  static_assert(Lz4CostModel{}.literal_cost() == Lz4CostModel::kUnitsPerByte &&
                Lz4CostModel{}.match_cost(18) == kBytes * Lz4CostModel::kUnitsPerByte &&
                Lz4CostModel{}.match_cost(273) == (kBytes + 1) * Lz4CostModel::kUnitsPerByte &&
                Lz4CostModel{}.match_cost(274) == (kBytes + 2) * Lz4CostModel::kUnitsPerByte &&
                Lz4CostModel::kShorterLengthCount == 3 && kLz4LongestInToken == 18 && kLz4MinMatchBytes == 4);
  static constexpr unsigned kFarBestBits = 14, kFarShift = kFarBestBits - kEdgeBits;
  static constexpr std::uint32_t kFarBestMask = (1u << kFarBestBits) - 1;
  static_assert((kFarBatches * kBatchPositions << kEdgeBits) + kEdgeMask <= kFarBestMask);

  static __device__ std::uint32_t far_cost(FarWord word) {
    return (word & kFarBestMask & ~kEdgeMask) + (word >> kFarBestBits << kEdgeBits);
  }

  // priced_length() of optimal.hpp: only the part before the horizon.
  __device__ std::uint32_t most_priced(std::uint32_t horizon, std::uint32_t position) const {
    return max(horizon - position, shortest_);
  }

  // The best of a match's first four edges, each looked up and priced on its own.
  template <unsigned kNear>
  __device__ std::uint32_t few_lengths(const LaneCosts<kNear, EdgeSearch>& costs, std::uint32_t position,
                                       std::uint32_t full_length, std::uint32_t most_priced) const {
    std::uint32_t best = ~0u;
#pragma unroll 1
    for (std::uint32_t shorter = 0; shorter <= 3 && full_length >= shortest_ + shorter; ++shorter) {
      const std::uint32_t length = full_length - shorter, target = position + length;
      const std::uint32_t behind = length <= kNear      ? costs.near(target)->cost
                                   : target < costs.end ? far_cost(costs.far(target))
                                                        : 0;
      const std::uint32_t priced = min(length, most_priced);
      const std::uint32_t bytes = kBytes + ((priced + kToNextExtension) * 32897 >> 23);
      best = min(best, behind + (bytes << kEdgeBits) + shorter + 1);
    }
    return best;
  }

  const std::uint32_t shortest_;
  const std::uint32_t first_with_18_;  // lengths from here on have edges for 18 and less
  const std::uint32_t few_below_;      // lengths below this are looked up one by one
  // For the four positions after this one: minima of costs, with the numbers of their edges.
  std::uint32_t best_of_one_[kBatchPositions] = {1, 1, 1, 1}, best_of_two_[kBatchPositions] = {1, 1, 1, 1},
                best_of_three_[kBatchPositions] = {1, 1, 1, 1};
  std::uint32_t costs_[3] = {0, 0, 0};  // of the three positions to the right
  std::uint32_t cost_20_ = 0, cost_21_ = 0;
};

}  // namespace hemstitch::cuda
