#include "match/stitch/stitch_webgpu.hpp"

namespace hemstitch::webgpu {

void record_stitch(Recording& recording, const BlockBatch& batch, const StitchBuffers& buffers,
                   std::uint32_t cap_bytes, bool stitch) {
  const auto pass = [&](std::string_view entry_point, BufferId source, BufferId result) {
    recording.dispatch({"match/stitch/stitch.wgsl",
                        entry_point,
                        {batch.tile_count, cap_bytes},
                        {{batch.data, Access::kRead},
                         {batch.rows, Access::kRead},
                         {batch.tiles, Access::kRead},
                         {source, Access::kRead},
                         {result, Access::kReadWrite},
                         {buffers.marks, Access::kReadWrite}},
                        batch.tile_count});
  };
  pass("extend", buffers.records, buffers.other);
  pass("inherit", buffers.records, buffers.other);
  if (!stitch) return;
  pass("backward", buffers.other, buffers.records);
  pass("forward", buffers.records, buffers.other);
}

}  // namespace hemstitch::webgpu
