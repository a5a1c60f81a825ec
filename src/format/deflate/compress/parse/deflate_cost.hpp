// What literals and matches cost in a DEFLATE block: the cost model of its parse (parse/optimal/optimal.hpp).
//
// A chunk is parsed several times. In the first pass nothing is known of its codes: a literal counts as 8
// bits; a length as 6 bits, a quarter of its symbol's number (from 0, rounded down) and its extra bits; a
// distance as 5 bits and its extra bits. Every later pass uses the code lengths that the pass before would
// have written. A symbol that did not occur has no code length; it counts as a rare one.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "core/cost_model.hpp"
#include "format/deflate/compress/codes/deflate_block.hpp"
#include "format/deflate/compress/codes/deflate_prices.hpp"
#include "parse/optimal/cost_table.hpp"

namespace hemstitch {

static_assert(offset_class(5) == deflate_distance_symbol(5) &&
              offset_class(32768) == deflate_distance_symbol(32768));

struct DeflateCosts {
  std::array<std::uint32_t, 256> literals = {};
  std::array<std::uint32_t, kDeflateMaxMatchBytes + 1> lengths = {};
  std::array<std::uint32_t, kOffsetClassCount> distances = {};  // the classes are DEFLATE's symbols

  std::uint32_t literal_cost(std::byte literal) const { return literals[static_cast<std::size_t>(literal)]; }
  std::uint32_t match_cost(std::uint32_t length) const { return lengths[length]; }
  std::uint32_t offset_cost(std::uint32_t offset) const { return distances[offset_class(offset)]; }

  // For a match: the full length and the three below it.
  unsigned tried_length_count() const { return 4; }
  std::uint32_t tried_length(std::uint32_t full_length, unsigned index) const {
    return full_length >= kDeflateMinMatchBytes + index ? full_length - index : 0;
  }
  // For the nearer match: its length, at most kDeflateNearMatchBytes, and 3.
  unsigned tried_near_length_count() const { return 2; }
  std::uint32_t tried_near_length(std::uint32_t full_length, unsigned index) const {
    return index == 0 ? full_length : kDeflateMinMatchBytes;
  }
};

// The costs of the first pass.
DeflateCosts deflate_prior_costs();
// The costs of a pass after one with these code lengths.
DeflateCosts deflate_costs_of(const DeflateCodeLengths& lengths);

}  // namespace hemstitch
