// What stands behind an LzssMatcher: where its search runs.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "api/pending_matches.hpp"
#include "core/block_plan.hpp"
#include "hemstitch/match.hpp"
#include "match/common/finder.hpp"
#include "match/finder_rows.hpp"
#include "parse/parse_rows.hpp"

namespace hemstitch {

// What a matcher does, in the words of the stages.
struct MatchingStages {
  AnyFinder finder;
  AnyParse<FullLengthCostModel> parse;
  BlockPlan plan;
};

// Throws kInvalidOption with the name of the first field that is outside its limits.
MatchingStages stages_of(Finder finder, Parse parse, const FinderParameters& parameters);

// Blocks have been checked. Any thread may use it.
class BlockMatcher {
 public:
  virtual ~BlockMatcher() = default;
  virtual void prepare() const = 0;
  virtual MatchRecords find_candidates(const FinderInput& input) const = 0;
  virtual std::vector<std::vector<PositionedMatch>> find_matches(
      std::span<const MatchBlock> blocks) const = 0;
  // Throws kInvalidOption where there is no room for another submission.
  virtual std::unique_ptr<PendingWork> submit(std::span<const MatchBlock> blocks) const = 0;
};

}  // namespace hemstitch
