// Runs a search over pieces of a block on all cores. Positions do not depend on each other in any of the
// finders that use this, so pieces only decide who works, never what is found.
#pragma once

#include <algorithm>
#include <cstddef>
#include <vector>

#include "core/parallel.hpp"
#include "match/common/search_counters.hpp"

namespace hemstitch {

// Calls search(begin, end, counters) for [0, position_count) cut every `piece_positions`; returns the
// counters' sum.
template <typename Search>
SearchCounters search_in_pieces(std::size_t position_count, std::size_t piece_positions,
                                const Search& search) {
  const std::size_t piece_count = (position_count + piece_positions - 1) / piece_positions;
  std::vector<SearchCounters> counters(piece_count);
  run_in_parallel(piece_count, 1, [&](std::size_t piece) {
    const std::size_t begin = piece * piece_positions;
    SearchCounters own;  // counted in memory that no other thread counts in
    search(begin, std::min(begin + piece_positions, position_count), own);
    counters[piece] = own;
  });
  SearchCounters sum;
  for (const SearchCounters& of_piece : counters) sum += of_piece;
  return sum;
}

}  // namespace hemstitch
