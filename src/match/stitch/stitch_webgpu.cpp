#include "match/stitch/stitch_webgpu.hpp"

namespace hemstitch::webgpu {

void record_stitch(Recording& recording, const BlockBatch& batch, const StitchBuffers& buffers,
                   std::uint32_t cap_bytes, std::uint32_t reach) {
  const auto pass = [&](std::string_view entry_point, BufferId source, BufferId result) {
    recording.dispatch({"match/stitch/stitch.wgsl",
                        entry_point,
                        {batch.tile_count, cap_bytes, reach},
                        {{batch.data, Access::kRead},
                         {batch.rows, Access::kRead},
                         {batch.tiles, Access::kRead},
                         {source, Access::kRead},
                         {result, Access::kReadWrite},
                         {buffers.marks, Access::kReadWrite}},
                        batch.tile_count});
  };
  // A pointer is longer than the cap, and lengths end at 65535. So 16 hops, four times over, follow any row
  // of pointers.
  constexpr int kFollowPasses = 4;
  pass("extend", buffers.records, buffers.other);
  for (int i = 0; i < kFollowPasses; ++i) pass("follow", buffers.records, buffers.other);
  pass("inherit", buffers.records, buffers.other);
  if (reach == 0) return;
  pass("backward", buffers.other, buffers.records);
  pass("forward", buffers.records, buffers.other);
}

}  // namespace hemstitch::webgpu
