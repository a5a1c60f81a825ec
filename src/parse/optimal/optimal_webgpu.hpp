// optimal through WebGPU; the definition stands in optimal.hpp.
#pragma once

#include "format/lz4/lz4_cost.hpp"
#include "parse/optimal/optimal.hpp"
#include "parse/parse_webgpu.hpp"

namespace hemstitch::webgpu {

// The decisions of parse_optimal(), for record_walk().
void record_optimal(Recording& recording, const BlockBatch& batch, BufferId records, BufferId decisions,
                    const BlockPlan& plan, const FullLengthCostModel& model);
void record_optimal(Recording& recording, const BlockBatch& batch, BufferId records, BufferId decisions,
                    const BlockPlan& plan, const Lz4CostModel& model);

}  // namespace hemstitch::webgpu
