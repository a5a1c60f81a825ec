// Pinned host memory that is used again: pinning costs about a millisecond for every few megabytes, and stops the
// device meanwhile.
#pragma once

#include <array>
#include <cstddef>
#include <limits>
#include <mutex>
#include <span>
#include <utility>
#include <vector>

namespace hemstitch::cuda {

// Any thread may use it. Outlives the blocks that it lent.
class PinnedPool {
 public:
  static constexpr std::size_t kNoLimit = std::numeric_limits<std::size_t>::max();

  // A lent block; goes back to the pool at its end. Work on the device that still uses it must be over by then.
  class Block {
   public:
    Block() = default;
    Block(Block&& other) noexcept { swap(other); }
    Block& operator=(Block&& other) noexcept {
      Block(std::move(other)).swap(*this);
      return *this;
    }
    ~Block() {
      if (pool_ != nullptr) pool_->take_back(memory_, bytes_);
    }

    std::span<std::byte> span() const { return {memory_, bytes_}; }

   private:
    friend class PinnedPool;
    Block(PinnedPool* pool, std::byte* memory, std::size_t bytes)
        : pool_(pool), memory_(memory), bytes_(bytes) {}
    void swap(Block& other) noexcept {
      std::swap(pool_, other.pool_);
      std::swap(memory_, other.memory_);
      std::swap(bytes_, other.bytes_);
    }

    PinnedPool* pool_ = nullptr;
    std::byte* memory_ = nullptr;
    std::size_t bytes_ = 0;
  };

  // `limit_bytes` bounds what is pinned at once, lent or waiting.
  explicit PinnedPool(std::size_t limit_bytes = kNoLimit) : limit_bytes_(limit_bytes) {}
  ~PinnedPool();
  PinnedPool(const PinnedPool&) = delete;
  PinnedPool& operator=(const PinnedPool&) = delete;

  // Exactly `bytes`, of a waiting block or a new one. Throws kDeviceOutOfMemory where the limit or the system allows
  // no more, after giving back all that waits.
  Block take(std::size_t bytes);

  // Gives back to the system all that waits.
  void release();

  // Pinned now, lent or waiting: rounded up to powers of two, which is what makes blocks fit again.
  std::size_t pinned_bytes() const;

 private:
  static constexpr std::size_t kClassCount = std::numeric_limits<std::size_t>::digits;

  void take_back(std::byte* memory, std::size_t bytes) noexcept;
  void release_waiting();  // with the mutex held

  mutable std::mutex mutex_;
  std::array<std::vector<std::byte*>, kClassCount> waiting_;  // [c]: blocks of 2^c bytes
  std::size_t pinned_bytes_ = 0;
  std::size_t limit_bytes_;
};

}  // namespace hemstitch::cuda
