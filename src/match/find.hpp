// All finders of match.hpp behind one call, and the check that every one of them must pass.
#pragma once

#include <cstddef>
#include <optional>
#include <vector>

#include "hemstitch/match.hpp"
#include "match/brute_force/brute_force.hpp"
#include "match/common/finder.hpp"
#include "match/common/search_counters.hpp"
#include "match/coop_stitch/coop_stitch.hpp"
#include "match/finder_parameters.hpp"
#include "match/lazy_scan/lazy_scan.hpp"
#include "match/window_index/window_index.hpp"

namespace hemstitch {

// The twin of `finder`. check_finder_parameters has accepted the parameters.
MatchRecords find_reference(Finder finder, const FinderInput& input, const FinderParameters& parameters,
                            SearchCounters& counters);

// The block position of the first record whose bytes do not stand where it says; nothing if all are right.
std::optional<std::size_t> first_wrong_record(const FinderInput& input, const MatchRecords& records);

}  // namespace hemstitch
