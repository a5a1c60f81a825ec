#include "format/lz4/lz4_decode_webgpu.hpp"

#include <algorithm>

namespace hemstitch::webgpu {

Status restore_status(const RestoreResult& result) {
  switch (result.status) {
    case 0:
      return Status::kOk;
    case 1:
      return Status::kCorruptBlock;
    case 2:
      return Status::kOutputTooSmall;
    default:
      return Status::kDeviceFault;
  }
}

void RestoreTable::add(std::uint32_t history_bytes, std::uint32_t block_bytes, std::uint32_t room_bytes) {
  // A sequence but the last is a token and an offset at least.
  constexpr std::uint32_t kShortestSequenceBytes = 3;
  RestoreRow row;
  row.begin = static_cast<std::uint32_t>(data_bytes);
  row.history_bytes = history_bytes;
  row.block_bytes = block_bytes;
  row.room_bytes = room_bytes;
  row.first_sequence = sequence_count;
  row.output_begin = static_cast<std::uint32_t>(output_bytes);
  row.first_tile = static_cast<std::uint32_t>(tiles.size());
  tiles.insert(tiles.end(), divided_up(room_bytes, kRestoreTileBytes),
               static_cast<std::uint32_t>(rows.size()));
  rows.push_back(row);
  data_bytes += divided_up(std::uint64_t{history_bytes} + block_bytes, 4) * 4;
  output_bytes += divided_up(room_bytes, 4) * 4;
  sequence_count += block_bytes / kShortestSequenceBytes + 1;
  largest_block_bytes = std::max(largest_block_bytes, block_bytes);
  largest_room_bytes = std::max(largest_room_bytes, room_bytes);
}

bool RestoreCapacity::holds(const RestoreCapacity& other) const {
  return data_bytes >= other.data_bytes && output_bytes >= other.output_bytes &&
         block_count >= other.block_count && tile_count >= other.tile_count &&
         sequence_count >= other.sequence_count;
}

RestoreCapacity capacity_of(const RestoreTable& table) {
  return {table.data_bytes, table.output_bytes, static_cast<std::uint32_t>(table.rows.size()),
          static_cast<std::uint32_t>(table.tiles.size()), table.sequence_count};
}

Lz4RestorePlan plan_lz4_restore(const RestoreCapacity& capacity) {
  constexpr std::uint64_t kSequenceBytes = 12;
  Lz4RestorePlan plan;
  plan.data = plan.buffers.add("data", capacity.data_bytes);
  plan.rows = plan.buffers.add("blocks", capacity.block_count * sizeof(RestoreRow));
  plan.tiles = plan.buffers.add("tiles", std::uint64_t{capacity.tile_count} * 4);
  plan.results = plan.buffers.add("results", capacity.block_count * sizeof(RestoreResult));
  plan.sequences = plan.buffers.add("sequences", capacity.sequence_count * kSequenceBytes);
  plan.sources = plan.buffers.add("sources", capacity.output_bytes * 4);
  plan.output = plan.buffers.add("output", capacity.output_bytes);
  return plan;
}

Recording record_lz4_restore(const Lz4RestorePlan& plan, const RestoreTable& table) {
  constexpr std::uint64_t kHops = 16;
  constexpr std::uint32_t kParseTurnBytes = 65536;
  const auto block_count = static_cast<std::uint32_t>(table.rows.size());
  const auto tile_count = static_cast<std::uint32_t>(table.tiles.size());
  Recording recording;
  const auto pass = [&](std::string_view entry_point, std::uint64_t workgroups, std::uint32_t turn = 0) {
    recording.dispatch({"format/lz4/lz4_decode.wgsl",
                        entry_point,
                        {block_count, tile_count, turn},
                        {{plan.data, Access::kRead},
                         {plan.rows, Access::kRead},
                         {plan.tiles, Access::kRead},
                         {plan.results, Access::kReadWrite},
                         {plan.sequences, Access::kReadWrite},
                         {plan.sources, Access::kReadWrite},
                         {plan.output, Access::kReadWrite}},
                        workgroups});
  };
  const std::uint32_t turns = table.largest_block_bytes / kParseTurnBytes + 1;
  for (std::uint32_t turn = 0; turn < turns; ++turn) pass("parse", block_count, turn);
  pass("trace", tile_count);
  // A chain has no more links than a block has matches of four bytes.
  for (std::uint64_t links = table.largest_room_bytes / 4; links > 1; links /= kHops)
    pass("resolve", tile_count);
  pass("write", tile_count);
  return recording;
}

}  // namespace hemstitch::webgpu
