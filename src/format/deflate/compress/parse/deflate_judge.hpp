// The result of one match for each position, from any finder, in DEFLATE: uses the parse and the codes of
// levels 9 to 11, without near_three's second candidates. So a finder is judged by the size of what is
// written with its matches only.
#pragma once

#include <cstddef>
#include <span>

#include "core/match.hpp"
#include "format/judged_matches.hpp"

namespace hemstitch {

// `records` has one element for each byte of `content`, which is written in chunks of `chunk_bytes` with
// their own codes. If chunks have no history (BGZF), matches that begin before their chunk are ignored.
JudgedMatches judge_deflate_matches(std::span<const std::byte> content, std::span<const MatchRecord> records,
                                    std::size_t chunk_bytes, bool has_history);

}  // namespace hemstitch
