// What DEFLATE makes of one match a position, from whatever finder: the parse and the codes of levels 9 to 11, without the second
// candidates that near_three gives those. So a finder is judged by the size of what is written with its matches alone.
#pragma once

#include <cstddef>
#include <span>

#include "core/match.hpp"
#include "format/judged_matches.hpp"

namespace hemstitch {

// `records` has one for each byte of `content`, which is written in chunks of `chunk_bytes` with codes of their own. Where chunks have no
// history (BGZF), matches that begin before theirs are passed over.
JudgedMatches judge_deflate_matches(std::span<const std::byte> content, std::span<const MatchRecord> records,
                                    std::size_t chunk_bytes, bool has_history);

}  // namespace hemstitch
