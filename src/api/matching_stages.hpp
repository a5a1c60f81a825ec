// What a matcher does, as stages: made from a caller's request, independent of where it runs.
#pragma once

#include "core/block_plan.hpp"
#include "hemstitch/match.hpp"
#include "match/finder_rows.hpp"
#include "parse/parse_rows.hpp"

namespace hemstitch {

struct MatchingStages {
  AnyFinder finder;
  AnyParse<FullLengthCostModel> parse;
  BlockPlan plan;
};

// Throws kInvalidOption with the name of the first field that is outside its limits.
MatchingStages stages_of(Finder finder, Parse parse, const FinderParameters& parameters);

}  // namespace hemstitch
