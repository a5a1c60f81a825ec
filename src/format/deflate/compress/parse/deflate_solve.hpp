// How one lane of a device solves a segment of a chunk (parse/optimal/optimal.hpp), four positions a step, from the last one to the first.
// For host and device, so that tests without a device hold it to the twin.
//
// All prices are whole bits, so a position's cost takes 16 bits. No match is longer than 258, so only the last 264 costs can
// matter: they are kept in a ring. Its last three rows also stand before row 0, as rows -1 to -3, so the costs for a match and for
// the three lengths below it are in neighbouring rows.
//
// An edge's cost and its choice (deflate_edges.hpp) make one number, with the cost in the upper bits: the smallest is the cheapest
// edge, and of equal ones the preferred one. A missing edge costs more than any real path.
//
// Four positions look their costs up together, before the first of them is solved. Matches of four bytes or more end after these
// four positions. So do matches of three bytes, except at the lowest position: there they take the highest position's cost once it
// is known. Until then the ring has a huge number in its place.
#pragma once

#include <cstddef>
#include <cstdint>

#include "core/host_device.hpp"
#include "format/deflate/compress/parse/deflate_device_costs.hpp"
#include "format/deflate/compress/parse/deflate_edges.hpp"
#include "parse/optimal/optimal_tuning.hpp"

namespace hemstitch {

// Positions of a step.
inline constexpr std::uint32_t kDeflateStep = 4;
// Rows of the ring, a multiple of two steps, and how many of them are repeated before it.
inline constexpr std::uint32_t kDeflateRing = 264;
inline constexpr std::uint32_t kDeflateMirror = 3;
static_assert(kDeflateRing >= kDeflateMaxMatchBytes + kDeflateStep && kDeflateRing % (2 * kDeflateStep) == 0);

// Prices as the lanes of a chunk look them up.
struct DeflatePriceTable {
  static constexpr std::uint32_t kLengths = 260;
  // The price of a missing length, in bits. A row of the ring that is not yet overwritten belongs to a position up to kDeflateRing
  // farther on than it seems, so its cost is too small by as much.
  static constexpr std::uint16_t kNoLength = 16383;
  static_assert(kNoLength > (kDeflateRing + kDeflateMirror + 2 * kDeflateStep) * kDeflateMostPriceBits);
  // The price of a missing offset, in the form of distances' prices. No cost comes near it.
  static constexpr std::uint32_t kNoOffset = 1u << 30;
  static_assert((kSegmentPositions + kLookAheadPositions) * kDeflateMostPriceBits < kNoOffset >>
                kDeflateChoiceBits);

  std::uint32_t distances[32];  // above kDeflateChoiceBits
  std::uint16_t lengths[kLengths];
  std::uint8_t literals[256];

  HEMSTITCH_HOST_DEVICE void set_literal(std::uint32_t literal, const DeflateDeviceCosts& costs) {
    literals[literal] = costs.literals[literal];
  }
  HEMSTITCH_HOST_DEVICE void set_length(std::uint32_t length, const DeflateDeviceCosts& costs) {
    lengths[length] = length < kDeflateMinMatchBytes ? kNoLength : costs.lengths[length];
  }
  HEMSTITCH_HOST_DEVICE void set_distance(std::uint32_t symbol, const DeflateDeviceCosts& costs) {
    distances[symbol] = symbol < kDeflateDistanceCount
                            ? static_cast<std::uint32_t>(costs.distances[symbol]) << kDeflateChoiceBits
                            : kNoOffset;
  }
};

// The rows of a lane's ring are kStride numbers apart. All of them, the mirrored ones too, are 0 at first.
template <std::uint32_t kStride>
class DeflateSolver {
 public:
  // `row_0` is the lane's number in the ring's row 0.
  HEMSTITCH_HOST_DEVICE DeflateSolver(std::uint16_t* row_0, const DeflatePriceTable& prices)
      : row_0_(row_0), prices_(prices) {}

