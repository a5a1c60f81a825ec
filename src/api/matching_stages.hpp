// What a matcher does, in the words of the stages: made of what callers ask for, wherever it runs then.
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
