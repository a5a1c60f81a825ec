#include "parse/parse_webgpu.hpp"

namespace hemstitch::webgpu {
namespace {

void record_decisions(Recording& recording, std::string_view shader, const BlockBatch& batch,
                      BufferId records, BufferId decisions, std::vector<std::uint32_t> parameters) {
  recording.dispatch({shader,
                      "decide",
                      std::move(parameters),
                      {{batch.rows, Access::kRead},
                       {batch.tiles, Access::kRead},
                       {records, Access::kRead},
                       {decisions, Access::kReadWrite}},
                      batch.tile_count});
}

}  // namespace

std::vector<std::uint32_t> plan_parameters(const BlockPlan& plan, std::initializer_list<std::uint32_t> more) {
  std::vector<std::uint32_t> parameters = {plan.min_match_length,
                                           plan.max_match_length,
                                           plan.max_offset,
                                           plan.last_match_start_gap,
                                           plan.last_match_end_gap,
                                           0,
                                           0,
                                           0};
  parameters.insert(parameters.end(), more);
  return parameters;
}

void record_greedy(Recording& recording, const BlockBatch& batch, BufferId records, BufferId decisions,
                   const BlockPlan& plan) {
  record_decisions(recording, "parse/greedy/greedy.wgsl", batch, records, decisions,
                   plan_parameters(plan, {batch.tile_count}));
}

void record_lazy(Recording& recording, const BlockBatch& batch, BufferId records, BufferId decisions,
                 const BlockPlan& plan, std::uint32_t lazy_skip) {
  record_decisions(recording, "parse/lazy/lazy.wgsl", batch, records, decisions,
                   plan_parameters(plan, {batch.tile_count, lazy_skip}));
}

}  // namespace hemstitch::webgpu
