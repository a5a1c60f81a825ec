// Pinned host memory that is used again: pinning takes a tenth of a second a gigabyte and more, and stops the device
// meanwhile.
#pragma once

#include <cstddef>
#include <limits>
#include <map>
#include <mutex>
#include <span>
#include <utility>
#include <vector>

#include "core/large_buffer.hpp"

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
      if (pool_ != nullptr) pool_->take_back(memory_);
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

  // The lent block that holds `at`; empty where none does.
  std::span<std::byte> lent_around(const std::byte* at) const;

  // Pinned now, lent or waiting: rounded up to eighths of powers of two, which is what makes blocks fit again.
  std::size_t pinned_bytes() const;

 private:
  void take_back(const std::byte* memory) noexcept;
  // With the mutex held.
  std::size_t waiting_bytes() const;
  void release_waiting();

  mutable std::mutex mutex_;
  std::map<std::size_t, std::vector<LargeBuffer>> waiting_;  // by their size
  struct Lent {
    LargeBuffer memory;
    std::size_t bytes = 0;
  };
  std::map<const std::byte*, Lent> lent_;
  std::size_t made_ = 0;
  std::size_t pinned_bytes_ = 0;
  std::size_t limit_bytes_;
};

}  // namespace hemstitch::cuda
