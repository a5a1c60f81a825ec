// optimal through WebGPU; the definition stands in optimal.hpp.
#pragma once

#include "parse/optimal/optimal.hpp"
#include "parse/optimal/optimal_tuning.hpp"
#include "parse/parse_webgpu.hpp"

namespace hemstitch::webgpu {

// What cost_model.wgsl has beside the flat model: literals and matches that cost whole bytes, as in LZ4.
struct WholeByteCosts {};

// The decisions of parse_optimal(), for record_walk().
void record_optimal(Recording& recording, const BlockBatch& batch, BufferId records, BufferId decisions,
                    const BlockPlan& plan, const FullLengthCostModel& model);
void record_optimal(Recording& recording, const BlockBatch& batch, BufferId records, BufferId decisions,
                    const BlockPlan& plan, WholeByteCosts);

// Costs from a table (cost_table.hpp), in buffers of the device.
struct CostTableBuffers {
  BufferId prices;  // CostTable::words(), of a table that check_cost_table() let pass
  BufferId ahead;   // kAheadBytes a tile
};
inline constexpr std::uint64_t kAheadBytes = 4 * kLookAheadPositions;

void record_optimal(Recording& recording, const BlockBatch& batch, BufferId records, BufferId decisions,
                    const BlockPlan& plan, const CostTableBuffers& table);

// A format with a cost model of its own has a record_optimal() for it.
template <typename Model>
void record_parse(Recording& recording, const BlockBatch& batch, BufferId records, BufferId decisions,
                  const BlockPlan& plan, const OptimalParse<Model>& parse) {
  record_optimal(recording, batch, records, decisions, plan, parse.costs);
}

}  // namespace hemstitch::webgpu
