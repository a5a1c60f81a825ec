// optimal through WebGPU; the definition stands in optimal.hpp.
#pragma once

#include "parse/optimal/optimal.hpp"
#include "parse/parse_webgpu.hpp"

namespace hemstitch::webgpu {

// What cost_model.wgsl has beside the flat model: literals and matches that cost whole bytes, as in LZ4.
struct WholeByteCosts {};

// The decisions of parse_optimal(), for record_walk().
void record_optimal(Recording& recording, const BlockBatch& batch, BufferId records, BufferId decisions,
                    const BlockPlan& plan, const FullLengthCostModel& model);
void record_optimal(Recording& recording, const BlockBatch& batch, BufferId records, BufferId decisions,
                    const BlockPlan& plan, WholeByteCosts);

}  // namespace hemstitch::webgpu
