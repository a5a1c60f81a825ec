// A kernel that calls what the core headers offer to devices: proof that they compile there, not a test of
// results.
#include <cstdint>

#include "core/block_plan.hpp"
#include "core/cost_model.hpp"
#include "core/match.hpp"

namespace hemstitch {

__global__ void call_core_functions(std::uint32_t* results, Match left, Match right) {
  const MatchRecord record = pack_match(left.offset, left.length);
  const CostModel costs;
  results[0] = record_offset(record) + record_length(record);
  results[1] = better_match(left, right) ? 1 : 0;
  results[2] = costs.literal_cost() + costs.match_cost(left.length);
  results[3] =
      lz4_block_plan().max_offset + deflate_block_plan().max_offset + lzss_block_plan(5, 258).max_offset;
}

}  // namespace hemstitch
