#include "match/window_index/window_index_webgpu.hpp"

#include "match/finder_parameters.hpp"

namespace hemstitch::webgpu {

static_assert(kTilePositions == kMaxIndexedPositions, "a group of window_index.wgsl is a tile");
static_assert(kRunOffsets == 8 && kRunLength == 128, "window_index.wgsl has these numbers");

void record_window_index(Recording& recording, const BlockBatch& batch, const FinderOutput& output,
                         const FinderParameters& p) {
  check_finder_parameters(Finder::kWindowIndex, p);
  Step step{"match/window_index/window_index.wgsl",
            "find",
            {batch.tile_count, p.min_match_len, p.max_match_len, p.window_size},
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
