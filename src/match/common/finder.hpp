// The common shape of all finders: bytes in, the best match of every position out.
//
// The history (a preset dictionary, or the data before the block) stands directly before the block in memory,
// so that a match into it is a match like any other. Positions of the result count from the block's first
// byte; a finder never gives a match for a history byte, but may give matches that point into the history.
// Finders clip to the maximum offset of a record and to the end of the data, nothing else: the limits of a
// format are the parse's business (core/block_plan.hpp).
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <vector>

#include "core/match.hpp"
#include "match/common/find_counters.hpp"

namespace hemstitch {

struct FinderInput {
  std::span<const std::byte> data;  // history, then the block
  std::size_t history_bytes = 0;    // how many bytes of `data` are history

  std::size_t block_bytes() const { return data.size() - history_bytes; }
};

// One record for each position of the block.
using MatchRecords = std::vector<MatchRecord>;

// What one run of a finder gives, with what those ask for who judge it.
struct FoundMatches {
  MatchRecords records;
  std::optional<MatchRecords> before_stitch = {};  // of finders that keep what they had without their stitch
  std::optional<FindCounters> counters = {};       // of finders that count
};

}  // namespace hemstitch
