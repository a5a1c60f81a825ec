#include "parse/parse_webgpu.hpp"

namespace hemstitch::webgpu {
namespace {

// `items` counts tiles or blocks.
void record_pass(Recording& recording, const BlockBatch& batch, std::string_view entry_point,
                 std::uint32_t items, std::uint32_t items_a_workgroup, BufferId decisions, Binding exits,
                 BufferId entries, BufferId counts, Binding sequences) {
  const auto workgroups = static_cast<std::uint32_t>(divided_up(items, items_a_workgroup));
  recording.dispatch({"parse/walk/walk.wgsl",
                      entry_point,
                      {batch.tile_count, batch.block_count, workgroups},
                      {{batch.rows, Access::kRead},
                       {batch.tiles, Access::kRead},
                       {decisions, Access::kRead},
                       exits,
                       {entries, Access::kReadWrite},
                       {counts, Access::kReadWrite},
                       sequences},
                      workgroups});
}

}  // namespace

void record_walk_entries(Recording& recording, const BlockBatch& batch, BufferId decisions, BufferId exits,
                         BufferId entries, BufferId counts) {
  const Binding written_exits{exits, Access::kReadWrite};
  record_pass(recording, batch, "find_exits", batch.tile_count, 1, decisions, written_exits, entries, counts,
              kNoBinding);
  record_pass(recording, batch, "chain", batch.block_count, 64, decisions, written_exits, entries, counts,
              kNoBinding);
}

void record_walk(Recording& recording, const BlockBatch& batch, const WalkBuffers& buffers) {
  record_walk_entries(recording, batch, buffers.decisions, buffers.exits, buffers.entries, buffers.counts);
  record_pass(recording, batch, "emit", batch.tile_count, 64, buffers.decisions, kNoBinding, buffers.entries,
              buffers.counts, {buffers.sequences, Access::kReadWrite});
}

}  // namespace hemstitch::webgpu
