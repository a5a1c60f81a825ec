// The result of a finder's matches in a format, for comparing finders by the format's costs.
#pragma once

#include <cstdint>
#include <vector>

#include "parse/choose_matches.hpp"

namespace hemstitch {

struct JudgedMatches {
  std::uint64_t bits = 0;                // of the blocks, without the frames' bytes around them
  std::vector<PositionedMatch> matches;  // the ones that were used, by position
};

}  // namespace hemstitch
