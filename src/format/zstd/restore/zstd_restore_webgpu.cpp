#include "format/zstd/restore/zstd_restore_webgpu.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "core/status.hpp"
#include "format/zstd/block/zstd_symbols.hpp"

namespace hemstitch::webgpu {

void ZstdRestoreTable::add(std::uint32_t history_bytes, std::uint32_t frame_bytes, std::uint32_t room_bytes) {
  const std::uint64_t content_bytes = std::uint64_t{history_bytes} + room_bytes;
  if (frame_bytes > kMostZstdFrameBytes || content_bytes > kMostZstdFrameBytes)
    throw Error(
        Status::kInvalidOption,
        fmt::format("a frame has {} bytes, and {} of content with its history; WebGPU restores at most {}",
                    frame_bytes, content_bytes, kMostZstdFrameBytes));
  ZstdRestoreRow row;
  row.begin = static_cast<std::uint32_t>(data_bytes);
  row.history_bytes = history_bytes;
  row.frame_bytes = frame_bytes;
  row.room_bytes = room_bytes;
  row.output_begin = static_cast<std::uint32_t>(output_bytes);
  row.literals_begin = static_cast<std::uint32_t>(literals_bytes);
  rows.push_back(row);
  data_bytes += divided_up(std::uint64_t{history_bytes} + frame_bytes, 4) * 4;
  output_bytes += divided_up(room_bytes, 4) * 4;
  // Each of four streams begins at a whole word.
  constexpr std::uint64_t kBetweenStreams = 16;
  literals_bytes +=
      divided_up(std::min<std::uint64_t>(content_bytes, kZstdMostBlockBytes), 4) * 4 + kBetweenStreams;
  // A turn reads more than the first number of bytes or writes more than the second, unless blocks are tiny. Turns with
  // nothing left to do cost next to nothing.
  constexpr std::uint32_t kTurnInputBytes = 8192, kTurnOutputBytes = 32768;
  turns = std::max(turns, frame_bytes / kTurnInputBytes + room_bytes / kTurnOutputBytes + 2);
}

ZstdRestorePlan plan_zstd_restore(const ZstdRestoreTable& table) {
  ZstdRestorePlan plan;
  plan.data = plan.buffers.add("data", table.data_bytes);
  plan.rows = plan.buffers.add("frames", table.rows.size() * sizeof(ZstdRestoreRow));
  plan.results = plan.buffers.add("states", table.rows.size() * sizeof(ZstdRestoreState));
  plan.output = plan.buffers.add("output", table.output_bytes);
  plan.literals = plan.buffers.add("literals", table.literals_bytes);
  return plan;
}

Recording record_zstd_restore(const ZstdRestorePlan& plan, const ZstdRestoreTable& table) {
  const auto frame_count = static_cast<std::uint32_t>(table.rows.size());
  Recording recording;
  for (std::uint32_t turn = 0; turn < table.turns; ++turn)
    recording.dispatch({"format/zstd/restore/zstd_restore.wgsl",
                        "restore",
                        {frame_count, turn},
                        {{plan.data, Access::kRead},
                         {plan.rows, Access::kRead},
                         {plan.results, Access::kReadWrite},
                         {plan.output, Access::kReadWrite},
                         {plan.literals, Access::kReadWrite}},
                        frame_count});
  return recording;
}

}  // namespace hemstitch::webgpu
