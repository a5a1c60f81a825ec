#include "format/deflate/restore/deflate_restore_webgpu.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "core/status.hpp"

namespace hemstitch::webgpu {

void DeflateRestoreTable::add(std::uint32_t history_bytes, std::uint32_t stream_bytes,
                              std::uint32_t room_bytes) {
  if (stream_bytes > kMostDeflateStreamBytes)
    throw Error(Status::kInvalidOption,
                fmt::format("a DEFLATE stream has {} bytes; WebGPU restores at most {}", stream_bytes,
                            kMostDeflateStreamBytes));
  DeflateRestoreRow row;
  row.begin = static_cast<std::uint32_t>(data_bytes);
  row.history_bytes = history_bytes;
  row.stream_bytes = stream_bytes;
  row.room_bytes = room_bytes;
  row.output_begin = static_cast<std::uint32_t>(output_bytes);
  rows.push_back(row);
  data_bytes += divided_up(std::uint64_t{history_bytes} + stream_bytes, 4) * 4;
  output_bytes += divided_up(room_bytes, 4) * 4;
  // A turn reads more than the first number of bytes or writes more than the second, unless blocks are tiny,
  // and even if each segment of a window takes a round of its own. Turns with nothing left to do cost next to
  // nothing.
  constexpr std::uint32_t kTurnInputBytes = 8192, kTurnOutputBytes = 32768;
  turns = std::max(turns, stream_bytes / kTurnInputBytes + room_bytes / kTurnOutputBytes + 2);
}

DeflateRestorePlan plan_deflate_restore(const DeflateRestoreTable& table) {
  DeflateRestorePlan plan;
  plan.data = plan.buffers.add("data", table.data_bytes);
  plan.rows = plan.buffers.add("streams", table.rows.size() * sizeof(DeflateRestoreRow));
  plan.results = plan.buffers.add("states", table.rows.size() * sizeof(DeflateRestoreState));
  plan.output = plan.buffers.add("output", table.output_bytes);
  return plan;
}

Recording record_deflate_restore(const DeflateRestorePlan& plan, const DeflateRestoreTable& table) {
  const auto stream_count = static_cast<std::uint32_t>(table.rows.size());
  Recording recording;
  for (std::uint32_t turn = 0; turn < table.turns; ++turn)
    recording.dispatch({"format/deflate/restore/deflate_restore.wgsl",
                        "restore",
                        {stream_count, turn},
                        {{plan.data, Access::kRead},
                         {plan.rows, Access::kRead},
                         {plan.results, Access::kReadWrite},
                         {plan.output, Access::kReadWrite}},
                        stream_count});
  return recording;
}

}  // namespace hemstitch::webgpu
