#include "parse/parse_webgpu.hpp"

namespace hemstitch::webgpu {

void record_walk(Recording& recording, const BlockBatch& batch, const WalkBuffers& buffers) {
  // `items` are tiles or blocks.
  const auto pass = [&](std::string_view entry_point, std::uint32_t items, std::uint32_t items_a_workgroup,
                        Binding exits, Binding sequences) {
    const auto workgroups = static_cast<std::uint32_t>(divided_up(items, items_a_workgroup));
    recording.dispatch({"parse/walk/walk.wgsl",
                        entry_point,
                        {batch.tile_count, batch.block_count, workgroups},
                        {{batch.rows, Access::kRead},
                         {batch.tiles, Access::kRead},
                         {buffers.decisions, Access::kRead},
                         exits,
                         {buffers.entries, Access::kReadWrite},
                         {buffers.counts, Access::kReadWrite},
                         sequences},
                        workgroups});
  };
  const Binding exits{buffers.exits, Access::kReadWrite}, sequences{buffers.sequences, Access::kReadWrite};
  pass("find_exits", batch.tile_count, 1, exits, kNoBinding);
  pass("chain", batch.block_count, 64, exits, kNoBinding);
  pass("emit", batch.tile_count, 64, kNoBinding, sequences);
}

}  // namespace hemstitch::webgpu
