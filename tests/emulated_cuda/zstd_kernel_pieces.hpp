// The decoder's device (zstd_piece_device.hpp) made of CUDA's kernels on the processor. For sources that define __CUDACC__.
#pragma once

#include <algorithm>
#include <deque>
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
    if (stopped_) cuda::rewind_zstd_frame_piece(stopped_->piece, memory_of(*stopped_), nullptr);
    stopped_ = nullptr;
    auto slot = std::make_unique<Slot>();
    slot->data =
        std::make_unique<KernelBuffer>(std::span<const std::byte>(inputs_[work.input]).first(work.end));
    slot->block_at.assign(work.block_at.begin(), work.block_at.end());
    const auto blocks = static_cast<std::uint32_t>(slot->block_at.size());
    // What nobody wrote yet is no table: the most that a table's logarithm could be.
    slot->scratch.assign(cuda::zstd_frame_scratch_bytes(blocks, limits_.content_bytes), std::byte{0x5F});
    slot->piece = {.d_data = slot->data->bytes().data(),
                   .data_bytes = work.end,
                   .d_block_at = slot->block_at.data(),
                   .block_count = blocks,
                   .window_bytes = window_bytes_,
                   .capacity = limits_.content_bytes};
    cuda::decode_zstd_frame_piece(slot->piece, memory_of(*slot), nullptr);
    decoded_.push_back(std::move(slot));
  }
  void place(std::size_t history_bytes) override {
    placed_ = std::move(decoded_.front());
    decoded_.pop_front();
    placed_->piece.history_bytes = static_cast<std::uint32_t>(history_bytes);
    cuda::place_zstd_frame_piece(placed_->piece, memory_of(*placed_), nullptr);
  }
  bool is_placed() override { return true; }
  ZstdPieceRestored placed() override {
    const cuda::ZstdFrameResult& result = placed_->result;
    ZstdPieceRestored restored;
    restored.blocks = result.blocks;
    restored.content_bytes = result.content_bytes;
    std::copy_n(result.repeats, 3, restored.repeats.begin());
    restored.stop = static_cast<ZstdPieceRestored::Stop>(result.stop);
    if (restored.stop == ZstdPieceRestored::Stop::kNone) return restored;
    decoded_.clear();
    stopped_ = placed_.get();
    return restored;
  }
  void resolve(unsigned number) override {
    const std::size_t history_bytes = placed_->piece.history_bytes;
    auto content = std::make_unique<KernelBuffer>(history_bytes + limits_.content_bytes);
    if (history_bytes != 0) {
      const Room& before = rooms_[last_room_];
      std::ranges::copy(before.content->bytes().first(before.bytes).last(history_bytes),
                        content->bytes().begin());
    }
    placed_->piece.d_content = content->bytes().data() + history_bytes;
    cuda::resolve_zstd_frame_piece(placed_->piece, memory_of(*placed_), nullptr);
    rooms_.at(number) = {std::move(content), history_bytes + placed_->result.content_bytes};
    last_room_ = number;
  }
  std::uint64_t download(unsigned room, std::size_t at, std::span<std::byte> to) override {
    std::ranges::copy(rooms_.at(room).content->bytes().subspan(at, to.size()), to.begin());
    return ++downloads_;
  }
  void wait(std::uint64_t) override {}

 private:
  struct Slot {
    std::unique_ptr<KernelBuffer> data;
    std::vector<std::uint32_t> block_at;
    Bytes scratch;
    cuda::ZstdFramePiece piece;
    cuda::ZstdFrameResult result{};
  };
  struct Room {
    std::unique_ptr<KernelBuffer> content;
    std::size_t bytes = 0;  // history and content
  };
  cuda::ZstdFrameMemory memory_of(Slot& slot) {
    return {carry_.data(), &slot.result, slot.scratch.data(), slot.scratch.size()};
  }

  const std::uint64_t window_bytes_;
  const ZstdDeviceLimits limits_;
  std::vector<Bytes> inputs_;
  std::vector<Room> rooms_;
  std::vector<uint4> carry_;
  std::deque<std::unique_ptr<Slot>> decoded_;
  std::unique_ptr<Slot> placed_;
  Slot* stopped_ = nullptr;
  unsigned last_room_ = 0;
  std::uint64_t downloads_ = 0;
};

}  // namespace hemstitch::testing
