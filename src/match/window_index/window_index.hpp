// window_index: the exhaustive search of a small window, the other way round. The group indexes its own
// positions and lets the window stream past them.
//
// A brute force asks for each position: which of the window's bytes are like mine? Nearly all of its
// comparisons fail in the first byte. Here a group of neighbouring positions, 64 to 1024, puts itself into a
// hash table by the leading bytes. Then each candidate position of the window, from window_size before the
// group to its last position but one, is looked up once, and only the positions with the same leading bytes
// are compared with it. A window of 4096 costs a group of 1024 five lookups a byte and comes down to some 20
// comparisons a byte on text, where the brute force needs 4096.
//
// Algorithm, for each position p of the group:
//   1. Runs. Try the offsets 1..8. If the best match of these has at least 128 bytes, it is the result; p is
//      not indexed. Inside a long run of a short period every position is like every other; without this the
//      table would compare all with all.
//   2. Otherwise p is indexed under a hash of its leading min(min_match_len, 4) bytes. Positions with fewer
//      bytes than min_match_len left are not.
// For each candidate c of the window, in any order: for each indexed p with the same hash, c < p and p - c <=
// window_size, compare p with c; the longer match wins, then the nearer candidate.
//
// The result is that of brute_force with the same parameters, except at the positions of step 1. It does not
// depend on the number of positions in a group: a larger group only divides the lookups among more positions.
//
// On a device: a workgroup a group. Heads and links of the table are 16-bit in workgroup memory (a position
// within the group), built by the threads together, in any order; barrier; then thread i takes the candidates
// i, i + threads, .. and carries each find to its position by an atomic maximum of length << 16 | (65535 -
// offset) in workgroup memory: the order of better_match as one number, so it makes no difference who comes
// first. Barrier, then write out the records.
//
// Limits: window_size to 65535, but the lookups grow as (window_size + group) / group: this is a finder for
// windows of a few thousand bytes. Files of short runs are its worst: 1860 comparisons a byte on the fax page
// ptt5, 16 on text (bench/results, "matching").
#pragma once

#include <array>
#include <string_view>

#include "match/common/find_counters.hpp"
#include "match/common/finder.hpp"
#include "match/finder_parameters.hpp"

namespace hemstitch {

inline constexpr std::uint32_t kRunOffsets = 8;   // offsets of step 1
inline constexpr std::uint32_t kRunLength = 128;  // bytes that end the search in step 1
inline constexpr std::uint32_t kMaxIndexedPositions = 1024;

struct WindowIndexParameters : FinderParameters {
  static constexpr std::string_view kName = "window_index";
  static constexpr std::array<std::string_view, 1> kFields = {"window_size"};
  static constexpr bool kCounts = true;
  static FinderParameters defaults() { return {.window_size = 4096}; }
  static WindowIndexParameters from(const FinderParameters& p) { return {p}; }
};

inline void check_parameters(const WindowIndexParameters&) {}  // reads what all finders read

// Reads the lengths and window_size, which check_finder_parameters has accepted. `group_positions` is
// 1..kMaxIndexedPositions. The comparisons of step 1 count as probes.
MatchRecords window_index_reference(const FinderInput& input, const FinderParameters& parameters,
                                    FindCounters& counters,
                                    std::uint32_t group_positions = kMaxIndexedPositions);

inline FoundMatches find_reference(const FinderInput& input, const WindowIndexParameters& parameters) {
  FoundMatches found;
  found.records = window_index_reference(input, parameters, found.counters.emplace());
  return found;
}

}  // namespace hemstitch
