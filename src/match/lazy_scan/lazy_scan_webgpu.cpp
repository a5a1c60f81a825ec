#include "match/lazy_scan/lazy_scan_webgpu.hpp"

#include "match/finder_parameters.hpp"

namespace hemstitch::webgpu {

void record_lazy_scan(Recording& recording, const BlockBatch& batch, const FinderOutput& output,
                      const FinderParameters& p) {
  check_finder_parameters(Finder::kLazyScan, p);
  Step step{"match/lazy_scan/lazy_scan.wgsl",
            "find",
            {batch.tile_count, p.min_match_len, p.max_match_len, p.window_size, p.near_range, p.far_step,
             p.good_match_len},
            {{batch.data, Access::kRead},
             {batch.rows, Access::kRead},
             {batch.tiles, Access::kRead},
             {output.records, Access::kReadWrite}},
            batch.tile_count};
  if (output.counters) {
    step.entry_point = "count";
    step.bindings.push_back({*output.counters, Access::kReadWrite});
    step.constants.emplace_back("counted", 1.0);
  }
  recording.dispatch(std::move(step));
}

}  // namespace hemstitch::webgpu
