// deflate_piece_device.hpp on a CUDA device.
//
// One CUDA stream uploads compressed bytes, one downloads content, and each room has one that restores.
// Events make the restoring stream wait for its input and, after the steps that need no link to the piece
// before, until its output buffer has been downloaded. So the pieces in all rooms share the device while
// another piece is uploaded and the last one is downloaded. A single piece would leave much of the device
// idle while its last warps finish.
#pragma once

#include <cstdint>
#include <deque>
#include <memory>
#include <mutex>
#include <vector>

#include "format/deflate/stream/deflate_device_decoder.hpp"
#include "format/deflate/stream/deflate_piece_device.hpp"
#include "format/deflate/stream/deflate_stream_cuda.hpp"
#include "gpu/cuda/device.hpp"
#include "gpu/cuda/device_buffer.hpp"
#include "gpu/cuda/device_clock.hpp"
#include "gpu/cuda/event.hpp"
#include "gpu/cuda/pinned_pool.hpp"

namespace hemstitch::cuda {

// How much device memory CudaPieces takes.
std::uint64_t cuda_pieces_bytes(const DeflateDeviceLimits& limits);

class CudaPieces : public DeflatePieceDevice {
 public:
  // The device and the clock (which may be null) must outlive it. Throws Error (device family) if there is
  // no memory.
  CudaPieces(Device& device, const DeflateDeviceLimits& limits, DeviceClock* clock);
  // Ends all downloads first.
  ~CudaPieces() override;

  LargeBuffer make_host_memory(std::size_t bytes) override;
  void upload(unsigned input, std::size_t at, std::span<const std::byte> bytes) override;
  void carry(unsigned from, std::size_t from_at, std::size_t bytes, unsigned to, unsigned room) override;
  void prepare(const DeflatePieceToPrepare& work) override;
  DeflatePieceRestored restore(const DeflatePieceWork& work) override;
  std::uint64_t download(unsigned output, std::uint64_t at, std::span<std::byte> to) override;
  void wait(std::uint64_t download) override;

 private:
  struct Input;
  struct Output;
  struct Room;
  struct Interval;
  // One download.
  struct Download {
    std::uint64_t number = 0;
    Event begin{Event::Kind::kTiming}, end{Event::Kind::kTiming}, passed{Event::Kind::kWait};
  };

  void begin(Room& room, Input& input, std::uint64_t begin_bits, std::size_t end, bool members);
  void tell(const Interval& interval);
  std::shared_ptr<Download> take_download();

  Device& device_;
  const DeflateDeviceLimits limits_;
  const DeflatePieceLimits piece_limits_;
  DeviceClock* const clock_;
  Stream up_, down_;
  std::vector<std::unique_ptr<Room>> rooms_;
  std::vector<std::unique_ptr<Input>> inputs_;
  std::vector<std::unique_ptr<Output>> outputs_;

  std::mutex mutex_;  // guards what follows
  std::deque<std::shared_ptr<Download>> downloads_, idle_downloads_;
  std::uint64_t download_count_ = 0;
};

}  // namespace hemstitch::cuda
