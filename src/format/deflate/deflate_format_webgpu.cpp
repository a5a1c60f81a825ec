// The formats with DEFLATE blocks on WebGPU devices.
#include <algorithm>

#include "format/deflate/compress/deflate_compress_webgpu.hpp"
#include "format/deflate/deflate_formats.hpp"
#include "format/deflate/restore/deflate_restore_webgpu.hpp"
#include "format/formats_webgpu.hpp"

namespace hemstitch::webgpu {
namespace {

class DeflateDeviceFormat : public DeviceFormat {
 public:
  explicit DeflateDeviceFormat(Format id) : id_(id) {}

  Format id() const override { return id_; }
  bool compresses() const override { return true; }

  // Has room for a history of 32 KB in each megabyte, so that content of `batch_bytes` is one batch.
  BatchLimits compress_limits(int, std::size_t, std::uint64_t batch_bytes,
                              std::uint64_t binding_bytes) const override {
    return {std::min(batch_bytes + batch_bytes / 16, binding_bytes / 4)};
  }
  std::uint64_t counted_bytes(const BlockSizes& block) const override {
    return deflate_array_positions(block.history_bytes, block.input_bytes);
  }

  StagedBatch stage_compress(std::span<const BlockSizes> blocks, int level_number,
                             std::size_t) const override {
    const DeflateLevel level = deflate_level(level_number);
    StagedBatch staged;
    DeflateCompressTable table;
    std::uint64_t output_bytes = 0;
    for (const BlockSizes& block : blocks) {
      const auto room = static_cast<std::uint32_t>(
          std::min<std::uint64_t>(block.room_bytes, deflate_data_room(block.input_bytes)));
      staged.begins.push_back(static_cast<std::uint32_t>(staged.data_bytes));
      table.add(staged.begins.back(), block.history_bytes, block.input_bytes, room);
      staged.data_bytes += whole_words(std::uint64_t{block.history_bytes} + block.input_bytes);
      output_bytes += whole_words(room);
    }
    DeflateCompressPlan plan = plan_deflate_compress(table, output_bytes, level);
    staged.data = plan.blocks.data;
    staged.add_table(plan.blocks.rows, table.blocks.rows);
    staged.add_table(plan.blocks.tiles, table.blocks.tiles);
    staged.add_table(plan.chunks.rows, table.chunks.rows);
    staged.add_table(plan.chunks.tiles, table.chunks.tiles);
    staged.add_table(plan.block_chunks, table.block_chunks);
    staged.add_table(plan.pieces, table.pieces);
    set_encoded(staged, plan.sizes, plan.begins, plan.output, output_bytes);
    staged.recording = record_deflate_compress(plan, table, level, deflate_end_of_blocks(id_), output_bytes);
    staged.buffers = std::move(plan.buffers);
    return staged;
  }

  StagedBatch stage_restore(std::span<const BlockSizes> blocks) const override {
    DeflateRestoreTable table;
    for (const BlockSizes& block : blocks)
      table.add(block.history_bytes, block.input_bytes, block.room_bytes);
    const DeflateRestorePlan plan = plan_deflate_restore(table);
    return staged_restoration<DeflateRestoreState>(table, plan, record_deflate_restore(plan, table));
  }

 private:
  Format id_;
};

}  // namespace

std::vector<std::unique_ptr<DeviceFormat>> make_deflate_device_formats() {
  std::vector<std::unique_ptr<DeviceFormat>> formats;
  for (const Format id : {Format::kGzip, Format::kBgzf, Format::kZlib, Format::kDeflate})
    formats.push_back(std::make_unique<DeflateDeviceFormat>(id));
  return formats;
}

}  // namespace hemstitch::webgpu
