#include "format/zstd/compress/zstd_compress_cpu.hpp"

#include <algorithm>
#include <bit>
#include <string>

#include "core/bytes.hpp"
#include "core/options.hpp"
#include "core/status.hpp"
#include "format/zstd/block/zstd_block_header.hpp"
#include "format/zstd/compress/zstd_join.hpp"
#include "format/zstd/frame/zstd_frame_header.hpp"
#include "format/zstd/restore/zstd_bits.hpp"
#include "format/zstd/restore/zstd_dictionary.hpp"
#include "format/zstd/zstd_library.hpp"
#include "format/zstd/zstd_limits.hpp"

namespace hemstitch {
namespace {

// A context that has grown beyond this is not kept for the next call: idle ones would hold much memory.
constexpr std::size_t kMostKeptBytes = std::size_t{32} << 20;
// libzstd finds little in a larger dictionary that is prepared.
constexpr std::size_t kMostPreparedBytes = std::size_t{8} << 20;

}  // namespace

std::size_t write_raw_zstd_blocks(std::span<const std::byte> content, std::span<std::byte> room) {
  std::byte* at = room.data();
  while (!content.empty()) {
    const auto block = content.first(std::min(content.size(), kZstdMostBlockBytes));
    put_zstd_block_header({false, ZstdBlockType::kRaw, block.size()}, at);
    at = std::copy(block.begin(), block.end(), at + kZstdBlockHeaderBytes);
    content = content.subspan(block.size());
  }
  return static_cast<std::size_t>(at - room.data());
}

ZstdCompressorCpu::ZstdCompressorCpu() = default;

void ZstdCompressorCpu::use_dictionary(std::span<const std::byte> dictionary, int level) {
  if (!prepared_ || prepared_level_ != level || !std::ranges::equal(prepared_from_, dictionary)) {
    prepared_.reset();
    prepared_from_.assign(dictionary.begin(), dictionary.end());
    prepared_level_ = level;
    prepared_.reset(ZSTD_createCDict(dictionary.data(), dictionary.size(), level));
    if (!prepared_) throw_no_memory_for_zstd();
  }
  checked_zstd(ZSTD_CCtx_refCDict(context_.get(), prepared_.get()));
}

std::size_t ZstdCompressorCpu::compress(const BlockTask& part, int level, int window_log, bool within_frame) {
  if (!context_) context_.reset(ZSTD_createCCtx());
  if (!context_) throw_no_memory_for_zstd();
  ZSTD_CCtx* const context = context_.get();
  checked_zstd(ZSTD_CCtx_reset(context, ZSTD_reset_session_and_parameters));
  checked_zstd(ZSTD_CCtx_setParameter(context, ZSTD_c_compressionLevel, level));
  if (window_log != 0) set_zstd_window(context, window_log);
  if (part.dictionary.size() > kMostPreparedBytes && !has_zstd_tables(part.dictionary)) {
    // A window that reaches all of it. What a restorer needs is in the frame's header (zstd_writer.cpp).
    if (window_log == 0)
      set_zstd_window(
          context,
          std::min<int>(static_cast<int>(std::bit_width(part.dictionary.size() + part.input.size() - 1)),
                        kMostFrameWindowLog));
    checked_zstd(ZSTD_CCtx_refPrefix(context, part.dictionary.data(), part.dictionary.size()));
  } else if (!part.dictionary.empty())
    use_dictionary(part.dictionary, level);
  else if (!part.history.empty()) {
    const auto history = part.history.last(std::min(part.history.size(), zstd_history_bytes(level)));
    checked_zstd(ZSTD_CCtx_refPrefix(context, history.data(), history.size()));
  }
  const std::span<std::byte> room = part.output;
  const std::size_t frame_bytes =
      ZSTD_compress2(context, room.data(), room.size(), part.input.data(), part.input.size());
  if (ZSTD_getErrorCode(frame_bytes) == ZSTD_error_dstSize_tooSmall)
    return write_raw_zstd_blocks(part.input, room);
  checked_zstd(frame_bytes);
  if (ZSTD_sizeof_CCtx(context) > kMostKeptBytes) context_.reset();

  const std::size_t head_bytes = sizeof kZstdMagic + zstd_header_rest_bytes(room[sizeof kZstdMagic]);
  const std::span<std::byte> blocks = room.first(frame_bytes - head_bytes);
  std::copy_n(room.begin() + static_cast<std::ptrdiff_t>(head_bytes), blocks.size(), blocks.begin());
  if (part.history.empty() && !within_frame) {
    unmark_last_zstd_block(blocks);
    return blocks.size();
  }
  try {
    const std::optional<std::vector<std::byte>> joined = join_zstd_blocks(blocks);
    if (!joined) return blocks.size();
    if (joined->size() > room.size()) return write_raw_zstd_blocks(part.input, room);
    std::ranges::copy(*joined, room.begin());
    return joined->size();
  } catch (const ZstdDamage&) {  // a block has grown beyond the limit of blocks
    return write_raw_zstd_blocks(part.input, room);
  }
}

}  // namespace hemstitch
