// optimal through WebGPU; optimal.hpp defines it.
#pragma once

#include "parse/optimal/optimal.hpp"
#include "parse/optimal/optimal_tuning.hpp"
#include "parse/parse_webgpu.hpp"

namespace hemstitch::webgpu {

// A model in cost_model.wgsl besides the flat one: literals and matches cost whole bytes, as in LZ4.
struct WholeByteCosts {};

// Write the decisions of parse_optimal(), for record_walk().
void record_optimal(Recording& recording, const BlockBatch& batch, BufferId records, BufferId decisions,
                    const BlockPlan& plan, const FullLengthCostModel& model);
void record_optimal(Recording& recording, const BlockBatch& batch, BufferId records, BufferId decisions,
                    const BlockPlan& plan, WholeByteCosts);

// Costs from a table (cost_table.hpp), in buffers of the device.
struct CostTableBuffers {
  BufferId prices;  // CostTable::words() of a table that passed check_cost_table()
  BufferId ahead;   // kAheadBytes for each tile
};
inline constexpr std::uint64_t kAheadBytes = 4 * kLookAheadPositions;

void record_optimal(Recording& recording, const BlockBatch& batch, BufferId records, BufferId decisions,
                    const BlockPlan& plan, const CostTableBuffers& table);

// A format with its own cost model adds a record_optimal() for it.
template <typename Model>
void record_parse(Recording& recording, const BlockBatch& batch, BufferId records, BufferId decisions,
                  const BlockPlan& plan, const OptimalParse<Model>& parse) {
  record_optimal(recording, batch, records, decisions, plan, parse.costs);
}

}  // namespace hemstitch::webgpu
