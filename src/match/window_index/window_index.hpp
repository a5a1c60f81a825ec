// window_index: the exhaustive search of a small window in reverse. A group indexes its own positions and
// looks up those of the window.
//
// A brute force search asks for each position which bytes of the window are equal to its own. Nearly all of
// its comparisons fail in the first byte. Here, a group of 64 to 1024 neighbouring positions puts itself into
// a hash table by the leading bytes. Then each candidate position, from window_size before the group to the
// group's last position but one, is looked up once, and compared only with the positions that have the same
// leading bytes. With a window of 4096, a group of 1024 makes five look-ups and on text some 20 comparisons
// for each byte, where the brute force search needs 4096.
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
// depend on the size of a group: a larger group only divides the look-ups among more positions.
//
// On a device: a workgroup for each group. Heads and links of the table have 16 bits in workgroup memory (a
// position within the group). The threads build it together, in any order. After a barrier, thread i takes
// the candidates i, i + threads, ... and brings each find to its position by an atomic maximum of length <<
// 16 | (65535 - offset) in workgroup memory. This number has the order of better_match, so the order of
// threads does not matter. After another barrier, the records are written out.
//
// Limits: window_size is at most 65535, but the look-ups grow as (window_size + group) / group, so this
// finder suits windows of a few thousand bytes. Files of short runs are its worst case: 1860 comparisons for
// each byte on the fax page ptt5, 16 on text (bench/results, "matching").
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

// Reads the lengths and window_size, which check_finder_parameters accepted. `group_positions` is
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
