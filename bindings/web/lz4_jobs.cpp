#include "lz4_jobs.hpp"

#include "format/lz4/lz4_levels.hpp"
#include "format/restore_status_webgpu.hpp"

namespace hemstitch::web {

Lz4Compression::Lz4Compression(const CompressOptions& given, std::uint64_t batch_bytes, const Limits& limits)
    : FrameCompression(given) {
  begin(batch_bytes, options().block_bytes, limits);
}

void Lz4Compression::plan_job(std::span<const Block> blocks, std::size_t output_bytes) {
  table_ = {};
  for (const Block& block : blocks)
    table_.add(block.begin, block.history_bytes, block.bytes, block.room_bytes,
               lz4_block_plan().min_match_length);
  const Lz4Level level = lz4_level(options().level, options().block_bytes);
  const webgpu::Lz4CompressPlan plan = webgpu::plan_lz4_compress(table_, output_bytes, level);
  make_job(plan.buffers, {plan.batch.data, plan.sizes, plan.begins, plan.output},
           {{plan.batch.rows, table_.rows}, {plan.batch.tiles, table_.tiles}},
           webgpu::record_lz4_compress(plan, table_, level, output_bytes));
}

// A byte of an extended length adds at most 255 bytes of content.
Lz4Restoring::Lz4Restoring(bool verify_checksums, std::uint64_t batch_bytes, const Limits& limits)
    : FrameRestoring(Format::kLz4, 255, verify_checksums, batch_bytes, limits) {}

void Lz4Restoring::add_block(std::uint32_t history_bytes, std::uint32_t data_bytes,
                             std::uint32_t room_bytes) {
  table_.add(history_bytes, data_bytes, room_bytes);
}

std::size_t Lz4Restoring::output_bytes() const { return static_cast<std::size_t>(table_.output_bytes); }

void Lz4Restoring::plan_job() {
  const webgpu::Lz4RestorePlan plan = webgpu::plan_lz4_restore(table_);
  results_.assign(table_.rows.size(), {});
  set_job(job_text(plan.buffers, {{plan.data, data()}, {plan.rows, table_.rows}},
                   webgpu::record_lz4_restore(plan, table_),
                   {{plan.results, results_}, {plan.output, restored()}}, limits()));
}

FrameRestoring::Result Lz4Restoring::result(std::size_t number) {
  const webgpu::Lz4RestoreRow& row = table_.rows[number];
  const webgpu::Lz4RestoreResult& found = results_[number];
  return {webgpu::restore_status(found.status), found.restored_bytes, row.output_begin, row.room_bytes};
}

}  // namespace hemstitch::web
