#include "cpu_jobs.hpp"

#include <fmt/format.h>

#include "core/options.hpp"
#include "format/deflate/compress/deflate_compress_reference.hpp"
#include "format/deflate/deflate_formats.hpp"
#include "format/deflate/deflate_levels.hpp"
#include "format/deflate/restore/deflate_restore.hpp"
#include "format/lz4/compress/lz4_compress_reference.hpp"
#include "format/lz4/lz4_levels.hpp"
#include "format/lz4/restore/lz4_restore_reference.hpp"
#include "format/zstd/restore/zstd_restore_reference.hpp"

namespace hemstitch::web {

CpuCompression::CpuCompression(const CompressOptions& given, std::uint64_t batch_bytes, const Limits& limits)
    : FrameCompression(given) {
  begin(batch_bytes, options().block_bytes, limits);
}

void CpuCompression::plan_job(std::span<const Block> blocks, std::size_t) {
  std::size_t begin = 0;
  for (std::size_t i = 0; i < blocks.size(); ++i) {
    const Block& block = blocks[i];
    const FinderInput input{with_history(block), block.history_bytes};
    const std::span<std::byte> room = encoded_room(i, begin, block.room_bytes);
    const EncodedBlock found =
        options().format == Format::kLz4
            ? compress_lz4_block_reference(input, lz4_level(options().level, options().block_bytes), room)
            : compress_deflate_block_reference(input, deflate_level(options().level),
                                               deflate_end_of_blocks(options().format), room);
    encoded(i, found.status == Status::kOk ? std::optional(found.bytes) : std::nullopt);
    begin += whole_words(block.room_bytes);
  }
}

CpuRestoring::CpuRestoring(Format format, bool verify_checksums, std::uint64_t batch_bytes,
                           const Limits& limits)
    : FrameRestoring(format, format == Format::kLz4 ? 255 : 258 * 4, verify_checksums, batch_bytes, limits),
      format_(format) {}

void CpuRestoring::add_block(std::uint32_t history_bytes, std::uint32_t data_bytes,
                             std::uint32_t room_bytes) {
  rows_.push_back({data_bytes_, history_bytes, data_bytes, output_bytes_, room_bytes});
  data_bytes_ += whole_words(history_bytes + data_bytes);
  output_bytes_ += room_bytes;
}

void CpuRestoring::clear_blocks() {
  rows_.clear();
  data_bytes_ = output_bytes_ = 0;
}

FrameRestoring::Result CpuRestoring::result(std::size_t number) {
  const Row& row = rows_[number];
  const std::span<const std::byte> all = std::span(data()).subspan(row.begin);
  const std::span<const std::byte> history = all.first(row.history_bytes);
  const std::span<const std::byte> block = all.subspan(row.history_bytes, row.data_bytes);
  const std::span<std::byte> room = std::span(restored()).subspan(row.output_begin, row.room_bytes);
  Result found{Status::kOk, 0, row.output_begin, row.room_bytes};
  if (format_ == Format::kLz4) {
    const DecodedBlock decoded = restore_lz4_block_reference(block, history, room);
    found.status = decoded.status;
    found.bytes = decoded.bytes;
  } else {
    const DeflateRestored decoded = DeflateDecoder({}).restore_whole(block, history, room);
    found.status = deflate_block_status(decoded, block.size());
    found.bytes = decoded.output_bytes;
  }
  return found;
}

std::unique_ptr<StreamDecoder> CpuRestoring::make_decoder(const FrameHeader& header,
                                                          const Place& place) const {
  if (format_ == Format::kZstd) {
    if (header.history_bytes > kUsualWindowBytes)
      throw Error(Status::kMemoryLimit,
                  fmt::format("the frame's window has {} bytes; {} bytes may be used for it",
                              header.history_bytes, kUsualWindowBytes),
                  place);
    return std::make_unique<ZstdReferenceDecoder>(header.history_bytes, ZstdDictionary());
  }
  return std::make_unique<DeflateDecoder>(std::span<const std::byte>());
}

}  // namespace hemstitch::web
