// The part of an LzssMatcher that knows where the search runs.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "api/matching_stages.hpp"
#include "api/pending_matches.hpp"
#include "hemstitch/match.hpp"
#include "match/common/finder.hpp"

namespace hemstitch {

// Blocks were checked before. Any thread may use it.
class BlockMatcher {
 public:
  virtual ~BlockMatcher() = default;
  virtual void prepare() const = 0;
  virtual MatchRecords find_candidates(const FinderInput& input) const = 0;
  virtual std::vector<std::vector<PositionedMatch>> find_matches(
      std::span<const MatchBlock> blocks) const = 0;
  // Throws kInvalidOption if there is no room for another submission.
  virtual std::unique_ptr<PendingWork> submit(std::span<const MatchBlock> blocks) const = 0;
};

}  // namespace hemstitch
