// The common interface of all finders: bytes in, the best match of every position out.
//
// The history (a dictionary, or the data before the block) is directly before the block in memory, so a match
// into it is like any other match. Positions in the result count from the block's first byte; a finder gives
// no matches for history bytes, but matches may refer to the history. Finders clip only to the largest offset
// of a record and to the end of the data. Parses apply the limits of a format (core/block_plan.hpp).
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

// The results of one run of a finder, with those for judging it. The result of a finder's find_reference() says
// which records it writes: MatchRecord or WideRecord (core/match.hpp).
template <typename Record>
struct BasicFoundMatches {
  std::vector<Record> records;
  std::optional<std::vector<Record>> before_stitch =
      {};                                     // the records without the stitch, for finders that keep them
  std::optional<FindCounters> counters = {};  // for finders that count
};
using FoundMatches = BasicFoundMatches<MatchRecord>;

}  // namespace hemstitch
