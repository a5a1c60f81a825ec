// hash_pairs: one match for every two positions, and none inside long ones. The finder of level 1 for pages.
//
// hash_chain of depth 1 examines every position, and then the stitch makes most of the results equal: a match
// that two neighbours found, or one of them and the stitch, is one match. So here positions are taken in
// pairs. A pair finds at most one match, which is carried back over equal bytes before it and forward to its
// end. A warp takes 64 positions at once, two for each lane, at little more than the cost of 32. Positions
// count from the block's first byte, which is even; there is no history. With `rows` of 64 positions:
//
//   1. Candidates. That of an even position p is the nearest even q < p with hash(q) = hash(p). That of an odd position
//      is the nearest even q with its hash *in the rows before its own*. Positions with fewer than 4 bytes left have no
//      hash: they have no candidates and are never candidates.
//   2. Choice. A pair's match is that of its even position, where the first four bytes agree with its candidate's; else
//      that of its odd position, where they do; else there is none. Lengths are true, to the end of the block.
//   3. Cover. From left to right: a match of at least kHashPairsCoverBytes is left out where a longer-reaching one has
//      covered its first kHashPairsCoverBytes; otherwise what is covered now ends where it ends.
//   4. Carry. Each match is carried back over up to four bytes that agree before it. The record of a position is, of all
//      matches that begin at or before it, the one that ends last, then the one with the smallest offset.
//
// Why. A table of even positions holds as much with half of the heads, and a repeat of 5 bytes or more is
// still found: one of its first two positions repeats an even one. Odd positions do not see their own row,
// since finding the lane of the row with the same hash would cost as much as everything else. Greedy
// compressors do the same as step 3 when they do not look inside matches. It also saves work: a warp has to
// compare long matches one after the other, and step 3 makes them few (nci: 1.2 per row instead of 2.2), and
// each byte is compared once. It costs 0.5 % of nci.
//
// Cost: half an insertion for each byte. Comparisons are linear in the block, since every long match
// continues where the one before ended. docs/decisions/lz4-level-1.md compares the ratios with hash_chain at
// depth 1. Source: founding documents 000 (stitching) and 004 (pages) (docs/founding.md).
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "core/page.hpp"
#include "hemstitch/match.hpp"
#include "match/common/finder.hpp"

namespace hemstitch {

// How many positions a device takes at once: a row in step 1.
inline constexpr std::uint32_t kHashPairsRowBytes = 64;
// A match of at least so many bytes may cover others, and be covered.
inline constexpr std::uint32_t kHashPairsCoverBytes = 16;
// How far step 4 carries back at most.
inline constexpr std::uint32_t kHashPairsReach = 4;

// The heads of the level's table take 4 KB of workgroup memory. With 10 bits, osdb's ratio falls to nvCOMP's:
// 1.171 instead of 1.183.
inline constexpr unsigned kHashPairsBits = 11;

struct HashPairsParameters {
  unsigned hash_bits = kHashPairsBits;  // the table has 2^hash_bits heads; kMinHashBits..kMaxHashBits

  static constexpr std::string_view kName = "hash_pairs";
  static constexpr std::array<std::string_view, 1> kFields = {"hash_bits"};
  // It is made for pages, so it is judged by them: longer data is cut into pages for it.
  static constexpr std::size_t kJudgedBlockBytes = kPageBytes;
  static FinderParameters defaults() { return {.window_size = kPageBytes, .hash_bits = kHashPairsBits}; }
  static HashPairsParameters from(const FinderParameters& p) { return {p.hash_bits}; }
};

// Throws kInvalidOption, with the field's name, for parameters outside their limits.
void check_parameters(const HashPairsParameters& parameters);

// The best match of every position of the block. Throws kInvalidOption, with the field's name, for parameters
// outside their limits, for history and for blocks above 64 KB. Thread safety: any number of calls at once.
MatchRecords find_hash_pairs(const FinderInput& input, const HashPairsParameters& parameters);

inline FoundMatches find_reference(const FinderInput& input, const HashPairsParameters& parameters) {
  return {find_hash_pairs(input, parameters)};
}

}  // namespace hemstitch
