// All finders behind one call, and what is to be known of each of them, made from match/finder_rows.hpp.
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
  std::size_t judged_block_bytes;  // it is judged by blocks of this size; 0: by whole files
  bool counts;                     // probes and comparisons
  bool keeps_before_stitch;        // the records that it had without its stitch

  bool reads(std::string_view field) const;
};

// In the order of Finder.
std::span<const FinderRow> finder_rows();
const FinderRow& row_of(Finder finder);
const FinderRow& row_of(const AnyFinder& finder);
// Throws kInvalidOption, naming those there are.
const FinderRow& row_named(std::string_view name);

// Throws kInvalidOption with the name of the first field that is outside its limits.
AnyFinder checked_finder(const FinderRow& row, const FinderParameters& parameters);

// The twin.
FoundMatches find_reference(const AnyFinder& finder, const FinderInput& input);

// The block position of the first record whose bytes do not stand where it says; nothing if all are right.
std::optional<std::size_t> first_wrong_record(const FinderInput& input, const MatchRecords& records);

}  // namespace hemstitch
