// The twin of the optimal parse, a template over the cost model: whoever brings a model includes this file.
#pragma once

#include <algorithm>

#include "parse/optimal/optimal.hpp"
#include "parse/optimal/optimal_tuning.hpp"

namespace hemstitch {
namespace optimal_detail {

// Decides for each position of [begin, end): the match to take, or length 0 for a literal. Costs at `horizon`
// and beyond it count as 0.
template <typename Model>
void solve_segment(const ParseInput& input, const Model& model, std::size_t begin, std::size_t end,
                   std::size_t horizon, std::vector<Match>& decisions) {
  std::vector<std::uint64_t> cost(horizon - begin + 1, 0);
  const auto cost_from = [&](std::size_t position) -> std::uint64_t& { return cost[position - begin]; };
  for (std::size_t position = horizon; position-- > begin;) {
    std::uint64_t best_cost = model.literal_cost() + cost_from(position + 1);
    Match best;
    const Match match = usable_match(input.records[position], position, input.records.size(), input.plan);
    if (match.length != 0) {
      for (unsigned index = 0; index < model.tried_length_count(); ++index) {
        const std::uint32_t length = model.tried_length(match.length, index);
        if (length < input.plan.min_match_length || length == 0) continue;
        const std::uint32_t priced = priced_length(length, horizon - position, input.plan.min_match_length);
        const std::uint64_t match_cost = whole_match_cost(model, priced, match.offset) +
                                         cost_from(std::min<std::size_t>(position + length, horizon));
        if (match_cost < best_cost) {
          best_cost = match_cost;
          best = {match.offset, length};
        }
      }
    }
    cost_from(position) = best_cost;
    if (position < end) decisions[position] = best;
  }
}

template <typename Model>
std::vector<Sequence> parse_in_segments(const ParseInput& input, const Model& model,
                                        std::size_t segment_positions, std::size_t look_ahead_positions) {
  const std::size_t block_bytes = input.records.size();
  std::vector<Match> decisions(block_bytes);
  for (std::size_t begin = 0; begin < block_bytes; begin += segment_positions) {
    const std::size_t end = std::min(begin + segment_positions, block_bytes);
    solve_segment(input, model, begin, end, std::min(end + look_ahead_positions, block_bytes), decisions);
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

template <typename Model>
std::vector<Sequence> parse_optimal(const ParseInput& input, const Model& model) {
  return optimal_detail::parse_in_segments(input, model, kSegmentPositions, kLookAheadPositions);
}

template <typename Model>
std::vector<Sequence> parse_optimal_exact(const ParseInput& input, const Model& model) {
  return optimal_detail::parse_in_segments(input, model, std::max<std::size_t>(input.records.size(), 1), 0);
}

}  // namespace hemstitch
