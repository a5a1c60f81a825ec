// The twin of the optimal parse, a template over the cost model. Include this file for a model of your own.
#pragma once

#include <algorithm>

#include "core/between_pieces.hpp"
#include "parse/optimal/optimal.hpp"
#include "parse/optimal/optimal_tuning.hpp"

namespace hemstitch {
namespace optimal_detail {

// What the literal at `position` costs: by its byte where the model prices each.
template <typename Record, typename Model>
std::uint64_t literal_cost_at(const BasicParseInput<Record>& input, const Model& model,
                              std::size_t position) {
  if constexpr (requires { model.literal_cost(std::byte{}); })
    return model.literal_cost(input.content[position]);
  else
    return model.literal_cost();
}

// The best decision of one position so far.
struct Decision {
  std::uint64_t cost = 0;
  Match match = {};  // length 0: a literal

  void consider(std::uint64_t match_cost, Match other) {
    const bool wins_tie = match_cost == cost && match.length != 0 && better_match(other, match);
    if (match_cost < cost || wins_tie) *this = {match_cost, other};
  }
};

// Decides for each position of [begin, end): the match to take, or length 0 for a literal. Costs at `horizon`
// and beyond it count as 0.
template <typename Record, typename Model>
void solve_segment(const BasicParseInput<Record>& input, const Model& model, std::size_t begin,
                   std::size_t end, std::size_t horizon, std::vector<Match>& decisions,
                   PositionCount& positions) {
  std::vector<std::uint64_t> cost(horizon - begin + 1, 0);
  const auto cost_from = [&](std::size_t position) -> std::uint64_t& { return cost[position - begin]; };
  const std::uint32_t shortest = input.plan.min_match_length;
  for (std::size_t position = horizon; position-- > begin; positions.next()) {
    Decision best{literal_cost_at(input, model, position) + cost_from(position + 1)};
    // The index-th length is tried_length(index), the longest first; 0 ends them.
    const auto consider = [&](const Match& match, unsigned length_count, const auto& tried_length) {
      const std::uint64_t offset_cost = offset_cost_of(model, match.offset);
      for (unsigned index = 0; index < length_count; ++index) {
        const std::uint32_t length = tried_length(index);
        if (length == 0) break;
        if (length < shortest) continue;
        const std::uint32_t priced = priced_length(length, horizon - position, shortest);
        const std::uint64_t cost_behind = cost_from(std::min<std::size_t>(position + length, horizon));
        best.consider(model.match_cost(priced) + offset_cost + cost_behind, {match.offset, length});
      }
    };
    const Match match = usable_match(input.records[position], position, input.records.size(), input.plan);
    if (match.length != 0)
      consider(match, model.tried_length_count(),
               [&](unsigned index) { return model.tried_length(match.length, index); });
    if constexpr (requires { model.tried_near_length_count(); }) {
      const Match near =
          usable_match(input.near_records[position], position, input.records.size(), input.plan);
      if (near.length != 0 && near.offset != match.offset)
        consider(near, model.tried_near_length_count(),
                 [&](unsigned index) { return model.tried_near_length(near.length, index); });
    }
    cost_from(position) = best.cost;
    if (position < end) decisions[position] = best.match;
  }
}

// `model_of(begin)` gives the model of the segment that begins there.
template <typename Record, typename ModelOf>
std::vector<Sequence> parse_in_segments(const BasicParseInput<Record>& input, const ModelOf& model_of,
                                        std::size_t segment_positions, std::size_t look_ahead_positions) {
  const std::size_t block_bytes = input.records.size();
  std::vector<Match> decisions(block_bytes);
  PositionCount positions;
  for (std::size_t begin = 0; begin < block_bytes; begin += segment_positions) {
    const std::size_t end = std::min(begin + segment_positions, block_bytes);
    solve_segment(input, model_of(begin), begin, end, std::min(end + look_ahead_positions, block_bytes),
                  decisions, positions);
  }

  SequenceBuilder sequences;
  for (std::size_t position = 0; position < block_bytes;) {
    if (decisions[position].length == 0) {
      sequences.literal();
      ++position;
    } else {
      sequences.match(decisions[position]);
      position += decisions[position].length;
    }
  }
  return sequences.finish();
}

}  // namespace optimal_detail

// Like parse_optimal(), with a model for each segment: `model_of(begin)` is that of the one that begins there.
template <typename ModelOf, typename Record = MatchRecord>
std::vector<Sequence> parse_optimal_by_segments(const BasicParseInput<Record>& input,
                                                const ModelOf& model_of) {
  return optimal_detail::parse_in_segments(input, model_of, kSegmentPositions, kLookAheadPositions);
}

template <typename Model, typename Record>
std::vector<Sequence> parse_optimal(const BasicParseInput<Record>& input, const Model& model) {
  return parse_optimal_by_segments(input, [&](std::size_t) -> const Model& { return model; });
}

template <typename Model, typename Record>
std::vector<Sequence> parse_optimal_exact(const BasicParseInput<Record>& input, const Model& model) {
  return optimal_detail::parse_in_segments(
      input, [&](std::size_t) -> const Model& { return model; },
      std::max<std::size_t>(input.records.size(), 1), 0);
}

}  // namespace hemstitch
