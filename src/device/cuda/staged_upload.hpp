// Ordinary memory of the host to the device, nearly as fast as pinned memory goes: through a few pinned pieces, filled by
// many threads while those before them are on their way. Pinning costs a millisecond for every few megabytes, so memory
// that is read into before there is a device, or that is large, is better not pinned.
#pragma once

#include <algorithm>
#include <array>
#include <cstring>
#include <span>

#include "device/cuda/event.hpp"
#include "device/cuda/pinned_pool.hpp"
#include "pipeline/ring.hpp"

namespace hemstitch::cuda {

// Of the thread's current device. One thread at a time.
class StagedUpload {
 public:
  StagedUpload() {
    for (Piece& piece : pieces_) piece.memory = PinnedPool::of_process().take(kPieceBytes);
  }
  // The stream of the last copy() must be through with it.
  ~StagedUpload() = default;
  StagedUpload(const StagedUpload&) = delete;
  StagedUpload& operator=(const StagedUpload&) = delete;

  // Returns when `from` was read; what goes on is a step of the stream.
  void copy(std::byte* d_to, std::span<const std::byte> from, cudaStream_t stream) {
    for (std::size_t begin = 0; begin < from.size(); begin += kPieceBytes) {
      const std::size_t bytes = std::min(kPieceBytes, from.size() - begin);
      Piece& piece = pieces_[next_++ % kPieceCount];
      piece.sent.synchronize();
      std::byte* const staged = piece.memory.span().data();
      run_in_parallel((bytes + kShareBytes - 1) / kShareBytes, 1, [&](std::size_t share) {
        const std::size_t at = share * kShareBytes;
        std::memcpy(staged + at, from.data() + begin + at, std::min(kShareBytes, bytes - at));
      });
      check(cudaMemcpyAsync(d_to + begin, staged, bytes, cudaMemcpyHostToDevice, stream), "cudaMemcpyAsync");
      piece.sent.record(stream);
    }
  }

 private:
  // A piece is on its way for 75 microseconds, about what it takes to fill the next one; with four, neither waits for the other.
  static constexpr std::size_t kPieceBytes = std::size_t{4} << 20;
  static constexpr std::size_t kPieceCount = 4;
  static constexpr std::size_t kShareBytes = std::size_t{256} << 10;  // that one thread copies

  struct Piece {
    PinnedPool::Block memory;
    Event sent;  // passed as long as it was never recorded
  };

  std::array<Piece, kPieceCount> pieces_;
  std::size_t next_ = 0;
};

}  // namespace hemstitch::cuda
