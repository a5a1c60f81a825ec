#include "parse/optimal/optimal_exact_webgpu.hpp"

#include <algorithm>
#include <limits>

#include "match/common/parameter_check.hpp"

namespace hemstitch::webgpu {
namespace {

constexpr std::uint32_t kPassPositions = 8192;  // as in whole_blocks.wgsl

// Each step solves kPassPositions of every block, beginning with the last ones.
void record_exact(Recording& recording, std::string_view shader, const BlockBatch& batch,
                  const BlockPlan& plan, std::uint32_t literal_cost, std::uint32_t match_cost,
                  const std::vector<Binding>& bindings,
                  const std::vector<std::pair<std::string, double>>& constants) {
  for (std::uint64_t solved = 0; solved < batch.longest_bytes; solved += kPassPositions)
    recording.dispatch({shader, "solve",
                        plan_parameters(plan, {batch.block_count, static_cast<std::uint32_t>(solved),
                                               literal_cost, match_cost}),
                        bindings, batch.block_count, constants});
}

std::vector<Binding> shared_bindings(const BlockBatch& batch, const OptimalExactBuffers& buffers) {
  return {{batch.rows, Access::kRead},
          {buffers.records, Access::kRead},
          {buffers.costs, Access::kReadWrite},
          {buffers.decisions, Access::kReadWrite}};
}

void record_whole_units(Recording& recording, const BlockBatch& batch, const OptimalExactBuffers& buffers,
                        const BlockPlan& plan, std::uint32_t literal_cost, std::uint32_t match_cost,
                        bool lz4_costs) {
  record_exact(recording, "parse/optimal/optimal_exact.wgsl", batch, plan, literal_cost, match_cost,
               shared_bindings(batch, buffers), {{"lz4_costs", lz4_costs ? 1.0 : 0.0}});
}

}  // namespace

void record_optimal_exact(Recording& recording, const BlockBatch& batch, const OptimalExactBuffers& buffers,
                          const BlockPlan& plan, const FullLengthCostModel& model) {
  // A path never costs more than all literals.
  constexpr std::uint64_t kMost = std::numeric_limits<std::uint32_t>::max();
  check_parameter("optimal_exact", "match_fixed_cost_bits", model.match_fixed_cost_bits, 0, 65535);
  check_parameter("optimal_exact", "literal_cost_bits", model.literal_cost_bits, 0,
                  (kMost - 65535) / std::max<std::uint64_t>(1, batch.longest_bytes));
  record_whole_units(recording, batch, buffers, plan, model.literal_cost_bits, model.match_fixed_cost_bits,
                     false);
}

void record_optimal_exact(Recording& recording, const BlockBatch& batch, const OptimalExactBuffers& buffers,
                          const BlockPlan& plan, WholeByteCosts) {
  check_parameter("optimal_exact", "block_bytes", batch.longest_bytes, 0, 4000000000u);
  record_whole_units(recording, batch, buffers, plan, 0, 0, true);
}

void record_optimal_exact(Recording& recording, const BlockBatch& batch, const OptimalExactBuffers& buffers,
                          const BlockPlan& plan, BufferId prices) {
  std::vector<Binding> bindings = shared_bindings(batch, buffers);
  bindings.push_back({prices, Access::kRead});
  record_exact(recording, "parse/optimal/optimal_exact_table.wgsl", batch, plan, 0, 0, bindings, {});
}

}  // namespace hemstitch::webgpu
