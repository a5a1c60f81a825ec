// What a format makes of a finder's matches: how finders are judged where its prices count.
#pragma once

#include <cstdint>
#include <vector>

#include "parse/choose_matches.hpp"

namespace hemstitch {

struct JudgedMatches {
  std::uint64_t bits = 0;                // of the blocks, without what frames put around them
  std::vector<PositionedMatch> matches;  // that were taken, by position
};

}  // namespace hemstitch
