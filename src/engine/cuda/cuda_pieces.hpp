// Pieces of a stream of DEFLATE on a CUDA device: what DeflateDeviceDecoder calls (format/deflate/stream/deflate_piece_device.hpp).
//
// A stream brings compressed bytes up, one brings content down, and each room has one that restores. Events hold that one until what it restores has come,
// and, behind what is done before the link is known, until what stood in its output has gone. So pieces in all rooms share the device while another one comes and the content of the last one
// goes: one alone leaves much of it idle for as long as its last warps take.
#pragma once

#include <cstdint>
#include <deque>
#include <memory>
#include <mutex>
#include <vector>

#include "engine/cuda/device_clock.hpp"
#include "format/deflate/stream/deflate_device_decoder.hpp"
#include "format/deflate/stream/deflate_piece_device.hpp"
#include "format/deflate/stream/deflate_stream_cuda.hpp"
#include "gpu/cuda/device.hpp"
#include "gpu/cuda/device_buffer.hpp"
#include "gpu/cuda/event.hpp"
#include "gpu/cuda/pinned_pool.hpp"

namespace hemstitch::cuda {

// What CudaPieces takes of a device's memory.
std::uint64_t cuda_pieces_bytes(const DeflateDeviceLimits& limits);

class CudaPieces : public DeflatePieceDevice {
 public:
  // The device, and the clock where there is one, outlive it. Throws Error (device family) where there is no memory.
  CudaPieces(Device& device, const DeflateDeviceLimits& limits, DeviceClock* clock);
  // Nothing comes down any more.
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
  // A way down.
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
