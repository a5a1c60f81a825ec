#include "parse/optimal/optimal_webgpu.hpp"

#include "match/parameter_check.hpp"
#include "parse/optimal/optimal_tuning.hpp"

namespace hemstitch::webgpu {
namespace {

static_assert(kSegmentPositions == kTilePositions && kLookAheadPositions == 256,
              "optimal.wgsl has these numbers");
static_assert(Lz4CostModel{}.match_cost(19) == 4 * Lz4CostModel{}.literal_cost() &&
                  Lz4CostModel{}.match_cost(18) == 3 * Lz4CostModel{}.literal_cost() &&
                  Lz4CostModel::kShorterLengthCount == 3,
              "cost_model.wgsl prices matches like this");

void record(Recording& recording, const BlockBatch& batch, BufferId records, BufferId decisions,
            const BlockPlan& plan, std::uint32_t literal_cost, std::uint32_t match_cost, bool lz4_costs) {
  constexpr std::uint32_t kThreads = 6;
  const auto workgroups = static_cast<std::uint32_t>(divided_up(batch.tile_count, kThreads));
  recording.dispatch({"parse/optimal/optimal.wgsl",
                      "solve",
                      plan_parameters(plan, {batch.tile_count, workgroups, literal_cost, match_cost}),
                      {{batch.rows, Access::kRead},
                       {batch.tiles, Access::kRead},
                       {records, Access::kRead},
                       {decisions, Access::kReadWrite}},
                      workgroups,
                      {{"lz4_costs", lz4_costs ? 1.0 : 0.0}}});
}

}  // namespace

void record_optimal(Recording& recording, const BlockBatch& batch, BufferId records, BufferId decisions,
                    const BlockPlan& plan, const FullLengthCostModel& model) {
  // Costs of a segment have 16 bits there; a path is never dearer than all literals.
  constexpr std::uint32_t kMostBits = 65535 / (kSegmentPositions + kLookAheadPositions);
  check_parameter("optimal", "literal_cost_bits", model.literal_cost_bits, 0, kMostBits);
  check_parameter("optimal", "match_fixed_cost_bits", model.match_fixed_cost_bits, 0, 65535);
  record(recording, batch, records, decisions, plan, model.literal_cost_bits, model.match_fixed_cost_bits,
         false);
}

void record_optimal(Recording& recording, const BlockBatch& batch, BufferId records, BufferId decisions,
                    const BlockPlan& plan, const Lz4CostModel&) {
  record(recording, batch, records, decisions, plan, 0, 0, true);
}

}  // namespace hemstitch::webgpu
