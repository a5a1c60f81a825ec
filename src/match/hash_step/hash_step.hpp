// hash_step: one look-up in a table that is a step behind, and three near offsets. Levels 1 and 2 use
// hash_chain of depth 1 instead, which is as fast on a device (docs/decisions/lz4-level-1.md).
//
// A table holds, for each hash of four bytes, the newest position seen so far. With "data" the history
// followed by the block:
//
//   1. Every position of the history enters the table: table[hash(q)] = max(q).
//   2. The block is taken in groups of `group_positions`, counted from the block's first byte. All positions of
//      a group are looked up; then all of them enter the table, the newest position of a hash winning. So a
//      position never sees its own group through the table.
//   3. The candidates of a position are the table's (if within 65535 bytes) and the positions 1, 2 and 4 bytes
//      back (if the data reaches that far). A candidate whose first four bytes differ is no match. Lengths are
//      compared up to `cap_bytes`; the longest wins, then the nearest. Positions with fewer than 4 bytes left
//      in the data have no hash, no candidates, and do not enter the table.
//   4. Capped lengths become true lengths, and the stitch follows, over kHashStepStitchReach positions
//      (match/stitch/stitch.hpp).
//
// Why it is the same on every machine: "the newest wins" is a maximum. On a device, the update is an
// atomicMax of position + 1 (0 for "empty") on a table in workgroup memory, with a barrier before and after.
// In whatever order threads run, there is one result. An exchange would keep the value of whichever thread
// came last.
//
// Why the near offsets: looking up before inserting loses the candidates inside the group. On real data these
// are runs and columns of small elements, and offsets 1, 2 and 4 bring most of them back. The stitch then
// finds the rest of a long repeat from the first position after the group.
//
// A larger group means fewer barriers and a lower ratio (hash_step_tuning.hpp). Cost: one look-up, one
// insertion and at most four comparisons of `cap_bytes` for each position.
#pragma once

#include <array>
#include <cstdint>
#include <string_view>

#include "core/match.hpp"
#include "hemstitch/match.hpp"
#include "match/common/finder.hpp"
#include "match/hash_step/hash_step_tuning.hpp"

namespace hemstitch {

struct HashStepParameters {
  unsigned hash_bits = 12;             // the table has 2^hash_bits entries; kMinHashBits..kMaxHashBits
  std::uint32_t group_positions = 32;  // at least 1
  std::uint32_t cap_bytes = 32;        // where comparing stops; 4..65535
  bool stitch = true;

  static constexpr std::string_view kName = "hash_step";
  static constexpr std::array<std::string_view, 4> kFields = {"hash_bits", "group_positions", "cap_bytes",
                                                              "stitch"};
  static FinderParameters defaults() {
    return {.window_size = kMaxRecordOffset,
            .hash_bits = 13,
            .cap_bytes = kHashStepCapBytes,
            .group_positions = kHashStepGroupPositions};
  }
  static HashStepParameters from(const FinderParameters& p) {
    return {p.hash_bits, p.group_positions, p.cap_bytes, p.stitch};
  }
};

// The distances that every position tries besides that of the table.
inline constexpr std::array<std::uint32_t, 3> kNearOffsets = {1, 2, 4};

// Throws kInvalidOption, with the field's name, for parameters outside their limits.
void check_hash_step_parameters(const HashStepParameters& parameters);

// The best match of every position of the block. Throws kInvalidOption, with the field's name, for parameters
// outside their limits. Thread safety: any number of calls at once.
MatchRecords find_hash_step(const FinderInput& input, const HashStepParameters& parameters);

inline void check_parameters(const HashStepParameters& parameters) { check_hash_step_parameters(parameters); }
inline FoundMatches find_reference(const FinderInput& input, const HashStepParameters& parameters) {
  return {find_hash_step(input, parameters)};
}

}  // namespace hemstitch
