#include "format/lz4/restore/lz4_restore_webgpu.hpp"

#include <algorithm>

namespace hemstitch::webgpu {

void Lz4RestoreTable::add(std::uint32_t history_bytes, std::uint32_t block_bytes, std::uint32_t room_bytes) {
  // Every sequence but the last has at least a token and an offset.
  constexpr std::uint32_t kShortestSequenceBytes = 3;
  Lz4RestoreRow row;
  row.begin = static_cast<std::uint32_t>(data_bytes);
  row.history_bytes = history_bytes;
  row.block_bytes = block_bytes;
  row.room_bytes = room_bytes;
  row.first_sequence = sequence_count;
  row.output_begin = static_cast<std::uint32_t>(output_bytes);
  rows.push_back(row);
  data_bytes += divided_up(std::uint64_t{history_bytes} + block_bytes, 4) * 4;
  output_bytes += divided_up(room_bytes, 4) * 4;
  sequence_count += block_bytes / kShortestSequenceBytes + 1;
  largest_block_bytes = std::max(largest_block_bytes, block_bytes);
  largest_room_bytes = std::max(largest_room_bytes, room_bytes);
}

Lz4RestorePlan plan_lz4_restore(const Lz4RestoreTable& table) {
  constexpr std::uint64_t kSequenceBytes = 12;
  const bool few = table.has_few_blocks();
  Lz4RestorePlan plan;
  plan.data = plan.buffers.add("data", table.data_bytes);
  plan.rows = plan.buffers.add("blocks", table.rows.size() * sizeof(Lz4RestoreRow));
  plan.results = plan.buffers.add("results", table.rows.size() * sizeof(Lz4RestoreResult));
  plan.sequences = plan.buffers.add("sequences", table.sequence_count * kSequenceBytes);
  plan.output = plan.buffers.add("output", table.output_bytes);
  plan.windows = plan.buffers.add("windows", few_windows_bytes(few ? table.data_bytes : 0));
  plan.sources = plan.buffers.add("sources", few ? table.output_bytes * 4 : 0);
  return plan;
}

Recording record_lz4_restore(const Lz4RestorePlan& plan, const Lz4RestoreTable& table) {
  if (table.has_few_blocks()) return record_lz4_restore_few(plan, table);
  constexpr std::uint32_t kParseTurnBytes = 65536, kCopyTurnBytes = 32768;
  const auto block_count = static_cast<std::uint32_t>(table.rows.size());
  Recording recording;
  const auto pass = [&](std::string_view entry_point, std::uint32_t turn, Binding output) {
    recording.dispatch({"format/lz4/restore/lz4_restore.wgsl",
                        entry_point,
                        {block_count, turn},
                        {{plan.data, Access::kRead},
                         {plan.rows, Access::kRead},
                         {plan.results, Access::kReadWrite},
                         {plan.sequences, Access::kReadWrite},
                         output},
                        block_count});
  };
  const std::uint32_t parse_turns = table.largest_block_bytes / kParseTurnBytes + 1;
  for (std::uint32_t turn = 0; turn < parse_turns; ++turn) pass("parse", turn, kNoBinding);
  const auto copy_turns = static_cast<std::uint32_t>(divided_up(table.largest_room_bytes, kCopyTurnBytes));
  for (std::uint32_t turn = 0; turn < copy_turns; ++turn)
    pass("copy", turn, {plan.output, Access::kReadWrite});
  return recording;
}

}  // namespace hemstitch::webgpu
