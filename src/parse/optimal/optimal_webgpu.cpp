#include "parse/optimal/optimal_webgpu.hpp"

#include "match/common/parameter_check.hpp"
#include "parse/optimal/optimal_tuning.hpp"

namespace hemstitch::webgpu {
namespace {

static_assert(kSegmentPositions == kTilePositions && kLookAheadPositions == 256,
              "segments.wgsl has these numbers");

// `bindings` are those of the entry point solve; take uses the first four.
void record_optimal(Recording& recording, std::string_view shader, const BlockBatch& batch,
                    const BlockPlan& plan, std::uint32_t literal_cost, std::uint32_t match_cost,
                    const std::vector<Binding>& bindings,
                    const std::vector<std::pair<std::string, double>>& constants) {
  constexpr std::uint32_t kLanes = 32;
  const auto workgroups = static_cast<std::uint32_t>(divided_up(batch.tile_count, kLanes));
  const std::vector<std::uint32_t> parameters =
      plan_parameters(plan, {batch.tile_count, workgroups, literal_cost, match_cost});
  recording.dispatch({shader, "solve", parameters, bindings, workgroups, constants});
  recording.dispatch(
      {shader, "take", parameters, {bindings.begin(), bindings.begin() + 4}, batch.tile_count, constants});
}

std::vector<Binding> shared_bindings(const BlockBatch& batch, BufferId records, BufferId decisions) {
  return {{batch.rows, Access::kRead},
          {batch.tiles, Access::kRead},
          {records, Access::kRead},
          {decisions, Access::kReadWrite}};
}

void record_whole_units(Recording& recording, const BlockBatch& batch, BufferId records, BufferId decisions,
                        const BlockPlan& plan, std::uint32_t literal_cost, std::uint32_t match_cost,
                        bool lz4_costs) {
  record_optimal(recording, "parse/optimal/optimal.wgsl", batch, plan, literal_cost, match_cost,
                 shared_bindings(batch, records, decisions), {{"lz4_costs", lz4_costs ? 1.0 : 0.0}});
}

}  // namespace

void record_optimal(Recording& recording, const BlockBatch& batch, BufferId records, BufferId decisions,
                    const BlockPlan& plan, const FullLengthCostModel& model) {
  // A path never costs more than all literals. The shader has 15 bits for the costs of a segment, and 13 for
  // those of the look-ahead.
  constexpr std::uint32_t kMostBits = 25;
  static_assert(kMostBits * (kSegmentPositions + kLookAheadPositions) < 1u << 15 &&
                kMostBits * kLookAheadPositions < 1u << 13);
  check_parameter("optimal", "literal_cost_bits", model.literal_cost_bits, 0, kMostBits);
  check_parameter("optimal", "match_fixed_cost_bits", model.match_fixed_cost_bits, 0, 65535);
  record_whole_units(recording, batch, records, decisions, plan, model.literal_cost_bits,
                     model.match_fixed_cost_bits, false);
}

void record_optimal(Recording& recording, const BlockBatch& batch, BufferId records, BufferId decisions,
                    const BlockPlan& plan, WholeByteCosts) {
  record_whole_units(recording, batch, records, decisions, plan, 0, 0, true);
}

void record_optimal(Recording& recording, const BlockBatch& batch, BufferId records, BufferId decisions,
                    const BlockPlan& plan, const CostTableBuffers& table) {
  std::vector<Binding> bindings = shared_bindings(batch, records, decisions);
  bindings.push_back({table.prices, Access::kRead});
  bindings.push_back({table.ahead, Access::kReadWrite});
  record_optimal(recording, "parse/optimal/optimal_table.wgsl", batch, plan, 0, 0, bindings, {});
}

}  // namespace hemstitch::webgpu
