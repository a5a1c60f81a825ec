#include "parse/choose_matches.hpp"

namespace hemstitch {

FullLengthCostModel costs_of(const FinderParameters& parameters) {
  FullLengthCostModel costs;
  costs.literal_cost_bits = parameters.literal_cost;
  costs.match_fixed_cost_bits = parameters.match_fixed_cost;
  return costs;
}

BlockPlan plan_of(const FinderParameters& parameters) {
  return lzss_block_plan(parameters.min_match_len, parameters.max_match_len);
}

std::vector<PositionedMatch> matches_of(std::span<const Sequence> sequences) {
  std::vector<PositionedMatch> matches;
  std::uint64_t position = 0;
  for (const Sequence& sequence : sequences) {
    position += sequence.literal_count;
    if (sequence.match_length != 0) matches.push_back({position, sequence.offset, sequence.match_length});
    position += sequence.match_length;
  }
  return matches;
}

std::vector<PositionedMatch> choose_matches(const MatchRecords& records, const FinderParameters& parameters) {
  return matches_of(parse_optimal_exact({records, plan_of(parameters)}, costs_of(parameters)));
}

}  // namespace hemstitch
