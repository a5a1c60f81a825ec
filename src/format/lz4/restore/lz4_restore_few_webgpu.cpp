// Decides whether a batch has few blocks, and records the passes for it (lz4_restore_few.wgsl).
#include <utility>

#include "format/lz4/restore/lz4_restore_webgpu.hpp"

namespace hemstitch::webgpu {
namespace {

// A workgroup restores about 0.16 GB/s (docs/decisions/webgpu.md). With many workgroups for each block, it
// takes twelve passes.
constexpr std::size_t kFewBlocks = 64;
constexpr std::uint32_t kShortestFewBytes = 8192;
// The content of the largest block, as its lengths claim (up to 255 bytes for each byte), must fit into 32
// bits.
constexpr std::uint32_t kLongestFewBytes = 8u << 20;

constexpr std::uint32_t kFewPartBytes = 1024;  // in the input, and in the output

}  // namespace

bool Lz4RestoreTable::has_few_blocks() const {
  return rows.size() <= kFewBlocks && largest_room_bytes >= kShortestFewBytes &&
         largest_room_bytes <= kLongestFewBytes && largest_block_bytes <= kLongestFewBytes;
}

std::uint64_t few_windows_bytes(std::uint64_t data_bytes) {
  constexpr std::uint64_t kWindowRowBytes = 136;
  return data_bytes == 0 ? 0 : (data_bytes / kFewPartBytes + kFewBlocks) * kWindowRowBytes;
}

Recording record_lz4_restore_few(const Lz4RestorePlan& plan, const Lz4RestoreTable& table) {
  const auto block_count = static_cast<std::uint32_t>(table.rows.size());
  // The parts of a block are numbered from its position, plus the number of the block.
  const std::uint64_t windows = table.data_bytes / kFewPartBytes + block_count,
                      tiles = table.output_bytes / kFewPartBytes + block_count;
  const Binding data = {plan.data, Access::kRead}, rows = {plan.rows, Access::kRead},
                results = {plan.results, Access::kReadWrite},
                sequences = {plan.sequences, Access::kReadWrite},
                window_rows = {plan.windows, Access::kReadWrite},
                sources = {plan.sources, Access::kReadWrite}, output = {plan.output, Access::kReadWrite};
  Recording recording;
  const auto pass = [&](std::string_view entry_point, std::uint64_t parts, std::uint64_t workgroups,
                        std::vector<Binding> bindings) {
    recording.dispatch({"format/lz4/restore/lz4_restore_few.wgsl",
                        entry_point,
                        {block_count, static_cast<std::uint32_t>(parts)},
                        std::move(bindings),
                        workgroups});
  };
  // The exits use the memory of the sequences, which are written later.
  pass("find_exits", windows, windows, {data, rows, kNoBinding, kNoBinding, sequences, window_rows});
  pass("join_exits", windows, windows, {kNoBinding, rows, kNoBinding, kNoBinding, sequences});
  pass("chain", windows, block_count, {data, rows, results, kNoBinding, sequences, window_rows});
  pass("enter", windows, windows, {kNoBinding, rows, kNoBinding, kNoBinding, sequences, window_rows});
  pass("mark", windows, windows, {data, rows, kNoBinding, kNoBinding, kNoBinding, window_rows});
  pass("sum", windows, block_count, {kNoBinding, rows, results, kNoBinding, kNoBinding, window_rows});
  pass("list", windows, windows, {data, rows, results, sequences, kNoBinding, window_rows});
  pass("judge", windows, divided_up(block_count, 64), {kNoBinding, kNoBinding, results});
  pass("trace", tiles, tiles, {data, rows, results, sequences, kNoBinding, kNoBinding, sources});
  // `fill` takes the last steps itself.
  constexpr std::uint64_t kSteps = 16;
  const std::uint64_t most_tiles = divided_up(table.largest_room_bytes, kFewPartBytes);
  for (std::uint64_t reach = kSteps; reach < most_tiles; reach *= kSteps)
    pass("shorten", tiles, tiles, {kNoBinding, rows, results, kNoBinding, kNoBinding, kNoBinding, sources});
  pass("fill", tiles, tiles, {data, rows, results, kNoBinding, kNoBinding, kNoBinding, sources, output});
  return recording;
}

}  // namespace hemstitch::webgpu
