// hash_chain: the nearest `depth` earlier positions with the same hash, and the best match among them.
//
// The finder of all levels (except for pages at levels 1 and 2: hash_pairs). Mathematics defines it, not a
// table: threads, tables and devices only compute it. "Data" is the history followed by the block, and
// positions count from the data's first byte:
//
//   1. Candidates. The candidates of a position p are the `depth` nearest positions q < p with
//      hash(q) = hash(p) and p - q <= window. Equal hashes count toward the depth even where the bytes
//      differ. A hash covers the block's *hash width*: 4 bytes or, by parameters, up to 8, also only in blocks that
//      have few values, as genomes do (hash_width.hpp). Positions with fewer bytes than that left in the data have no
//      hash: they have no candidates and are never candidates. The history is hashed as wide as the block.
//   2. Choice. A candidate whose first four bytes differ is no match. Lengths are compared up to `cap_bytes`.
//      The nearest candidate that reaches the cap ends the walk; otherwise the longest wins, then the nearest.
//   3. Every capped length becomes its true length, to the end of the data.
//   4. The stitch (may be switched off): matches are carried back, over up to `stitch_reach` positions,
//      then forward. Steps 3 and 4 are match/stitch/stitch.hpp.
//
// How the twin does it. `head[h]` is the newest position with hash h, and `previous[p]` the position before p
// with p's hash. One loop over the data walks the chain from head[hash(p)], then puts p in front of it.
// Positions have 32 bits, so they are never ambiguous.
//
// How a device does it. One warp (or workgroup) owns a block and takes 32 positions in a step, in order.
// Lanes with equal hashes find each other (by match_any, or by comparing 32 words in workgroup memory). A
// lane's previous position is the nearest equal lane below it, or else head[h], and the last lane with a hash
// writes head[h]. This gives exactly the twin's links. A table of 16-bit heads holds positions modulo 65536.
// A link is valid if its distance, modulo 65536, is positive and within the window, and if its position was
// really inserted: the definition decides, not the table. The walk needs only `previous` and no order, so a
// second pass does it with a thread for each position.
//
// Why a cap. Inside a long repeat, every position would compare the whole rest of it, which takes the square
// of its length. A match of `cap_bytes` is good enough to stop searching, and its true length is found later,
// once for the whole run.
//
// Cost: one insertion for each byte, at most `depth` comparisons for each position, 4 bytes for each position
// for `previous` (2 on a device, as a distance), and 2^hash_bits heads. Source: founding document 003
// (docs/founding.md) asks for staged, ordered, coalesced insertion. The ordered build does that, without the
// document's sorting by hash, which does not improve the order in memory.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

#include "core/match.hpp"
#include "hemstitch/match.hpp"
#include "match/common/finder.hpp"
#include "match/common/hash_word.hpp"
#include "match/hash_chain/hash_chain_tuning.hpp"

namespace hemstitch {

struct HashChainParameters {
  unsigned hash_bits = 13;       // the table has 2^hash_bits heads; kMinHashBits..kMaxHashBits
  std::uint32_t depth = 8;       // candidates of a position, at least 1
  std::uint32_t cap_bytes = 64;  // where comparing stops; 4..65535
  std::uint32_t window_bytes = kMaxRecordOffset;       // the largest distance; 1..65535
  bool stitch = true;                                  // step 4
  std::uint32_t stitch_reach = kHashChainStitchReach;  // positions over which it carries a match back, 1..16
  std::uint32_t hash_bytes = kHashedBytes;             // the hash width, 4..8
  // The same in blocks with few values, 5..8, and one less in blocks of up to 64 KB; 0: no difference.
  std::uint32_t few_values_hash_bytes = 0;

  static constexpr std::string_view kName = "hash_chain";
  static constexpr std::array<std::string_view, 8> kFields = {
      "window_size", "depth",        "hash_bits",  "cap_bytes",
      "stitch",      "stitch_reach", "hash_bytes", "few_values_hash_bytes"};
  static FinderParameters defaults() { return {.window_size = 32768}; }
  static HashChainParameters from(const FinderParameters& p) {
    return {p.hash_bits, p.depth,        p.cap_bytes,  p.window_size,
            p.stitch,    p.stitch_reach, p.hash_bytes, p.few_values_hash_bytes};
  }
};

// Throws kInvalidOption, with the field's name, for parameters outside their limits.
void check_hash_chain_parameters(const HashChainParameters& parameters);

// Whether the words of a block have few values (hash_width.hpp).
bool has_few_values(std::span<const std::byte> block);

// How many bytes the block's hashes cover.
std::uint32_t hash_width_of(std::span<const std::byte> block, const HashChainParameters& parameters);

// The best match of every position of the block. Throws kInvalidOption, with the field's name, for parameters
// outside their limits. Thread safety: any number of calls at once.
MatchRecords find_hash_chain(const FinderInput& input, const HashChainParameters& parameters);

inline void check_parameters(const HashChainParameters& parameters) {
  check_hash_chain_parameters(parameters);
}
inline FoundMatches find_reference(const FinderInput& input, const HashChainParameters& parameters) {
  return {find_hash_chain(input, parameters)};
}

}  // namespace hemstitch
