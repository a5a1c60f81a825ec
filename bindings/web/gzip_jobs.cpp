#include "gzip_jobs.hpp"

#include "format/deflate/deflate_formats.hpp"
#include "format/deflate/deflate_levels.hpp"
#include "format/deflate/restore/deflate_restore.hpp"
#include "format/restore_status_webgpu.hpp"

namespace hemstitch::web {

GzipCompression::GzipCompression(const CompressOptions& given, std::uint64_t batch_bytes,
                                 const Limits& limits)
    : FrameCompression(given) {
  begin(batch_bytes, webgpu::deflate_array_positions(writer().history_bytes(), options().block_bytes),
        limits);
}

void GzipCompression::plan_job(std::span<const Block> blocks, std::size_t output_bytes) {
  table_ = {};
  for (const Block& block : blocks)
    table_.add(block.begin, block.history_bytes, block.bytes, block.room_bytes);
  const DeflateLevel level = deflate_level(options().level);
  const webgpu::DeflateCompressPlan plan = webgpu::plan_deflate_compress(table_, output_bytes, level);
  make_job(plan.buffers, {plan.blocks.data, plan.sizes, plan.begins, plan.output},
           {{plan.blocks.rows, table_.blocks.rows},
            {plan.blocks.tiles, table_.blocks.tiles},
            {plan.chunks.rows, table_.chunks.rows},
            {plan.chunks.tiles, table_.chunks.tiles},
            {plan.block_chunks, table_.block_chunks},
            {plan.pieces, table_.pieces}},
           webgpu::record_deflate_compress(plan, table_, level, deflate_end_of_blocks(options().format),
                                           output_bytes));
}

// 258 bytes of content take at least two bits.
GzipRestoring::GzipRestoring(bool verify_checksums, std::uint64_t batch_bytes, const Limits& limits)
    : FrameRestoring(Format::kGzip, 258 * 4, verify_checksums, batch_bytes, limits) {}

void GzipRestoring::add_block(std::uint32_t history_bytes, std::uint32_t data_bytes,
                              std::uint32_t room_bytes) {
  table_.add(history_bytes, data_bytes, room_bytes);
}

std::size_t GzipRestoring::output_bytes() const { return static_cast<std::size_t>(table_.output_bytes); }

void GzipRestoring::plan_job() {
  const webgpu::DeflateRestorePlan plan = webgpu::plan_deflate_restore(table_);
  states_.assign(table_.rows.size(), {});
  set_job(job_text(plan.buffers, {{plan.data, data()}, {plan.rows, table_.rows}},
                   webgpu::record_deflate_restore(plan, table_),
                   {{plan.results, states_}, {plan.output, restored()}}, limits()));
}

FrameRestoring::Result GzipRestoring::result(std::size_t number) {
  const webgpu::DeflateRestoreRow& row = table_.rows[number];
  Result found{webgpu::restore_status(states_[number].status), states_[number].restored_bytes,
               row.output_begin, row.room_bytes};
  if (found.status != Status::kDeviceFault) return found;
  // A stream with thousands of tiny blocks, for which the device stops early; the processor restores it.
  const DeflateRestored again = DeflateDecoder({}).restore_whole(
      std::span(data()).subspan(row.begin + row.history_bytes, row.stream_bytes), {},
      std::span(restored()).subspan(row.output_begin, row.room_bytes));
  found.status = deflate_block_status(again, row.stream_bytes);
  found.bytes = again.output_bytes;
  return found;
}

std::unique_ptr<StreamDecoder> GzipRestoring::make_decoder(const FrameHeader&, const Place&) const {
  return std::make_unique<DeflateDecoder>(std::span<const std::byte>());
}

}  // namespace hemstitch::web
