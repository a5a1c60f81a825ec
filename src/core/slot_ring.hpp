// Slots: what a batch in flight needs (a stream, buffers), made when it is first needed and kept for the next batch. Whoever works on
// a batch holds one of them. (pipeline/ring.hpp is the other kind of ring: its slots hold what was read and what is written, and go
// from stage to stage in order.)
#pragma once

#include <condition_variable>
#include <cstddef>
#include <functional>
#include <memory>
#include <mutex>
#include <utility>
#include <vector>

namespace hemstitch {

// Any thread may take a slot and give it back. Outlives its leases.
template <typename Slot>
class SlotRing {
 public:
  using Make = std::function<std::unique_ptr<Slot>()>;

  // Holds a slot, or none; gives it back at its end.
  class Lease {
   public:
    Lease() = default;
    Lease(Lease&& other) noexcept
        : ring_(std::exchange(other.ring_, nullptr)), slot_(std::exchange(other.slot_, nullptr)) {}
    Lease& operator=(Lease&&) = delete;
    ~Lease() {
      if (slot_ != nullptr) ring_->give_back(*slot_);
    }
    explicit operator bool() const { return slot_ != nullptr; }
    Slot& operator*() const { return *slot_; }
    Slot* operator->() const { return slot_; }

   private:
    friend class SlotRing;
    Lease(SlotRing& ring, Slot& slot) : ring_(&ring), slot_(&slot) {}

    SlotRing* ring_ = nullptr;
    Slot* slot_ = nullptr;
  };

  // `make` is called by a thread that takes a slot.
  explicit SlotRing(
      std::size_t count, Make make = [] { return std::make_unique<Slot>(); })
      : count_(count), make_(std::move(make)) {
    slots_.reserve(count);
    free_.reserve(count);  // so that giving back needs no memory
  }

  std::size_t count() const { return count_; }

  // Waits while others hold all of them.
  Lease take() {
    std::unique_lock lock(mutex_);
    freed_.wait(lock, [&] { return has_one(); });
    return lease();
  }
  // None where others hold all of them.
  Lease try_take() {
    const std::scoped_lock lock(mutex_);
    return has_one() ? lease() : Lease();
  }

  // Calls use(slot) for each that nobody holds; none can be taken meanwhile.
  template <typename Use>
  void for_each_free(const Use& use) {
    const std::scoped_lock lock(mutex_);
    for (Slot* const slot : free_) use(*slot);
  }

 private:
  bool has_one() const { return !free_.empty() || slots_.size() < count_; }

  Lease lease() {
    if (free_.empty()) {
      slots_.push_back(make_());
      return Lease(*this, *slots_.back());
    }
    // The one used last: its memory is as large as this batch, most likely.
    Slot* const slot = free_.back();
    free_.pop_back();
    return Lease(*this, *slot);
  }

  void give_back(Slot& slot) {
    {
      const std::scoped_lock lock(mutex_);
      free_.push_back(&slot);
    }
    freed_.notify_one();
  }

  std::size_t count_;
  Make make_;
  std::mutex mutex_;
  std::condition_variable freed_;
  std::vector<std::unique_ptr<Slot>> slots_;  // made so far
  std::vector<Slot*> free_;
};

}  // namespace hemstitch
