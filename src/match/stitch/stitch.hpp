// The second half of hash_chain: from the best *capped* match of every position to its final record.
//
// The finder first chooses one candidate for each position by itself, comparing no more than `cap` bytes.
// Three passes then turn these choices into records:
//
//   extend    A match that reached the cap gets its true length, up to the end of the data. In a long repeat,
//             thousands of positions have the same offset, and for all of them the equal bytes end at the same
//             place. So only the first of them (the leader) compares bytes. The twin remembers for each offset
//             where the equal bytes ended last. On a device, a position inherits from its predecessor if that
//             has the same offset, and the leaders continue to compare, at most 65535 bytes.
//   backward  Position p also tries the offsets found at p+1, p+2, .. p+reach. If data[p, p+k) agrees with
//             the bytes `offset(p+k)` before it, then p has a match of k + length(p+k) bytes at that
//             offset. No bytes of the match itself are compared again: its length is known. The reach is part
//             of the finder's definition (HashChainParameters::stitch_reach).
//   forward   From left to right, len(p) = max(len(p), len(p-1) - 1) with the predecessor's offset: the tail of
//             a match is a match. On equal lengths the position keeps its own.
//
// Why it pays: a finder of small depth examines the *nearest* occurrences of four bytes. Where a long repeat
// begins, these four bytes are often common (" the"), and their nearest occurrences are not the long repeat.
// A few bytes later the bytes are rarer, and their nearest occurrence *is* the repeat. From there the match
// is carried back to its beginning. The stitch is worth about as much as doubling the depth.
//
// The backward pass reads only the results of `extend`, never another position's stitched result, so all
// positions can be processed at once. The longest of its matches wins, then the one with the smaller offset,
// so the order of trying does not matter. A device may reverse the pass: a match carries itself back over the
// equal bytes before it, with a maximum at each position. In a run of positions with one offset only the
// first needs to do so: it reaches everything that the others reach, with the same lengths. The forward pass
// is a running maximum of p + len(p): a scan on a device.
//
// All passes work on records, and a record's length is limited to 65535 (core/match.hpp). This limit is part
// of the definition: backward computes min(k + recorded length, 65535), and forward subtracts one from the
// recorded length. Inherited lengths may fall below four bytes; the parse applies the format's minimum.
#pragma once

#include <cstddef>
#include <cstdint>

#include "match/common/finder.hpp"

namespace hemstitch {

// The largest reach. A CUDA device keeps so many positions of a tile for the next one; the WebGPU shader compares four words.
inline constexpr std::uint32_t kMostStitchReach = 16;

// Replaces each length that reached `cap_bytes` by the match's true length.
void extend_capped_matches(const FinderInput& input, std::size_t cap_bytes, MatchRecords& records);

// The backward pass, from up to `reach` positions ahead, then the forward pass.
void stitch_matches(const FinderInput& input, std::size_t reach, MatchRecords& records);

}  // namespace hemstitch
