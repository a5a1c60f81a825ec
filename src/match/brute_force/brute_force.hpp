// brute_force: the best match among every offset up to the window. The oracle that other finders are held
// against.
//
// Algorithm, as a definition: for each position p and each offset 1..min(p, window_size), count the leading
// bytes on which p and p - offset agree, at most max_match_len and never past the end of the data. Of all
// offsets with at least min_match_len bytes the longest wins, and of equally long ones the smallest. A kernel
// may do just that: a thread a position, a loop over offsets. That is window_size comparisons a position.
//
// The twin must judge whole files, so it finds the same matches through a search tree. For each value of a
// hash of the leading bytes there is a binary tree of the positions before p. It is ordered in two ways at
// once: by the text that begins there (lesser texts to the left), and by age (a child is older than its
// parent). To insert p, which is newer than all, is to walk from the root towards p's own text and to split
// the tree on the way into what is less and what is greater. The positions that share the most bytes with p
// stand next to it in the order of texts, so they are a connected piece of the order; the newest of them is
// an ancestor of the others and lies on the walk. So the walk meets the longest match, and of the longest
// ones it meets the nearest first.
//  - Along the walk, p shares at least min(bytes shared with the last lesser, with the last greater) with all
//    that is still ahead: comparisons start there.
//  - A position that agrees with p in all bytes that count takes no part any more, since p is newer and as
//    good for all that follows: p takes over its children. That keeps the tree shallow on runs and periods.
//  - A node that is out of the window ends the walk: all below it is older still.
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

// Reads min_match_len, max_match_len and window_size, which check_finder_parameters has accepted. `counters`
// get the probes of the definition, not those of the tree; byte comparisons are not counted.
MatchRecords brute_force_reference(const FinderInput& input, const FinderParameters& parameters,
                                   FindCounters& counters);

inline FoundMatches find_reference(const FinderInput& input, const BruteForceParameters& parameters) {
  FoundMatches found;
  found.records = brute_force_reference(input, parameters, found.counters.emplace());
  return found;
}

}  // namespace hemstitch
