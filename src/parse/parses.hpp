// Runs any parse, also after any finder, on the processor: the twins.
//
// For a cost model of your own, also include parse/optimal/optimal_reference.hpp.
#pragma once

#include <vector>

#include "match/finders.hpp"
#include "parse/parse_rows.hpp"

namespace hemstitch {

template <typename Costs, typename Record = MatchRecord>
std::vector<Sequence> parse_reference(const AnyParse<Costs>& parse, const BasicParseInput<Record>& input) {
  return std::visit([&](const auto& parameters) { return parse_reference(input, parameters); }, parse);
}

// With one finder, by its parameters, whatever records it writes.
template <typename Parameters, typename Costs>
std::vector<Sequence> find_and_parse_reference(const Parameters& finder, const AnyParse<Costs>& parse,
                                               const FinderInput& input, const BlockPlan& plan) {
  const auto records = find_reference(input, finder).records;
  using Record = typename decltype(records)::value_type;
  return parse_reference(parse, BasicParseInput<Record>{records, plan});
}

template <typename Costs>
std::vector<Sequence> find_and_parse_reference(const AnyFinder& finder, const AnyParse<Costs>& parse,
                                               const FinderInput& input, const BlockPlan& plan) {
  return std::visit(
      [&](const auto& parameters) { return find_and_parse_reference(parameters, parse, input, plan); },
      finder);
}

}  // namespace hemstitch
