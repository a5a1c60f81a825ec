// What LZ4 makes of one match a position, from whatever finder: the optimal parse by its costs, and the size of what is written.
#pragma once

#include <span>

#include "core/match.hpp"
#include "format/judged_matches.hpp"

namespace hemstitch {

// `records` has one for each byte of the content, which is one block.
JudgedMatches judge_lz4_matches(std::span<const MatchRecord> records);

}  // namespace hemstitch
