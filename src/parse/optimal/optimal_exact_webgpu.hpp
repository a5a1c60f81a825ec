// optimal_exact through WebGPU; optimal.hpp defines it.
#pragma once

#include "parse/optimal/optimal_webgpu.hpp"
#include "parse/parse_webgpu.hpp"

namespace hemstitch::webgpu {

struct OptimalExactBuffers {
  BufferId records;  // 4 bytes for each byte of the data, like the others
  BufferId costs;
  BufferId decisions;  // for record_walk()
};

// Writes the decisions of parse_optimal_exact(). Throws kInvalidOption if the cost of the longest block may
// exceed 32 bits.
void record_optimal_exact(Recording& recording, const BlockBatch& batch, const OptimalExactBuffers& buffers,
                          const BlockPlan& plan, const FullLengthCostModel& model);
void record_optimal_exact(Recording& recording, const BlockBatch& batch, const OptimalExactBuffers& buffers,
                          const BlockPlan& plan, WholeByteCosts);

// `prices` as in CostTableBuffers. No path costs more than all literals, so all literals of the longest block
// must cost less than 2^32 units.
void record_optimal_exact(Recording& recording, const BlockBatch& batch, const OptimalExactBuffers& buffers,
                          const BlockPlan& plan, BufferId prices);

}  // namespace hemstitch::webgpu
