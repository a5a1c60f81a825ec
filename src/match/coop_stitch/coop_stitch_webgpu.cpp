#include "match/coop_stitch/coop_stitch_webgpu.hpp"

#include "match/finder_parameters.hpp"

namespace hemstitch::webgpu {

static_assert(kTilePositions % kCoopGroupPositions == 0, "coop_stitch.wgsl takes groups from tiles");

void record_coop_stitch(Recording& recording, const BlockBatch& batch, const FinderOutput& output,
                        const FinderParameters& p) {
  check_finder_parameters(Finder::kCoopStitch, p);
  const std::uint32_t per_bucket = p.top_k_policy == TopKPolicy::kLongestPerBucket ? 1 : 0;
  Step step{
      "match/coop_stitch/coop_stitch.wgsl",
      "find",
      {batch.tile_count, p.min_match_len, p.max_match_len, p.window_size, p.stride, p.near_range,
       p.band_origin, per_bucket, p.good_match_len},
      {{batch.data, Access::kRead},
       {batch.rows, Access::kRead},
       {batch.tiles, Access::kRead},
       {output.records, Access::kReadWrite}},
      std::uint64_t{batch.tile_count} * (kTilePositions / kCoopGroupPositions),
      {{"top_k", p.top_k}, {"list_words", kCoopGroupPositions * p.top_k}, {"stitch", p.stitch ? 1.0 : 0.0}}};
  if (output.counters) {
    step.entry_point = "count";
    step.bindings.push_back({output.before_stitch.value(), Access::kReadWrite});
    step.bindings.push_back({*output.counters, Access::kReadWrite});
    step.constants.emplace_back("counted", 1.0);
  }
  recording.dispatch(std::move(step));
}

}  // namespace hemstitch::webgpu
