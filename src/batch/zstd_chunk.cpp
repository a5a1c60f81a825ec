#include "batch/zstd_chunk.hpp"

#include <algorithm>
#include <vector>

#include "core/status.hpp"
#include "format/zstd/block/zstd_block_header.hpp"
#include "format/zstd/compress/zstd_compress_reference.hpp"
#include "format/zstd/frame/zstd_frame_header.hpp"
#include "format/zstd/zstd_limits.hpp"

namespace hemstitch {
namespace {

void mark_last_block(std::span<std::byte> blocks) {
  for (std::size_t at = 0;;) {
    ZstdBlockHeader header = read_zstd_block_header(&blocks[at]);
    const std::size_t next = at + kZstdBlockHeaderBytes + header.data_bytes();
    if (next >= blocks.size()) {
      header.last = true;
      return put_zstd_block_header(header, &blocks[at]);
    }
    at = next;
  }
}

}  // namespace

std::array<std::byte, kZstdChunkHeaderBytes> zstd_chunk_header(std::uint32_t content_bytes) {
  std::array<std::byte, kZstdMostHeaderBytes> bytes;
  const std::size_t written =
      write_zstd_header({.content_bytes = content_bytes, .single_segment = true}, bytes.data());
  if (written != kZstdChunkHeaderBytes) throw Error(Status::kInternal, "the header of a chunk of Zstandard");
  std::array<std::byte, kZstdChunkHeaderBytes> header;
  std::copy_n(bytes.begin(), header.size(), header.begin());
  return header;
}

std::size_t zstd_chunk_bound(std::size_t content_bytes) {
  const std::size_t blocks = content_bytes / kZstdOwnBlockBytes + (content_bytes % kZstdOwnBlockBytes != 0);
  return kZstdChunkHeaderBytes + content_bytes + std::max<std::size_t>(blocks, 1) * kZstdBlockHeaderBytes;
}

EncodedBlock compress_zstd_chunk_reference(std::span<const std::byte> content, const ZstdLevel& level,
                                           std::span<std::byte> output) {
  std::vector<std::byte> chunk(zstd_data_room(content.size()));
  const std::span<std::byte> room(chunk);
  std::ranges::copy(zstd_chunk_header(static_cast<std::uint32_t>(content.size())), chunk.begin());
  const std::span<std::byte> blocks = room.subspan(kZstdChunkHeaderBytes);
  std::size_t written = kZstdEndOfBlocks.size();
  if (content.empty()) {
    std::ranges::copy(kZstdEndOfBlocks, blocks.begin());
  } else {
    written = compress_zstd_part_reference({content, 0}, level, blocks).bytes;
    mark_last_block(blocks.first(written));
  }
  written += kZstdChunkHeaderBytes;
  if (written > output.size()) return {Status::kOutputTooSmall, 0};
  std::copy_n(chunk.begin(), written, output.begin());
  return {Status::kOk, written};
}

}  // namespace hemstitch
