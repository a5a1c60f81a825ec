// optimal: the cheapest way through a block, given one candidate match a position.
//
// Let cost(p) be the lowest cost of coding everything from position p to the end. A position has few edges:
// one literal, which leads to p+1, or its match, cut to one of the model's `tried lengths`, which leads to
// p+length. So
//
//   cost(end) = 0,   cost(p) = min( literal + cost(p+1), min over tried lengths L of match(L) + cost(p+L) )
//
// Solving this from the end to the front gives, at each position, the best decision *from there on*; walking
// from the front along these decisions is the optimum. (Solving from the front gives the cost to reach p. Then the walk must go
// backwards along predecessors, since an edge whose costs add up need not be optimal.) On equal cost the literal wins, then the
// longer match: lengths are tried from the longest down, and each replaces the best only when strictly cheaper.
//
// Segments. A whole block is one long dependent loop. `parse_optimal` cuts the block into segments of 1024
// positions that are solved independently of each other: each is solved backwards over itself plus 256
// positions of look-ahead (never past the block), up to its horizon. Everything from the horizon on counts as free: the positions
// there, and the part of a match that crosses it (priced_length()). If a match of 65535 bytes were priced in full, it would lose to
// a chain of short ones that end at the horizon. This is an approximation, but it hardly affects decisions 256 positions earlier:
// the result is within 0.01 % of the optimum. The walk through the decisions crosses segments freely: it starts in a segment where
// the last match of the one before it ended. On a device one thread solves one segment. It keeps the decisions of its own 1024
// positions, and a ring of costs: lengths up to the ring's size find their costs there. Costs of longer jumps may be looked up in
// workgroup or global memory; at or beyond the horizon the cost is 0.
//
// `parse_optimal_exact` is one segment over the whole block: for measuring finders, and for testing the
// other.
//
// Costs are integers (core/cost_model.hpp): no rounding decides a byte. Within a segment 32 bits suffice:
// 1280 literals of 9 bits are 184,320 units.
//
// A cost model `Model` gives
//   literal_cost()                    units of one literal
//   match_cost(length)                units of one match
//   offset_cost(offset)               units more of one match; only where a model has such (cost_table.hpp)
//   tried_length_count()              how many lengths of a match are tried, the full one included
//   tried_length(full_length, index)  the index-th of them, longest first; 0 where there is none
//
// A model may price each literal (DEFLATE's): then it gives literal_cost(byte), and the parse reads the block's content. It may also
// take a second candidate a position (BasicParseInput::near_records), with lengths of its own to try:
//   tried_near_length_count(), tried_near_length(full_length, index)   as above
// The second one is left out where its offset is the first one's. On equal cost the literal wins, then the longer match, of
// either candidate, then the one with the smaller offset. Devices have this only for DEFLATE's prices:
// format/deflate/compress/parse/deflate_parse.cu and deflate_parse.wgsl.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "core/cost_model.hpp"
#include "core/host_device.hpp"
#include "parse/parse.hpp"

namespace hemstitch {

// The flat model of founding document 000 (docs/founding.md) with one edge a match: its full length.
struct FullLengthCostModel : CostModel {
  HEMSTITCH_HOST_DEVICE constexpr unsigned tried_length_count() const { return 1; }
  HEMSTITCH_HOST_DEVICE constexpr std::uint32_t tried_length(std::uint32_t full_length,
                                                             unsigned /*index*/) const {
    return full_length;
  }
};

// The length by which a match is priced at `room` positions before the horizon: its part before the horizon, but never less than
// the format's shortest match.
HEMSTITCH_HOST_DEVICE constexpr std::uint32_t priced_length(std::uint32_t length, std::size_t room,
                                                            std::uint32_t min_match_length) {
  if (length <= room) return length;
  return room > min_match_length ? static_cast<std::uint32_t>(room) : min_match_length;
}

// For FullLengthCostModel these are compiled into the library; optimal_reference.hpp has them for every other
// model.
template <typename Model, typename Record = MatchRecord>
std::vector<Sequence> parse_optimal(const BasicParseInput<Record>& input, const Model& model);

template <typename Model, typename Record = MatchRecord>
std::vector<Sequence> parse_optimal_exact(const BasicParseInput<Record>& input, const Model& model);

template <typename Model>
struct OptimalParse {
  Model costs = {};

  static constexpr std::string_view kName = "optimal";
};

template <typename Model>
struct OptimalExactParse {
  Model costs = {};

  static constexpr std::string_view kName = "optimal_exact";
};

template <typename Record, typename Model>
std::vector<Sequence> parse_reference(const BasicParseInput<Record>& input,
                                      const OptimalParse<Model>& parse) {
  return parse_optimal(input, parse.costs);
}
template <typename Record, typename Model>
std::vector<Sequence> parse_reference(const BasicParseInput<Record>& input,
                                      const OptimalExactParse<Model>& parse) {
  return parse_optimal_exact(input, parse.costs);
}

}  // namespace hemstitch
