#include "parse/optimal/optimal_webgpu.hpp"

#include "match/common/parameter_check.hpp"
#include "parse/optimal/optimal_tuning.hpp"

namespace hemstitch::webgpu {
namespace {

static_assert(kSegmentPositions == kTilePositions && kLookAheadPositions == 256,
              "optimal.wgsl has these numbers");

void record(Recording& recording, const BlockBatch& batch, BufferId records, BufferId decisions,
            const BlockPlan& plan, std::uint32_t literal_cost, std::uint32_t match_cost, bool lz4_costs) {
  constexpr std::uint32_t kLanes = 32;
  const auto workgroups = static_cast<std::uint32_t>(divided_up(batch.tile_count, kLanes));
  const auto pass = [&](std::string_view entry_point, std::uint32_t workgroup_count) {
    recording.dispatch({"parse/optimal/optimal.wgsl",
                        entry_point,
                        plan_parameters(plan, {batch.tile_count, workgroups, literal_cost, match_cost}),
                        {{batch.rows, Access::kRead},
                         {batch.tiles, Access::kRead},
                         {records, Access::kRead},
                         {decisions, Access::kReadWrite}},
                        workgroup_count,
                        {{"lz4_costs", lz4_costs ? 1.0 : 0.0}}});
  };
  pass("solve", workgroups);
  pass("take", batch.tile_count);
}

}  // namespace

void record_optimal(Recording& recording, const BlockBatch& batch, BufferId records, BufferId decisions,
                    const BlockPlan& plan, const FullLengthCostModel& model) {
  // A path is never dearer than all literals. Costs of a segment have 15 bits there, those looked ahead to 13.
  constexpr std::uint32_t kMostBits = 25;
  static_assert(kMostBits * (kSegmentPositions + kLookAheadPositions) < 1u << 15 &&
                kMostBits * kLookAheadPositions < 1u << 13);
  check_parameter("optimal", "literal_cost_bits", model.literal_cost_bits, 0, kMostBits);
  check_parameter("optimal", "match_fixed_cost_bits", model.match_fixed_cost_bits, 0, 65535);
  record(recording, batch, records, decisions, plan, model.literal_cost_bits, model.match_fixed_cost_bits,
         false);
}

void record_optimal(Recording& recording, const BlockBatch& batch, BufferId records, BufferId decisions,
                    const BlockPlan& plan, WholeByteCosts) {
  record(recording, batch, records, decisions, plan, 0, 0, true);
}

}  // namespace hemstitch::webgpu
