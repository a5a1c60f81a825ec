// The result of one match for each position, from any finder, in LZ4: the optimal parse at its costs, and the
// size of what is written.
#pragma once

#include <span>

#include "core/match.hpp"
#include "format/judged_matches.hpp"

namespace hemstitch {

// `records` has one element for each byte of the content, which is one block.
JudgedMatches judge_lz4_matches(std::span<const MatchRecord> records);

}  // namespace hemstitch
