// LZ4 as a format of WebGPU devices.
#include <algorithm>

#include "format/formats_webgpu.hpp"
#include "format/lz4/compress/lz4_compress_webgpu.hpp"
#include "format/lz4/restore/lz4_restore_webgpu.hpp"

namespace hemstitch::webgpu {
namespace {

// The size of the longest block: literals alone, with the bytes that extend their count.
constexpr std::uint64_t most_encoded_bytes(std::uint64_t block_bytes) {
  return block_bytes + block_bytes / 255 + 2;
}

class Lz4DeviceFormat : public DeviceFormat {
 public:
  Format id() const override { return Format::kLz4; }
  bool compresses() const override { return true; }

  // Both the arrays of positions and the heads limit a batch.
  BatchLimits compress_limits(int level, std::size_t block_bytes, std::uint64_t batch_bytes,
                              std::uint64_t binding_bytes) const override {
    return {batch_bytes, binding_bytes >> (hash_bits(lz4_level(level, block_bytes)) + 2)};
  }
  std::uint64_t counted_bytes(const BlockSizes& block) const override {
    return std::uint64_t{block.history_bytes} + block.input_bytes;
  }

  StagedBatch stage_compress(std::span<const BlockSizes> blocks, int level_number,
                             std::size_t block_bytes) const override {
    const Lz4Level level = lz4_level(level_number, block_bytes);
    StagedBatch staged;
    BlockTable table;
    std::uint64_t output_bytes = 0;
    for (const BlockSizes& block : blocks) {
      const auto room = static_cast<std::uint32_t>(
          std::min<std::uint64_t>(block.room_bytes, most_encoded_bytes(block.input_bytes)));
      staged.begins.push_back(static_cast<std::uint32_t>(staged.data_bytes));
      table.add(staged.begins.back(), block.history_bytes, block.input_bytes, room,
                lz4_block_plan().min_match_length);
      staged.data_bytes += whole_words(counted_bytes(block));
      output_bytes += whole_words(room);
    }
    Lz4CompressPlan plan = plan_lz4_compress(table, output_bytes, level);
    staged.data = plan.batch.data;
    staged.add_table(plan.batch.rows, table.rows);
    staged.add_table(plan.batch.tiles, table.tiles);
    set_encoded(staged, plan.sizes, plan.begins, plan.output, output_bytes);
    staged.recording = record_lz4_compress(plan, table, level, output_bytes);
    staged.buffers = std::move(plan.buffers);
    return staged;
  }

  StagedBatch stage_restore(std::span<const BlockSizes> blocks) const override {
    Lz4RestoreTable table;
    for (const BlockSizes& block : blocks)
      table.add(block.history_bytes, block.input_bytes, block.room_bytes);
    const Lz4RestorePlan plan = plan_lz4_restore(table);
    return staged_restoration<Lz4RestoreResult>(table, plan, record_lz4_restore(plan, table));
  }
};

}  // namespace

std::vector<std::unique_ptr<DeviceFormat>> make_lz4_device_formats() {
  std::vector<std::unique_ptr<DeviceFormat>> formats;
  formats.push_back(std::make_unique<Lz4DeviceFormat>());
  return formats;
}

}  // namespace hemstitch::webgpu
