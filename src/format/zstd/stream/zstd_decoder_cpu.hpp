// Restores the blocks of a frame of Zstandard by libzstd, piece by piece.
#pragma once

#include <zstd.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>

#include "core/idle_states.hpp"
#include "format/block_task.hpp"
#include "format/frame_reader.hpp"
#include "format/stream_decoder.hpp"
#include "format/zstd/block/zstd_block_header.hpp"

namespace hemstitch {

// libzstd's working memory; made on first use.
struct ZstdDecoderState {
  std::unique_ptr<ZSTD_DCtx, decltype(&ZSTD_freeDCtx)> context{nullptr, ZSTD_freeDCtx};
};
using ZstdDecoderStates = IdleStates<ZstdDecoderState>;

class ZstdCpuDecoder : public StreamDecoder {
 public:
  // The blocks behind `header`; `dictionary` must be what it names. It and `states` must outlive the decoder.
  ZstdCpuDecoder(ZstdDecoderStates& states, const FrameHeader& header, std::span<const std::byte> dictionary);
  ~ZstdCpuDecoder() override;

  StreamStep restore(std::span<const std::byte> input, std::span<std::byte> output) override;
  std::uint64_t ahead_bytes() const override { return block_bytes_; }

 private:
  void take(std::span<const std::byte> bytes);
  StreamStep damaged(StreamStep step, const char* what);

  ZstdDecoderStates::Borrowed state_;
  std::uint64_t window_bytes_;
  // The block that is being taken.
  std::array<std::byte, kZstdBlockHeaderBytes> head_{};
  std::size_t block_bytes_ = 0;  // taken of it
  std::size_t data_left_ = 0;    // once its header was taken
  std::uint64_t block_number_ = 1;
  bool all_taken_ = false, may_have_more_ = false, ended_ = false;
  std::string detail_;
};

// Restores a part of a frame that ends with kZstdEndOfBlocks, given its history or dictionary.
void restore_zstd_part(ZstdDecoderStates& states, BlockTask& part);

}  // namespace hemstitch
