// Finds matches in pieces of a block on all cores. In all finders that use it, positions do not depend on
// each other, so the pieces do not affect the result.
#pragma once

#include <algorithm>
#include <cstddef>
#include <vector>

#include "core/between_pieces.hpp"
#include "core/parallel.hpp"
#include "match/common/find_counters.hpp"

namespace hemstitch {

// Calls find(begin, end, counters) for [0, position_count), cut into pieces of `piece_positions`; returns the
// sum of the counters.
template <typename Find>
FindCounters find_in_pieces(std::size_t position_count, std::size_t piece_positions, const Find& find) {
  const std::size_t piece_count = (position_count + piece_positions - 1) / piece_positions;
  std::vector<FindCounters> counters(piece_count);
  LooksBetweenPieces* const call = LooksBetweenPieces::here();
  run_in_parallel(piece_count, 1, [&](std::size_t piece) {
    const LooksBetweenPieces::Here here(call);
    look_between_pieces();
    const std::size_t begin = piece * piece_positions;
    FindCounters own;  // in memory of its own, so that threads do not share cache lines
    find(begin, std::min(begin + piece_positions, position_count), own);
    counters[piece] = own;
  });
  FindCounters sum;
  for (const FindCounters& of_piece : counters) sum += of_piece;
  return sum;
}

}  // namespace hemstitch
