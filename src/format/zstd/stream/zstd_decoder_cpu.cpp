#include "format/zstd/stream/zstd_decoder_cpu.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "core/status.hpp"
#include "format/zstd/frame/zstd_frame_header.hpp"
#include "format/zstd/restore/zstd_dictionary.hpp"
#include "format/zstd/zstd_library.hpp"

namespace hemstitch {
namespace {

// The memory of larger windows is not kept for the next frame.
constexpr std::uint64_t kMostKeptWindowBytes = std::uint64_t{8} << 20;
// Windows are limited before (zstd_codec.cpp).
constexpr int kMostWindowLog = 31;

ZSTD_DCtx* begun(ZstdDecoderState& state) {
  if (!state.context) state.context.reset(ZSTD_createDCtx());
  if (!state.context) throw_no_memory_for_zstd();
  checked_zstd(ZSTD_DCtx_reset(state.context.get(), ZSTD_reset_session_and_parameters));
  checked_zstd(ZSTD_DCtx_setParameter(state.context.get(), ZSTD_d_windowLogMax, kMostWindowLog));
  return state.context.get();
}

// Content alone is not copied.
void use_dictionary(ZSTD_DCtx* context, std::span<const std::byte> dictionary) {
  if (dictionary.empty()) return;
  checked_zstd(has_zstd_tables(dictionary)
                   ? ZSTD_DCtx_loadDictionary(context, dictionary.data(), dictionary.size())
                   : ZSTD_DCtx_refPrefix(context, dictionary.data(), dictionary.size()));
}

// libzstd gets the header without what the pipeline checks: the dictionary's id, the checksum, and, unless
// it is the window as well, the content's size.
void give_header(ZSTD_DCtx* context, std::uint64_t window_bytes, std::optional<std::uint64_t> content_bytes) {
  ZstdFrameHeader header;
  header.window_bytes = window_bytes;
  // In a window of no bytes, libzstd takes no block of type RLE in pieces, not even one without content.
  header.single_segment = content_bytes == window_bytes && window_bytes > 0;
  if (header.single_segment) header.content_bytes = content_bytes;
  std::array<std::byte, kZstdMostHeaderBytes> bytes;
  ZSTD_inBuffer input{bytes.data(), write_zstd_header(header, bytes.data()), 0};
  ZSTD_outBuffer output{nullptr, 0, 0};
  while (input.pos < input.size) checked_zstd(ZSTD_decompressStream(context, &output, &input));
}

}  // namespace

ZstdCpuDecoder::ZstdCpuDecoder(ZstdDecoderStates& states, const FrameHeader& header,
                               std::span<const std::byte> dictionary)
    : state_(states), window_bytes_(header.history_bytes) {
  ZSTD_DCtx* const context = begun(*state_);
  use_dictionary(context, dictionary);
  give_header(context, window_bytes_, header.content_bytes);
}

ZstdCpuDecoder::~ZstdCpuDecoder() {
  if (window_bytes_ > kMostKeptWindowBytes) state_->context.reset();
}

// Follows the blocks in what libzstd took.
void ZstdCpuDecoder::take(std::span<const std::byte> bytes) {
  if (bytes.empty()) return;
  if (block_bytes_ < kZstdBlockHeaderBytes) {
    std::ranges::copy(bytes, head_.begin() + static_cast<std::ptrdiff_t>(block_bytes_));
    if (block_bytes_ + bytes.size() == kZstdBlockHeaderBytes)
      data_left_ = read_zstd_block_header(head_.data()).data_bytes();
  } else {
    data_left_ -= bytes.size();
  }
  block_bytes_ += bytes.size();
  if (block_bytes_ < kZstdBlockHeaderBytes || data_left_ > 0) return;
  all_taken_ = read_zstd_block_header(head_.data()).last;
  block_bytes_ = 0;
  ++block_number_;
}

StreamStep ZstdCpuDecoder::damaged(StreamStep step, const char* what) {
  step.status = Status::kCorruptBlock;
  step.detail = detail_ = fmt::format("block {}: libzstd: {}", block_number_, what);
  return step;
}

StreamStep ZstdCpuDecoder::restore(std::span<const std::byte> input, std::span<std::byte> output) {
  StreamStep step;
  step.ended = ended_;
  while (!ended_ && step.output_bytes < output.size()) {
    const std::size_t most = all_taken_                             ? 0
                             : block_bytes_ < kZstdBlockHeaderBytes ? kZstdBlockHeaderBytes - block_bytes_
                                                                    : data_left_;
    const auto given = input.first(std::min(input.size(), most));
    if (given.empty() && !may_have_more_) break;
    ZSTD_inBuffer from{given.data(), given.size(), 0};
    ZSTD_outBuffer to{output.data() + step.output_bytes, output.size() - step.output_bytes, 0};
    const std::size_t left = ZSTD_decompressStream(state_->context.get(), &to, &from);
    if (ZSTD_isError(left) != 0) {
      if (ZSTD_getErrorCode(left) == ZSTD_error_memory_allocation) checked_zstd(left);
      return damaged(step, ZSTD_getErrorName(left));
    }
    take(given.first(from.pos));
    input = input.subspan(from.pos);
    step.input_bytes += from.pos;
    step.output_bytes += to.pos;
    may_have_more_ = to.pos == to.size;
    step.ended = ended_ = left == 0;
  }
  return step;
}

void restore_zstd_part(ZstdDecoderStates& states, BlockTask& part) {
  const ZstdDecoderStates::Borrowed state = states.borrow();
  ZSTD_DCtx* const context = begun(*state);
  if (!part.dictionary.empty())
    use_dictionary(context, part.dictionary);
  else if (!part.history.empty())
    checked_zstd(ZSTD_DCtx_refPrefix(context, part.history.data(), part.history.size()));
  give_header(context, part.history.size() + part.output.size(), std::nullopt);
  ZSTD_inBuffer from{part.input.data(), part.input.size(), 0};
  ZSTD_outBuffer to{part.output.data(), part.output.size(), 0};
  std::size_t left = 1;
  for (bool moves = true; moves && left != 0 && ZSTD_isError(left) == 0;) {
    const std::size_t taken = from.pos, given = to.pos;
    left = ZSTD_decompressStream(context, &to, &from);
    moves = from.pos != taken || to.pos != given;
  }
  part.output_bytes = to.pos;
  part.status = left == 0 && from.pos == from.size ? Status::kOk : Status::kCorruptBlock;
}

}  // namespace hemstitch
