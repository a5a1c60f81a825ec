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
// Candidates of a position: hash_chain's match, near_three's place with up to kZstdNearMatchBytes, the matches of far finders, and with `tries` the offsets in `next` of the position behind p's
// pair (kZstdTriedAtOnce positions, counted from the segment's begin). Of several with one offset the first counts. None has more than kZstdMostSolvedBytes: a longer match is several that
// touch, and these are one. Their full length and as many lengths below as `shorter` says are tried, at least 3. What costs least wins: on equal costs the literal, then the first candidate, then the
// longer length.
//
// What a tried offset gives is counted from back to front: one byte more where its byte agrees, none where it does not. The count begins where the offset becomes one of `next` of such a position:
// with the length of its match if one begins right there, else with 0. Then, if the first three bytes agree, all that agree are counted once. So hardly any bytes are compared.
//
// Segments have kZstdSegmentBytes, from the block's first byte, and look kZstdLookAheadBytes ahead, within the block; what is behind costs nothing.
// The walk from the block's beginning takes the decisions of all segments. A match of kFarCutBytes or more is taken with all bytes that agree, up to the end of the block.
#pragma once

#include <cstddef>
#include <vector>

#include "core/sequence.hpp"
#include "format/zstd/compress/parse/zstd_parse_input.hpp"
#include "format/zstd/compress/parse/zstd_prices.hpp"
#include "match/far/far_tuning.hpp"

namespace hemstitch {

// Segments of half the size take a tenth more work, and are as small (by simulation).
inline constexpr std::size_t kZstdSegmentBytes = 2048, kZstdLookAheadBytes = 256;
static_assert(kZstdSegmentBytes + kZstdLookAheadBytes == kZstdMostPricedRun);
// With 96, xml is 1.0 % larger at level 5, and nci 0.4 % (by simulation). No far match is longer.
inline constexpr std::size_t kZstdMostSolvedBytes = kZstdMostPricedMatch;
static_assert(kZstdMostSolvedBytes >= kFarCapBytes + 16);

// What is tried at these positions is the same, so a device solves them at once. Output is 0.02 % larger than with each by itself; with three it would be 0.3 %, and x-ray 1 % (by simulation).
inline constexpr std::size_t kZstdTriedAtOnce = 2;

// How thorough a pass is. A cheap one, for the prices of the next pass, knows one offset, tries none, and tries one shorter length: with three, output is no smaller; with none it is 0.1 % larger (by simulation).
struct ZstdPass {
  unsigned knows = 3;    // 1 to 3 of `next`
  unsigned tries = 3;    // 0 to `knows`, as candidates
  unsigned shorter = 3;  // lengths below a candidate's full one

  bool operator==(const ZstdPass&) const = default;
};
inline constexpr ZstdPass kZstdCheapPass{.knows = 1, .tries = 0, .shorter = 1}, kZstdFullPass;

// The last sequence has no match.
std::vector<Sequence> parse_zstd_optimal(const ZstdParseInput& input, const ZstdPrices& prices,
                                         const ZstdPass& pass);

}  // namespace hemstitch
