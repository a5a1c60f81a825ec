// brute_force: the best match among all offsets of the window. The tests compare other finders with it.
//
// Algorithm, as a definition: for each position p and each offset 1..min(p, window_size), count the leading
// bytes on which p and p - offset agree, at most max_match_len and never past the end of the data. Of all
// offsets with at least min_match_len bytes, the longest wins; of equally long ones, the smallest. A kernel
// may do exactly that: one thread for each position, and a loop over offsets. That is window_size comparisons
// for each position.
//
// The twin must process whole files, so it finds the same matches with a search tree. For each value of a
// hash of the leading bytes there is a binary tree of the positions before p. It is ordered in two ways at
// once: by the text at each position (lesser texts to the left), and by age (a child is older than its
// parent). To insert p, which is newer than all others, the twin walks from the root towards p's own text and
// splits the tree on the way into the lesser and the greater part. The positions that share the most bytes
// with p are next to it in the order of texts, so they form a contiguous range of it. The newest of them is
// an ancestor of the others and lies on the walk. So the walk meets the longest match, and of the longest
// ones it meets the nearest first.
// - Along the walk, p shares at least min(bytes shared with the last lesser, with the last greater) with all
//   positions ahead, so comparisons start there.
// - A position that agrees with p in all bytes that count is dropped, since p is newer and serves all later
//   positions equally well: p takes over its children. That keeps the tree shallow on runs and periods.
// - A node outside of the window ends the walk: all nodes below it are older.
//
// Limits: window_size and lengths to 65535. Positions with fewer than min_match_len bytes left have no match.
#pragma once

#include <array>
#include <string_view>

#include "match/common/find_counters.hpp"
#include "match/common/finder.hpp"
#include "match/finder_parameters.hpp"

namespace hemstitch {

struct BruteForceParameters : FinderParameters {
  static constexpr std::string_view kName = "brute_force";
  static constexpr std::array<std::string_view, 1> kFields = {"window_size"};
  static constexpr bool kCounts = true;
  static FinderParameters defaults() { return {.window_size = 4096}; }
  static BruteForceParameters from(const FinderParameters& p) { return {p}; }
};

inline void check_parameters(const BruteForceParameters&) {}  // reads what all finders read

// Reads min_match_len, max_match_len and window_size, which check_finder_parameters accepted. `counters`
// counts the probes of the definition, not those of the tree; byte comparisons are not counted.
MatchRecords brute_force_reference(const FinderInput& input, const FinderParameters& parameters,
                                   FindCounters& counters);

inline FoundMatches find_reference(const FinderInput& input, const BruteForceParameters& parameters) {
  FoundMatches found;
  found.records = brute_force_reference(input, parameters, found.counters.emplace());
  return found;
}

}  // namespace hemstitch
