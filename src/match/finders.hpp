// Calls any finder, and lists what is known of each, from match/finder_rows.hpp.
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <string_view>

#include "hemstitch/match.hpp"
#include "match/common/finder.hpp"
#include "match/finder_parameters.hpp"
#include "match/finder_rows.hpp"

namespace hemstitch {

struct FinderRow {
  std::string_view name;
  std::span<const std::string_view> fields;  // of FinderParameters, besides the lengths and costs
  FinderParameters (*defaults)();
  AnyFinder (*with)(const FinderParameters&);
  std::size_t judged_block_bytes;  // the size of the blocks that it is judged by; 0: whole files
  bool counts;                     // whether it counts probes and comparisons
  bool keeps_before_stitch;        // whether it keeps the records without the stitch

  bool reads(std::string_view field) const;
};

// In the order of Finder.
std::span<const FinderRow> finder_rows();
const FinderRow& row_of(Finder finder);
const FinderRow& row_of(const AnyFinder& finder);
// Throws kInvalidOption, with the names of all finders.
const FinderRow& row_named(std::string_view name);

// Throws kInvalidOption with the name of the first field that is outside its limits.
AnyFinder checked_finder(const FinderRow& row, const FinderParameters& parameters);

// The twin.
FoundMatches find_reference(const AnyFinder& finder, const FinderInput& input);

// The block position of the first record whose match refers to different bytes; nothing if all are right.
std::optional<std::size_t> first_wrong_record(const FinderInput& input, const MatchRecords& records);

}  // namespace hemstitch
