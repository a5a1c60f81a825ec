// far: the nearest earlier places, up to megabytes back, with the same eight bytes, and the best match among them.
//
// Most of what is repeated over a long distance is long. So it suffices to remember a part of all positions, under a hash of many bytes, and to
// look up every position: within a few bytes of a long repeat's beginning a remembered place is hit, and the stitch carries the match back. Beside
// hash_chain, whose window is near, this is worth more than any depth there: 8 to 11 % of Zstandard's output. Entering all positions would be
// worse, not better: the places that come to mind first would be near again.
//
// "Data" is the history followed by the block. Positions count from the block's first byte; those of the history are negative.
//
//   1. Places. The positions q that are multiples of `grid_bytes`, and have `hash_bytes` bytes behind them in the data, have places in a table:
//      bucket hash(q), and in it way (q / grid_bytes) mod `ways`. Of positions that share a place, the largest one has it.
//   2. Candidates. The block is cut into *generations*, of `generation_bytes` each. For a position p of the generation that begins at g, only positions
//      below g are in the table. The candidates of p are what the ways of bucket hash(p) hold, as far as p - q <= `window_bytes`. Positions with
//      fewer than `hash_bytes` bytes left in the data have none.
//   3. Choice. A candidate that differs in one of the first `hash_bytes` bytes is no match. Lengths are compared up to `cap_bytes`. The longest
//      wins, then the nearest.
//   4. The stitch (match/stitch/stitch.hpp), over up to `stitch_reach` positions.
//
// Lengths stay cut off, at `cap_bytes` and what the stitch adds. In a run of equal bytes each position has an offset of its own, back to the same
// place before the generation, so all true lengths would take the square of the run's length. Who takes a long match compares on from there: that takes
// no more time than the match has bytes, and none for the positions inside of it.
//
// The table is defined by a maximum, so the order in which positions enter does not matter: a device enters a generation's positions all at once,
// by one atomic maximum each. Nor does it matter where one begins to enter, as long as all of the window is there: with the window before it
// as history, each part of the data can be searched by itself. Way by place costs 0.4 % of output compared with the newest entries of a bucket, which would
// take several atomics each, and less than a third of that with the numbers of the levels.
//
// Records are wide (core/match.hpp).
//
// Cost: an insertion for each `grid_bytes` of data, also of the history, at most `ways` comparisons for each position, and 4 bytes for each place of the
// table. Source: our own simulations; long hashes on a grid are also how zstd finds long matches (lib/compress/zstd_ldm.c), which looks up and enters
// the same sampled positions.
#pragma once

#include <cstdint>
#include <vector>

#include "core/match.hpp"
#include "match/common/finder.hpp"
#include "match/far/far_tuning.hpp"
#include "match/hash_chain/hash_chain_tuning.hpp"

namespace hemstitch {

struct FarParameters {
  unsigned hash_bits = kFarHashBits;                       // the table has 2^hash_bits buckets; 8..24
  std::uint32_t hash_bytes = 8;                            // 4..8
  std::uint32_t ways = kFarWays;                           // of a bucket; a power of two up to 64
  std::uint32_t grid_bytes = kFarGridBytes;                // a power of two up to 64
  std::uint32_t generation_bytes = kFarGenerationBytes;    // a multiple of the grid
  std::uint32_t window_bytes = kFarWindowBytes;            // the largest distance, below 2^31
  std::uint32_t cap_bytes = kFarCapBytes;                  // where comparing stops; hash_bytes..65535
  std::uint32_t stitch_reach = kHashChainDeepStitchReach;  // 1..16
};

using WideRecords = std::vector<WideRecord>;

// Throws kInvalidOption, with the field's name, for parameters outside their limits.
void check_far_parameters(const FarParameters& parameters);

// One record for each position of the block. Throws kInvalidOption as above. Thread safety: any number of calls at once.
WideRecords find_far(const FinderInput& input, const FarParameters& parameters);

}  // namespace hemstitch
