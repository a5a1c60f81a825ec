// optimal_exact through WebGPU; the definition stands in optimal.hpp.
#pragma once

#include "parse/optimal/optimal_webgpu.hpp"
#include "parse/parse_webgpu.hpp"

namespace hemstitch::webgpu {

struct OptimalExactBuffers {
  BufferId records;  // 4 bytes for each byte of the data, like the others
  BufferId costs;
  BufferId decisions;  // for record_walk()
};

// The decisions of parse_optimal_exact(). Throws kInvalidOption where the cost of the longest block may pass 32 bits.
void record_optimal_exact(Recording& recording, const BlockBatch& batch, const OptimalExactBuffers& buffers,
                          const BlockPlan& plan, const FullLengthCostModel& model);
void record_optimal_exact(Recording& recording, const BlockBatch& batch, const OptimalExactBuffers& buffers,
                          const BlockPlan& plan, WholeByteCosts);

// `prices` as CostTableBuffers has them. A path is never dearer than all literals: those of the longest block have to cost
// less than 2^32 units.
void record_optimal_exact(Recording& recording, const BlockBatch& batch, const OptimalExactBuffers& buffers,
                          const BlockPlan& plan, BufferId prices);

}  // namespace hemstitch::webgpu
