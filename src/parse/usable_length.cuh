// usable_match() of parse.hpp for kernels: the same limits, computed once for each block, so that a position costs a few 32-bit
// instructions.
#pragma once

#include "parse/parse_cuda.hpp"

namespace hemstitch::cuda {

struct UsableLengths {
  std::uint32_t starts;    // a match may start at positions below this
  std::uint32_t last_end;  // and ends at most here
  std::uint32_t longest;
  std::uint32_t shortest;
  std::uint32_t max_offset;

  // For positions that count from `begin`, a position of a block of `block_bytes`.
  __device__ UsableLengths(const BlockPlan& plan, std::uint32_t block_bytes, std::uint32_t begin)
      : longest(min(plan.max_match_length, kMaxRecordLength)),
        shortest(shortest_match(plan)),
        max_offset(plan.max_offset) {
    const std::uint32_t rest = block_bytes - begin;
    const std::uint32_t gap = max(plan.last_match_start_gap, plan.last_match_end_gap);
    starts = rest >= gap ? rest - gap + 1 : 0;
    last_end = rest >= gap ? rest - plan.last_match_end_gap : 0;
  }

  // Positions that the functor is given from now on count from `before` positions earlier.
  __device__ void count_from(std::uint32_t before) {
    starts += min(before, ~starts);
    last_end += min(before, ~last_end);
  }

  // 0 for no match.
  template <typename Record>
  __device__ std::uint32_t operator()(const Record& record, std::uint32_t position) const {
    const std::uint32_t length = min(min(record_length(record), longest), last_end - position);
    const bool usable = position < starts && length >= shortest && record_offset(record) <= max_offset;
    return usable ? length : 0;
  }
};

}  // namespace hemstitch::cuda
