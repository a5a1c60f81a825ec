// The lazy parse of Zstandard: takes the best match of a position unless that of the next one is clearly better, and tries
// the offsets that were used last, which are cheap to repeat.
//
// A block is walked from its first byte to its last. Candidates of a position, all cut off at the end of the block:
//
//   1. the match of hash_chain, if it has at least 4 bytes;
//   2. the place that near_three gives, where up to kZstdNearMatchBytes are compared: at least 4 bytes, or 3 if the offset is below kZstdNearThreeOffsets;
//   3. the match of each far finder, if it has at least 4 bytes; from kFarCutBytes on with all bytes that agree;
//   4. the last three different offsets of the block's matches so far, with all bytes that agree, at least 3. The most recent one
//      is left out directly behind a match, which would be longer if it could go on.
//
// The *gain* of a candidate is 4 for each byte, less what its offset costs: floor(log2(offset)), or for the three repeats 1, 2 and 3. The
// greatest gain is the position's match; of equal ones the first in this order. If the next position's match gains over 4 more, this position is
// a literal, and the next one is looked at in the same way; else the match is taken, and the walk goes on behind it.
//
// This is not the parse of that name in parse/lazy: there, each position decides by itself, and knows no repeats. Here a device follows each
// block with one warp, whose lanes compare; there are as many walks as blocks. Repeats save 1.3 % compared with the same parse without them.
#pragma once

#include <cstdint>
#include <vector>

#include "core/sequence.hpp"
#include "format/zstd/compress/parse/zstd_parse_input.hpp"

namespace hemstitch {

inline constexpr std::uint32_t kZstdNearMatchBytes = 6;
inline constexpr std::uint32_t kZstdNearThreeOffsets = 512;

// The last sequence has no match.
std::vector<Sequence> parse_zstd_lazy(const ZstdParseInput& input);

}  // namespace hemstitch
