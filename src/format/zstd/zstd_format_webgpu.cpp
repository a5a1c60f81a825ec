// Zstandard on WebGPU devices, which restore frames whose places are known (frame/zstd_reader.hpp), and write none.
#include "format/formats_webgpu.hpp"
#include "format/zstd/restore/zstd_restore_webgpu.hpp"

namespace hemstitch::webgpu {
namespace {

class ZstdDeviceFormat : public DeviceFormat {
 public:
  Format id() const override { return Format::kZstd; }

  StagedBatch stage_restore(std::span<const BlockSizes> blocks) const override {
    ZstdRestoreTable table;
    for (const BlockSizes& block : blocks)
      table.add(block.history_bytes, block.input_bytes, block.room_bytes);
    const ZstdRestorePlan plan = plan_zstd_restore(table);
    return staged_restoration<ZstdRestoreState>(table, plan, record_zstd_restore(plan, table));
  }
};

}  // namespace

std::vector<std::unique_ptr<DeviceFormat>> make_zstd_device_formats() {
  std::vector<std::unique_ptr<DeviceFormat>> formats;
  formats.push_back(std::make_unique<ZstdDeviceFormat>());
  return formats;
}

}  // namespace hemstitch::webgpu
