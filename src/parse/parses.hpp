// Runs any parse, also after any finder, on the processor: the twins.
//
// For a cost model of your own, also include parse/optimal/optimal_reference.hpp.
#pragma once

#include <vector>

#include "match/finders.hpp"
#include "parse/parse_rows.hpp"

namespace hemstitch {

template <typename Costs>
std::vector<Sequence> parse_reference(const AnyParse<Costs>& parse, const ParseInput& input) {
  return std::visit([&](const auto& parameters) { return parse_reference(input, parameters); }, parse);
}

template <typename Costs>
std::vector<Sequence> find_and_parse_reference(const AnyFinder& finder, const AnyParse<Costs>& parse,
                                               const FinderInput& input, const BlockPlan& plan) {
  const MatchRecords records = find_reference(finder, input).records;
  return parse_reference(parse, ParseInput{records, plan});
}

}  // namespace hemstitch
