#include "cpu_jobs.hpp"

#include <fmt/format.h>

#include "core/options.hpp"
#include "format/deflate/restore/deflate_restore.hpp"
#include "format/lz4/restore/lz4_restore_reference.hpp"
#include "format/zstd/restore/zstd_restore_reference.hpp"

namespace hemstitch::web {

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
