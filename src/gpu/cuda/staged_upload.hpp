// Ordinary memory of the host to the device, nearly as fast as pinned memory goes: through a little pinned memory that
// many threads fill, each its own pieces, while those before them are on their way. Pinning costs a millisecond for every few
// megabytes, so memory that is read into before there is a device, or that is large, is better not pinned.
#pragma once

#include <algorithm>
#include <array>
#include <cstring>
#include <span>

#include "core/parallel.hpp"
#include "gpu/cuda/device.hpp"
#include "gpu/cuda/event.hpp"

namespace hemstitch::cuda {

// One thread at a time. Made by a thread whose current device is `device`.
class StagedUpload {
 public:
  explicit StagedUpload(Device& device)
      : device_(device), memory_(device.pinned().take(kLaneCount * kLanePieces * kPieceBytes)) {}
  // The stream of the last copy() must be through with it.
  ~StagedUpload() = default;
  StagedUpload(const StagedUpload&) = delete;
  StagedUpload& operator=(const StagedUpload&) = delete;

  // Returns when `from` was read; what goes on is a step of the stream.
  void copy(std::byte* d_to, std::span<const std::byte> from, cudaStream_t stream) {
    fill(
        d_to, from.size(),
        [&](std::size_t at, std::span<std::byte> staged) {
          std::memcpy(staged.data(), from.data() + at, staged.size());
        },
        stream);
  }

  // The same of bytes that write(at, staged) puts where they leave from, from several threads, each call for some of them.
  template <class Write>
  void fill(std::byte* d_to, std::size_t bytes, const Write& write, cudaStream_t stream) {
    const std::size_t piece_count = (bytes + kPieceBytes - 1) / kPieceBytes;
    run_in_parallel(std::min(kLaneCount, piece_count), 1, [&](std::size_t lane) {
      device_.make_current();
      for (std::size_t piece = lane; piece < piece_count; piece += kLaneCount) {
        const std::size_t place = lane * kLanePieces + turns_[lane]++ % kLanePieces;
        const std::size_t begin = piece * kPieceBytes, size = std::min(kPieceBytes, bytes - begin);
        std::byte* const staged = memory_.span().data() + place * kPieceBytes;
        sent_[place].synchronize();
        write(begin, std::span(staged, size));
        check(cudaMemcpyAsync(d_to + begin, staged, size, cudaMemcpyHostToDevice, stream), "cudaMemcpyAsync");
        sent_[place].record(stream);
      }
    });
  }

 private:
  // Threads that fill pieces at once, each one while its other one is on its way. Fewer and larger pieces rather than more and smaller
  // ones, since threads wait for each other where they send: 1 GB took 16 threads 48 ms in pieces of 512 KB, and 8 threads
  // 32 ms in those of 1 MB.
  static constexpr std::size_t kLaneCount = 8;
  static constexpr std::size_t kLanePieces = 2;
  static constexpr std::size_t kPieceBytes = std::size_t{1} << 20;

  const Device& device_;
  PinnedPool::Block memory_;
  std::array<Event, kLaneCount * kLanePieces> sent_;  // passed as long as they were never recorded
  std::array<std::size_t, kLaneCount> turns_{};
};

}  // namespace hemstitch::cuda
