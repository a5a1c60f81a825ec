// The decoder's device (zstd_piece_device.hpp) made of CUDA's kernels on the processor. For sources that define __CUDACC__.
#pragma once

#include <map>
#include <memory>
#include <vector>

#include "format/zstd/stream/zstd_device_decoder.hpp"
#include "format/zstd/stream/zstd_frame_cuda.hpp"
#include "kernel_buffer.hpp"
#include "shapes.hpp"

namespace hemstitch::testing {

// All is done at once. Data and content are between pages that cannot be touched.
class ZstdKernelPieces : public ZstdPieceDevice {
 public:
  ZstdKernelPieces(std::uint64_t window_bytes, const ZstdDeviceLimits& limits)
      : window_bytes_(window_bytes),
        limits_(limits),
        inputs_(limits.inputs, Bytes(limits.input_bytes)),
        rooms_(limits.rooms),
        carry_(cuda::zstd_frame_carry_bytes() / 16 + 1) {}

  void upload(unsigned input, std::size_t at, std::span<const std::byte> bytes) override {
    std::ranges::copy(bytes, inputs_.at(input).begin() + static_cast<std::ptrdiff_t>(at));
  }
  void decode(const ZstdPieceWork& work) override {
    const Room& before = rooms_[room_];
    room_ = work.room;
    Room& room = rooms_[room_];
    room.history_bytes = work.history_bytes;
    room.data =
        std::make_unique<KernelBuffer>(std::span<const std::byte>(inputs_[work.input]).first(work.end));
    room.content = std::make_unique<KernelBuffer>(work.history_bytes + limits_.content_bytes);
    if (work.history_bytes != 0) {
      const auto old = before.content->bytes().first(before.history_bytes + before.result.content_bytes);
      std::ranges::copy(old.last(work.history_bytes), room.content->bytes().begin());
    }
    room.block_at.assign(work.block_at.begin(), work.block_at.end());
    const auto blocks = static_cast<std::uint32_t>(room.block_at.size());
    // What nobody wrote yet is no table: the most that a table's logarithm could be.
    room.scratch.assign(cuda::zstd_frame_scratch_bytes(blocks, limits_.content_bytes), std::byte{0x5F});
    room.piece = {.d_data = room.data->bytes().data(),
                  .data_bytes = work.end,
                  .d_block_at = room.block_at.data(),
                  .block_count = blocks,
                  .window_bytes = window_bytes_,
                  .d_content = room.content->bytes().data() + work.history_bytes,
                  .history_bytes = static_cast<std::uint32_t>(work.history_bytes),
                  .capacity = limits_.content_bytes};
    cuda::decode_zstd_frame_piece(room.piece, carry_.data(), &room.result, room.scratch.data(),
                                  room.scratch.size(), nullptr);
  }
  bool is_decoded() override { return true; }
  ZstdPieceRestored decoded() override {
    const cuda::ZstdFrameResult& result = rooms_[room_].result;
    ZstdPieceRestored restored;
    restored.blocks = result.blocks;
    restored.content_bytes = result.content_bytes;
    std::copy_n(result.repeats, 3, restored.repeats.begin());
    restored.stop = static_cast<ZstdPieceRestored::Stop>(result.stop);
    return restored;
  }
  void resolve() override {
    Room& room = rooms_[room_];
    cuda::resolve_zstd_frame_piece(room.piece, carry_.data(), &room.result, room.scratch.data(),
                                   room.scratch.size(), nullptr);
  }
  std::uint64_t download(unsigned room, std::size_t at, std::span<std::byte> to) override {
    std::ranges::copy(rooms_.at(room).content->bytes().subspan(at, to.size()), to.begin());
    return ++downloads_;
  }
  void wait(std::uint64_t) override {}

 private:
  struct Room {
    std::unique_ptr<KernelBuffer> data, content;
    std::vector<std::uint32_t> block_at;
    Bytes scratch;
    cuda::ZstdFramePiece piece;
    cuda::ZstdFrameResult result{};
    std::size_t history_bytes = 0;
  };
  const std::uint64_t window_bytes_;
  const ZstdDeviceLimits limits_;
  std::vector<Bytes> inputs_;
  std::vector<Room> rooms_;
  std::vector<uint4> carry_;
  unsigned room_ = 0;
  std::uint64_t downloads_ = 0;
};

}  // namespace hemstitch::testing
