#include "arrays/block_coder.hpp"

#include <algorithm>

#include "format/checksum.hpp"
#include "format/deflate/block/deflate_stored.hpp"
#include "format/deflate/compress/deflate_compress_cpu.hpp"
#include "format/deflate/frame/deflate_head.hpp"
#include "format/deflate/restore/deflate_restore.hpp"
#include "format/formats.hpp"
#include "format/lz4/restore/lz4_restore.hpp"
#include "format/zstd/zstd_library.hpp"
#include "hemstitch/memory.hpp"

namespace hemstitch {
namespace {

constexpr std::size_t kZlibHeaderBytes = 2;

// The first two bytes of zlib's format: DEFLATE with a window of 32 KB, and a hint of the level (RFC 1950, section 2.2).
constexpr unsigned kZlibMethod = 0x78, kZlibUsualLevel = 0x9C;

}  // namespace

struct BlockCoder::Libraries {
  std::unique_ptr<ZSTD_CCtx, decltype(&ZSTD_freeCCtx)> zstd_writer{nullptr, ZSTD_freeCCtx};
  std::unique_ptr<ZSTD_DCtx, decltype(&ZSTD_freeDCtx)> zstd_reader{nullptr, ZSTD_freeDCtx};
  std::optional<DeflateCompressorCpu> deflate_writer;
  std::optional<DeflateDecoder> deflate_reader;
};

BlockCoder::BlockCoder() : libraries_(std::make_unique<Libraries>()) {}
BlockCoder::~BlockCoder() = default;

std::size_t coded_block_bound(Format format, std::size_t content_bytes) {
  if (format == Format::kZstd) return ZSTD_compressBound(content_bytes);
  if (format == Format::kZlib)
    return kZlibHeaderBytes + deflate_data_room(content_bytes) + static_cast<std::size_t>(kZlibTrailerBytes);
  return lz4_block_bound(content_bytes);
}

bool BlockCoder::restore(Format format, std::span<const std::byte> block, std::span<std::byte> output) {
  if (format == Format::kLz4) {
    const DecodedBlock decoded = restore_lz4_block(block, {}, output);
    return decoded.status == Status::kOk && decoded.bytes == output.size();
  }
  if (format == Format::kZlib) {
    const DeflateHead head = read_zlib_head(block.data(), block.size(), false);
    if (head.status != Status::kOk) return false;
    if (!libraries_->deflate_reader) libraries_->deflate_reader.emplace(std::span<const std::byte>{});
    const std::size_t begin = static_cast<std::size_t>(head.bytes), end = block.size() - kZlibTrailerBytes;
    const DeflateRestored restored =
        libraries_->deflate_reader->restore_whole(block.subspan(begin, end - begin), {}, output);
    return deflate_block_status(restored, end - begin) == Status::kOk &&
           restored.output_bytes == output.size() &&
           deflate_trailer_status(format, block.data() + end, output.size(), true,
                                  checksum_of(Checksum::kAdler32, output)) == Status::kOk;
  }
  auto& reader = libraries_->zstd_reader;
  if (!reader) reader.reset(ZSTD_createDCtx());
  if (!reader) throw_no_memory_for_zstd();
  const std::size_t bytes =
      ZSTD_decompressDCtx(reader.get(), output.data(), output.size(), block.data(), block.size());
  if (ZSTD_isError(bytes) != 0 && ZSTD_getErrorCode(bytes) == ZSTD_error_memory_allocation)
    throw_no_memory_for_zstd();
  return bytes == output.size();
}

std::optional<std::size_t> BlockCoder::compress(const ChunkCoding& coding, std::span<const std::byte> content,
                                                std::span<std::byte> room) {
  if (coding.format == Format::kLz4) {
    // liblz4 ends early where there is too little room.
    BlockTask task{.input = content, .history = {}, .output = room.first(std::min(room.size(), lz4_block_bound(content.size())))};
    FormatTable::instance()
        .codec(Format::kLz4, &FormatRow::processor)
        ->compress({&task, 1},
                   {.format = Format::kLz4, .level = coding.level, .acceleration = coding.acceleration});
    return task.status == Status::kOk ? std::optional(task.output_bytes) : std::nullopt;
  }
  if (room.size() < coded_block_bound(coding.format, content.size())) return std::nullopt;
  if (coding.format == Format::kZlib) {
    if (!libraries_->deflate_writer) libraries_->deflate_writer.emplace();
    room[0] = std::byte{kZlibMethod};
    room[1] = std::byte{kZlibUsualLevel};
    const std::size_t end = kZlibHeaderBytes + libraries_->deflate_writer->compress(
                                                   content, {}, coding.level, true,
                                                   room.subspan(kZlibHeaderBytes, deflate_data_room(content.size())));
    const std::uint32_t checksum = checksum_of(Checksum::kAdler32, content);
    for (unsigned i = 0; i < kZlibTrailerBytes; ++i)
      room[end + i] = static_cast<std::byte>(checksum >> 8 * (kZlibTrailerBytes - 1 - i));
    return end + kZlibTrailerBytes;
  }
  auto& writer = libraries_->zstd_writer;
  if (!writer) writer.reset(ZSTD_createCCtx());
  if (!writer) throw_no_memory_for_zstd();
  return checked_zstd(
      ZSTD_compressCCtx(writer.get(), room.data(), room.size(), content.data(), content.size(), coding.level));
}

std::span<std::byte> BlockCoder::scratch(unsigned number, std::size_t bytes) {
  Scratch& scratch = scratches_[number];
  if (scratch.bytes < bytes) {
    scratch.bytes = 0;
    scratch.room.reset(new std::byte[bytes]);
    scratch.bytes = bytes;
  }
  return {scratch.room.get(), bytes};
}

}  // namespace hemstitch
