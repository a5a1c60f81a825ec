// One frame of Zstandard restored by CUDA's kernels on the processor (emulated_cuda.hpp), piece by piece, and by the reference restorer
// from the block on that they leave. For sources that define __CUDACC__.
#pragma once

#include <algorithm>
#include <array>
#include <cstdio>
#include <cstdlib>
#include <optional>
#include <vector>

#include "format/zstd/stream/zstd_block_places.hpp"
#include "format/zstd/stream/zstd_frame_cuda.hpp"
#include "format/zstd/stream/zstd_walk.hpp"
#include "kernel_buffer.hpp"
#include "zstd_frames.hpp"

namespace hemstitch::testing {

struct ZstdPieces {
  std::size_t blocks = 1000;
  std::size_t capacity = 1 << 20;
  Against against = Against::kUpperGuard;
};

struct ReadByZstdFrameKernels {
  ZstdRead read;
  std::size_t blocks = 0;  // that the kernels restored
  std::size_t pieces = 0;
};

// The frame's blocks, as a stream of them: what a stream decoder does with the kernels.
class ZstdFrameByKernels : public StreamDecoder {
 public:
  ZstdFrameByKernels(std::span<const std::byte> blocks, std::uint64_t window_bytes, const ZstdPieces& pieces)
      : data_(blocks),
        window_bytes_(window_bytes),
        pieces_(pieces),
        carry_(cuda::zstd_frame_carry_bytes() / 16 + 1) {}

  StreamStep restore(std::span<const std::byte> input, std::span<std::byte> output) override {
    if (!is_begun_) restore_blocks();
    is_begun_ = true;
    StreamStep step;
    if (given_ < content_.size()) {
      step.output_bytes = std::min(output.size(), content_.size() - given_);
      std::copy_n(content_.begin() + static_cast<std::ptrdiff_t>(given_), step.output_bytes, output.begin());
      given_ += step.output_bytes;
      return step;
    }
    // What the kernels restored is taken off the input.
    step.input_bytes = std::min(input.size(), used_bytes_ - taken_);
    taken_ += step.input_bytes;
    if (taken_ < used_bytes_) return step;
    if (has_ended_) {
      step.ended = true;
      return step;
    }
    if (!judge_) begin_judge();
    const StreamStep its = judge_->restore(input.subspan(step.input_bytes), output);
    step.input_bytes += its.input_bytes;
    step.output_bytes = its.output_bytes;
    step.status = its.status;
    step.detail = its.detail;
    step.ended = its.ended;
    return step;
  }
  std::uint64_t ahead_bytes() const override { return judge_ ? judge_->ahead_bytes() : 0; }

  std::size_t blocks() const { return blocks_; }
  std::size_t pieces() const { return pieces_done_; }

 private:
  void restore_blocks() {
    for (;;) {
      const ZstdBlockPlaces places = find_zstd_blocks(data_.subspan(used_bytes_), pieces_.blocks);
      if (places.at.empty()) return;
      const cuda::ZstdFrameResult result = restore_piece(places);
      ++pieces_done_;
      blocks_ += result.blocks;
      const bool is_whole = result.blocks == places.at.size();
      if (is_whole != (result.stop == cuda::ZstdFrameStop::kNone))
        fail("a piece that is not whole, or is, and says otherwise");
      for (std::size_t i = 0; i < result.blocks; ++i) walk_block(places, i);
      used_bytes_ += is_whole ? places.data_bytes : places.at[result.blocks];
      std::copy_n(result.repeats, 3, repeats_.begin());
      has_ended_ = is_whole && places.has_last;
      if (has_ended_ || result.stop == cuda::ZstdFrameStop::kDoubt) return;
      if (result.blocks != 0) continue;
      if (pieces_.capacity >= kZstdMostBlockBytes) fail("a piece with room for a block has none");
      return;  // the reference goes on
    }
  }

