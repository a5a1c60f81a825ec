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

// A format with a cost model of its own has a record_optimal() for it.
template <typename Model>
void record_parse(Recording& recording, const BlockBatch& batch, BufferId records, BufferId decisions,
                  const BlockPlan& plan, const OptimalParse<Model>& parse) {
  record_optimal(recording, batch, records, decisions, plan, parse.costs);
}

}  // namespace hemstitch::webgpu
