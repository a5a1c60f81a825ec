// From records to the matches that a parse chose, for those who want matches and no encoder.
#pragma once

#include <span>
#include <vector>

#include "hemstitch/match.hpp"
#include "match/common/finder.hpp"
#include "parse/optimal/optimal.hpp"

namespace hemstitch {

// What a parse needs to know of a finder's parameters.
FullLengthCostModel costs_of(const FinderParameters& parameters);
BlockPlan plan_of(const FinderParameters& parameters);

// The matches among `sequences`, by position.
std::vector<PositionedMatch> matches_of(std::span<const Sequence> sequences);

// The matches that the cheapest parse takes under the parameters' lengths and costs, each at its full length.
std::vector<PositionedMatch> choose_matches(const MatchRecords& records, const FinderParameters& parameters);

}  // namespace hemstitch
