// The optimal parse of Zstandard: the cheapest sequences under given prices, with repeated offsets taken into account, from back to front.
//
// Going backwards, the offsets used before a position are not known, and it is these that a match repeats. But the offsets that come *next* are known, and
// that is enough: if a match has one of the next offsets, then not this match but the later one becomes the repeat, and the difference is credited here. So nothing from before
// matters, and each segment of a block can be solved by itself. Compared with a forward parse that carries exact histories, output is as small (by simulation; not recorded).
//
// The state of a position, for the best way from there on: its cost; `run`, how many literals precede the next match (none: there is no match up to the horizon); `next`, the
// next three different offsets; and for each of these whether its match directly follows another one.
//
//   literal   costs its price, and what one more literal adds to the price of the next match's run.
//   match     of offset o and length l, before the state e of position p + l, costs a run of 0, the value o + 3, and the length. If o is
//             - next[0] of e: with literals between them, less the price of the later match's own value, plus that of value 1. Without literals, the two are
//               one match: nothing is added.
//             - next[1] or next[2]: in the same way with value 2 or 3, or one less if no literals precede that later match.
//             Afterwards, `next` begins with o, and what it repeated is left out.
//
// Candidates of a position: hash_chain's match, near_three's place with up to kZstdNearMatchBytes, the matches of far finders, and with `tries` the offsets in `next` of position p + 1, of which up to
// kZstdTriedBytes are compared. Of several with one offset the first counts. Their full length and the three lengths below are tried, at least 3. What costs least wins: on equal costs the literal, then the first
// candidate, then the longer length.
//
// Segments have kZstdSegmentBytes, from the block's first byte, and look kZstdLookAheadBytes ahead, within the block; what is behind costs nothing, and a match that goes on behind it is priced up to there, with 3
// bytes at least. The walk from the block's beginning takes the decisions of all segments. A match of kFarCutBytes or more is taken with all bytes that agree, up to the end of the block.
#pragma once

#include <cstddef>
#include <vector>

#include "core/sequence.hpp"
#include "format/zstd/compress/parse/zstd_parse_input.hpp"
#include "format/zstd/compress/parse/zstd_prices.hpp"

namespace hemstitch {

inline constexpr std::size_t kZstdSegmentBytes = 1024, kZstdLookAheadBytes = 256;
static_assert(kZstdSegmentBytes + kZstdLookAheadBytes == kZstdMostPricedBytes);
inline constexpr std::size_t kZstdTriedBytes = 128;

// How much of the next offsets a pass takes into account. A cheap one, for the prices of the next pass, knows one and tries none.
struct ZstdPass {
  unsigned knows = 3;  // 1 to 3 of `next`
  unsigned tries = 3;  // 0 to `knows`
};

// The last sequence has no match.
std::vector<Sequence> parse_zstd_optimal(const ZstdParseInput& input, const ZstdPrices& prices,
                                         const ZstdPass& pass);

}  // namespace hemstitch
