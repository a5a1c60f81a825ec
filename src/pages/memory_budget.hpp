// How much of its budget a store uses. Any thread may use it.
#pragma once

#include <atomic>
#include <cstdint>

namespace hemstitch {

class MemoryBudget {
 public:
  // 0: no limit.
  explicit MemoryBudget(std::uint64_t limit_bytes) : limit_bytes_(limit_bytes) {}

  std::uint64_t limit_bytes() const { return limit_bytes_; }
  std::uint64_t used_bytes() const { return used_bytes_.load(std::memory_order_relaxed); }

  // Returns false, and takes nothing, if there is no room.
  bool charge(std::uint64_t bytes) {
    std::uint64_t used = used_bytes_.load(std::memory_order_relaxed);
    do {
      if (limit_bytes_ != 0 && (used > limit_bytes_ || bytes > limit_bytes_ - used)) return false;
    } while (!used_bytes_.compare_exchange_weak(used, used + bytes, std::memory_order_relaxed));
    return true;
  }
  void discharge(std::uint64_t bytes) { used_bytes_.fetch_sub(bytes, std::memory_order_relaxed); }

 private:
  const std::uint64_t limit_bytes_;
  std::atomic<std::uint64_t> used_bytes_ = 0;
};

}  // namespace hemstitch
