// lazy_scan: all near offsets, and farther ones in steps. The plain scan of founding document 001
// (docs/founding.md), which uses it as the reference for its cooperative kernel.
//
// Algorithm: position p tries the offsets 1, 2, .., near_range and then near_range + far_step, near_range +
// 2 * far_step, .. up to window_size; offsets that reach before the data are left out. Of all matches of at
// least min_match_len bytes the longest wins, then the smallest offset. With good_match_len set, the search
// of a position ends with the first match of that length (the order above is part of the definition). Lengths
// end at max_match_len and at the end of the data.
//
// Properties: positions are independent, so a kernel has a thread for each; neighbours read neighbouring
// bytes. The work is near_range + (window_size - near_range) / far_step probes for each position: 4992 for
// that document's 1024, 32768 and 8. Only positions whose distance to a far repetition is in the step see it,
// one in far_step. "Lazy" refers to the choice among neighbours that the document makes afterwards; that is a
// parse, and is in src/parse.
#pragma once

#include <array>
#include <string_view>

#include "match/common/find_counters.hpp"
#include "match/common/finder.hpp"
#include "match/finder_parameters.hpp"

namespace hemstitch {

struct LazyScanParameters : FinderParameters {
  static constexpr std::string_view kName = "lazy_scan";
  static constexpr std::array<std::string_view, 4> kFields = {"window_size", "near_range", "far_step",
                                                              "good_match_len"};
  static constexpr bool kCounts = true;
  static FinderParameters defaults() { return {.window_size = 32768, .near_range = 1024}; }
  static LazyScanParameters from(const FinderParameters& p) { return {p}; }
};

// Throws kInvalidOption with the name of the first of its own fields that is outside its limits.
void check_parameters(const LazyScanParameters& parameters);

// Reads the lengths, near_range, window_size, far_step and good_match_len, which check_finder_parameters
// accepted.
MatchRecords lazy_scan_reference(const FinderInput& input, const FinderParameters& parameters,
                                 FindCounters& counters);

inline FoundMatches find_reference(const FinderInput& input, const LazyScanParameters& parameters) {
  FoundMatches found;
  found.records = lazy_scan_reference(input, parameters, found.counters.emplace());
  return found;
}

}  // namespace hemstitch
