// Runs a search over pieces of a block on all cores. Positions do not depend on each other in any of the
// finders that use this, so pieces only decide who works, never what is found.
#pragma once

#include <tbb/blocked_range.h>
#include <tbb/parallel_reduce.h>

#include <algorithm>
#include <cstddef>

#include "match/search_counters.hpp"

namespace hemstitch {

// Calls search(begin, end, counters) for [0, position_count) cut every `piece_positions`; returns the
// counters' sum.
template <typename Search>
SearchCounters search_in_pieces(std::size_t position_count, std::size_t piece_positions,
                                const Search& search) {
  const std::size_t piece_count = (position_count + piece_positions - 1) / piece_positions;
  return tbb::parallel_reduce(
      tbb::blocked_range<std::size_t>(0, piece_count, 1), SearchCounters{},
      [&](const tbb::blocked_range<std::size_t>& pieces, SearchCounters sum) {
        for (std::size_t piece = pieces.begin(); piece != pieces.end(); ++piece) {
          const std::size_t begin = piece * piece_positions;
          search(begin, std::min(begin + piece_positions, position_count), sum);
        }
        return sum;
      },
      [](SearchCounters a, const SearchCounters& b) { return a += b; });
}

}  // namespace hemstitch