  void walk_block(const ZstdBlockPlaces& places, std::size_t i) {
    const auto at = data_.subspan(used_bytes_ + places.at[i]);
    const ZstdBlockHeader header = read_zstd_block_header(at.data());
    origins_ = walk_.walk(header, at.subspan(kZstdBlockHeaderBytes, header.data_bytes())).origins;
  }

  cuda::ZstdFrameResult restore_piece(const ZstdBlockPlaces& places) {
    const std::size_t history = std::min<std::uint64_t>(content_.size(), window_bytes_);
    KernelBuffer data(data_.subspan(used_bytes_, places.data_bytes), pieces_.against);
    KernelBuffer content(history + pieces_.capacity, pieces_.against);
    std::copy(content_.end() - static_cast<std::ptrdiff_t>(history), content_.end(), content.bytes().begin());
    const auto blocks = static_cast<std::uint32_t>(places.at.size());
    // What nobody wrote yet is no table: the most that a table's logarithm could be.
    Bytes scratch(cuda::zstd_frame_scratch_bytes(blocks, pieces_.capacity), std::byte{0x5F});
    cuda::ZstdFrameResult result{};
    cuda::restore_zstd_frame_piece({.d_data = data.bytes().data(),
                                    .data_bytes = places.data_bytes,
                                    .d_block_at = places.at.data(),
                                    .block_count = blocks,
                                    .window_bytes = window_bytes_,
                                    .d_content = content.bytes().data() + history,
                                    .history_bytes = static_cast<std::uint32_t>(history),
                                    .capacity = pieces_.capacity},
                                   {carry_.data(), &result, scratch.data(), scratch.size()}, nullptr);
    if (!std::equal(content.bytes().begin(), content.bytes().begin() + static_cast<std::ptrdiff_t>(history),
                    content_.end() - static_cast<std::ptrdiff_t>(history)))
      fail("a kernel wrote to the history");
    const auto made = content.bytes().subspan(history, result.content_bytes);
    content_.insert(content_.end(), made.begin(), made.end());
    return result;
  }

  void begin_judge() {
    ZstdFrameState state;
    state.tables = read_zstd_origins(origins_);
    state.repeats = ZstdRepeats(repeats_);
    const auto window = static_cast<std::ptrdiff_t>(std::min<std::uint64_t>(content_.size(), window_bytes_));
    state.content.assign(content_.end() - window, content_.end());
    state.frame_bytes = content_.size();
    state.block_number = blocks_ + 1;
    judge_.emplace(window_bytes_, std::move(state));
  }

  [[noreturn]] static void fail(const char* what) {
    std::fprintf(stderr, "%s\n", what);
    std::abort();
  }

  std::span<const std::byte> data_;
  std::uint64_t window_bytes_;
  ZstdPieces pieces_;
  std::vector<uint4> carry_;
  bool is_begun_ = false, has_ended_ = false;
  Bytes content_;
  std::size_t used_bytes_ = 0, taken_ = 0, given_ = 0;
  std::size_t blocks_ = 0, pieces_done_ = 0;
  std::array<std::uint32_t, 3> repeats_{1, 4, 8};
  ZstdWalk walk_{kZstdMostBlockBytes};
  ZstdOrigins origins_;
  std::optional<ZstdReferenceDecoder> judge_;
};

inline ReadByZstdFrameKernels read_by_zstd_frame_kernels(std::span<const std::byte> frame,
                                                         const ZstdPieces& pieces = {}) {
  std::optional<ZstdFrameByKernels> decoder;
  ReadByZstdFrameKernels result;
  result.read = read_in_pieces(frame, {}, 1 << 16, [&](std::uint64_t window_bytes, const ZstdDictionary&) {
    decoder.emplace(frame.subspan(4 + zstd_header_rest_bytes(frame[4])), window_bytes, pieces);
    return &*decoder;
  });
  if (decoder) {
    result.blocks = decoder->blocks();
    result.pieces = decoder->pieces();
  }
  return result;
}

}  // namespace hemstitch::testing
