// zstd_piece_device.hpp on a CUDA device.
//
// One CUDA stream uploads compressed bytes, one decodes, one places, one makes content of what is placed, and one downloads it. Events make each of them wait
// for what it needs. So a piece is decoded while the one before is placed and its content made and downloaded, and the next one uploaded.
#pragma once

#include <cstdint>
#include <deque>
#include <memory>
#include <mutex>
#include <vector>

#include "format/zstd/stream/zstd_device_decoder.hpp"
#include "format/zstd/stream/zstd_frame_cuda.hpp"
#include "format/zstd/stream/zstd_piece_device.hpp"
#include "gpu/cuda/device.hpp"
#include "gpu/cuda/device_buffer.hpp"
#include "gpu/cuda/device_clock.hpp"
#include "gpu/cuda/event.hpp"
#include "gpu/cuda/pinned_pool.hpp"

namespace hemstitch::cuda {

// How much device memory CudaZstdPieces takes.
std::uint64_t cuda_zstd_pieces_bytes(const ZstdDeviceLimits& limits, std::uint64_t window_bytes);

class CudaZstdPieces : public ZstdPieceDevice {
 public:
  // The device and the clock (which may be null) must outlive it. Throws Error (device family) if there is no memory.
  CudaZstdPieces(Device& device, const ZstdDeviceLimits& limits, std::uint64_t window_bytes,
                 DeviceClock* clock);
  // Ends all transfers first.
  ~CudaZstdPieces() override;

  LargeBuffer make_host_memory(std::size_t bytes) override;
  void upload(unsigned input, std::size_t at, std::span<const std::byte> bytes) override;
  void decode(const ZstdPieceWork& work) override;
  void place(std::size_t history_bytes) override;
  bool is_placed() override;
  ZstdPieceRestored placed() override;
  void resolve(unsigned room) override;
  std::uint64_t download(unsigned room, std::size_t at, std::span<std::byte> to) override;
  void wait(std::uint64_t download) override;

 private:
  struct Input;
  struct Slot;
  struct Room;
  struct Download {
    std::uint64_t number = 0;
    Event begin{Event::Kind::kTiming}, end{Event::Kind::kTiming}, passed{Event::Kind::kWait};
  };

  void tell(Stage stage, const Event& begin, const Event& end);
  std::shared_ptr<Download> take_download();

  Device& device_;
  const ZstdDeviceLimits limits_;
  const std::size_t window_bytes_;
  DeviceClock* const clock_;
  Stream up_, down_, decoding_{kZstdDecodingPriority}, placing_{kZstdPlacingPriority}, resolving_;
  DeviceBuffer<std::byte> carry_;
  std::vector<std::unique_ptr<Input>> inputs_;
  std::vector<std::unique_ptr<Slot>> slots_;
  std::vector<std::unique_ptr<Room>> rooms_;
  PinnedPool::Block h_result_;
  Event is_placed_{Event::Kind::kWait};
  // Pieces take the slots in turns: these are the next one to decode into, and the one that is placed next or was last.
  std::size_t next_slot_ = 0, placed_slot_ = 0;
  Slot* stopped_ = nullptr;        // not all of its blocks are restored, so tables must be taken back
  std::size_t content_bytes_ = 0;  // of what was placed last
  Room* last_room_ = nullptr;

  std::mutex mutex_;  // guards what follows
  std::deque<std::shared_ptr<Download>> downloads_, idle_downloads_;
  std::uint64_t download_count_ = 0;
};

}  // namespace hemstitch::cuda
