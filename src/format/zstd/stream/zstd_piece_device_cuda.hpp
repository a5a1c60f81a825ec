// zstd_piece_device.hpp on a CUDA device.
//
// One CUDA stream uploads compressed bytes, one decodes, one makes content of what is decoded, and one downloads it. Events make each of them wait for
// what it needs. So a piece is decoded while content of the one before is made and downloaded, and the next one uploaded.
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
  bool is_decoded() override;
  ZstdPieceRestored decoded() override;
  void resolve() override;
  std::uint64_t download(unsigned room, std::size_t at, std::span<std::byte> to) override;
  void wait(std::uint64_t download) override;

 private:
  struct Input;
  struct Room;
  struct Download {
    std::uint64_t number = 0;
    Event begin{Event::Kind::kTiming}, end{Event::Kind::kTiming}, passed{Event::Kind::kWait};
  };

  void tell(Stage stage, const Event& begin, const Event& end);
  std::shared_ptr<Download> take_download();

  Device& device_;
  const ZstdDeviceLimits limits_;
  const std::size_t window_bytes_, scratch_bytes_;
  DeviceClock* const clock_;
  Stream up_, decoding_, resolving_, down_;
  DeviceBuffer<std::byte> carry_;
  std::vector<std::unique_ptr<Input>> inputs_;
  std::vector<std::unique_ptr<Room>> rooms_;
  PinnedPool::Block h_result_;
  Event is_decoded_{Event::Kind::kWait};
  // Of what is decoded now, and of what was resolved last.
  unsigned input_ = 0;
  Room* room_ = nullptr;
  Room* last_room_ = nullptr;

  std::mutex mutex_;  // guards what follows
  std::deque<std::shared_ptr<Download>> downloads_, idle_downloads_;
  std::uint64_t download_count_ = 0;
};

}  // namespace hemstitch::cuda