  // The positions first to first + 3, which stand in the ring's rows from `row` on (a multiple of 4) and offer `edges`; the horizon is
  // `end`. Positions from there on offer kDeflateNoEdges and cost nothing.
  HEMSTITCH_HOST_DEVICE void solve(std::uint32_t first, std::uint32_t row, std::uint32_t end,
                                   const DeflateEdges* edges, DeflateChoice* choices) {
    put(row + 3, kUnknown);
    std::uint32_t best[kDeflateStep], three[kDeflateStep];
    for (std::uint32_t i = kDeflateStep; i-- > 0;) {
      const std::uint32_t record_distance = prices_.distances[edges_record_symbol(edges[i])];
      const std::uint32_t near_distance = prices_.distances[edges_near_symbol(edges[i])];
      const std::uint32_t length = edges_length(edges[i]), near_length = edges_near_length(edges[i]);
      const std::uint32_t smaller = edges_near_is_smaller(edges[i]) ? 1 : 0;
      // A match is priced by what of it lies before the horizon, but never less than the shortest one.
      const std::uint32_t most_priced =
          smaller_of(larger_of(end - (first + i), kDeflateMinMatchBytes), kDeflateMaxMatchBytes);

      const std::uint16_t* const behind = row_0_ + wrapped(row + i + length) * static_cast<int>(kStride);
      best[i] = 0xFFFFFFFFu;
      for (std::uint32_t less = 0; less < 4; ++less) {
        // Without a record this may be a huge length, but then the offset's price rules it out.
        const std::uint32_t price = prices_.lengths[smaller_of(length - less, most_priced)];
        const std::uint32_t cost = *(behind - less * static_cast<int>(kStride)) + price;
        best[i] = smaller_of(best[i], (cost << kDeflateChoiceBits) + record_distance + (smaller << 1) +
                                          ((deflate_detail::kMostChoiceLength - length + less) << 2));
      }
      const std::uint32_t near_order = (smaller ^ 1) << 1 | 1;
      const std::uint32_t near_cost = row_0_[wrapped(row + i + near_length) * static_cast<int>(kStride)] +
                                      std::uint32_t{prices_.lengths[smaller_of(near_length, most_priced)]};
      best[i] = smaller_of(best[i], (near_cost << kDeflateChoiceBits) + near_distance + near_order +
                                        ((deflate_detail::kMostChoiceLength - near_length) << 2));
      // Three bytes: those of the nearer match, and those of the record if three is among the lengths tried.
      const bool tries_three = length - kDeflateMinMatchBytes < 4;
      const std::uint32_t record_three =
          tries_three ? record_distance + (smaller << 1) : DeflatePriceTable::kNoOffset;
      three[i] = smaller_of(record_three, near_distance + near_order);
    }

    const std::uint32_t price_of_three =
        (std::uint32_t{prices_.lengths[kDeflateMinMatchBytes]} << kDeflateChoiceBits) +
        ((deflate_detail::kMostChoiceLength - kDeflateMinMatchBytes) << 2);
    std::uint32_t costs[kDeflateStep];  // shifted by kDeflateChoiceBits, like the costs after the step
    for (std::uint32_t i = kDeflateStep; i-- > 0;) {
      const std::uint32_t behind_three = i == 0 ? costs[3] : behind_[i - 1];
      const std::uint32_t literal = first + i < end ? std::uint32_t{prices_.literals[edges_literal(edges[i])]}
                                                          << kDeflateChoiceBits
                                                    : 0;
      const std::uint32_t next = i == kDeflateStep - 1 ? behind_[0] : costs[i + 1];
      const std::uint32_t sum =
          smaller_of(next + literal, smaller_of(best[i], behind_three + price_of_three + three[i]));
      choices[i] = sum & kChoiceMask;
      costs[i] = sum & ~kChoiceMask;
    }
    for (std::uint32_t i = 0; i < 3; ++i) behind_[i] = costs[i];
    for (std::uint32_t i = 0; i < kDeflateStep; ++i)
      put(row + i, static_cast<std::uint16_t>(costs[i] >> kDeflateChoiceBits));
  }

 private:
  static constexpr std::uint16_t kUnknown = 0xFFFF;
  static constexpr std::uint32_t kChoiceMask = (1u << kDeflateChoiceBits) - 1;
  static_assert((kSegmentPositions + kLookAheadPositions) * kDeflateMostPriceBits < kUnknown,
                "a cost has 16 bits, and what is unknown costs more");

  static HEMSTITCH_HOST_DEVICE constexpr std::uint32_t smaller_of(std::uint32_t a, std::uint32_t b) {
    return a < b ? a : b;
  }
  static HEMSTITCH_HOST_DEVICE constexpr std::uint32_t larger_of(std::uint32_t a, std::uint32_t b) {
    return a > b ? a : b;
  }
  // For a row below twice the ring's size. A negative number counts as a huge one.
  static HEMSTITCH_HOST_DEVICE constexpr int wrapped(std::uint32_t row) {
    return static_cast<int>(smaller_of(row, row - kDeflateRing));
  }

  HEMSTITCH_HOST_DEVICE void put(std::uint32_t row, std::uint16_t cost) {
    row_0_[row * kStride] = cost;
    if (row >= kDeflateRing - kDeflateMirror)
      row_0_[(static_cast<int>(row) - static_cast<int>(kDeflateRing)) * static_cast<int>(kStride)] = cost;
  }

  std::uint16_t* row_0_;
  const DeflatePriceTable& prices_;
  std::uint32_t behind_[3] = {};  // the costs of the three positions behind the step
};

}  // namespace hemstitch
