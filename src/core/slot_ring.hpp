// Slots: what a batch in flight needs on a device (a stream, buffers), made on first use and kept for later
// batches. Whoever works on a batch holds one. (pipeline/ring.hpp is another kind of ring: its slots hold
// what was read and what is written, and go from stage to stage in order.)
#pragma once

#include <condition_variable>
#include <cstddef>
#include <functional>
#include <memory>
#include <mutex>
#include <utility>
#include <vector>

namespace hemstitch {

// Any thread may take a slot and return it. The ring must outlive its leases.
template <typename Slot>
class SlotRing {
 public:
  using Make = std::function<std::unique_ptr<Slot>()>;

  // Holds a slot, or none. Returns it at the end.
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

  // `make` runs on the thread that takes a slot.
  explicit SlotRing(
      std::size_t count, Make make = [] { return std::make_unique<Slot>(); })
      : count_(count), make_(std::move(make)) {
    slots_.reserve(count);
    free_.reserve(count);  // so that returning a slot needs no memory
  }

  std::size_t count() const { return count_; }

  // Waits while all slots are held.
  Lease take() {
    std::unique_lock lock(mutex_);
    freed_.wait(lock, [&] { return has_one(); });
    return lease();
  }
  // Returns no slot if all are held.
  Lease try_take() {
    const std::scoped_lock lock(mutex_);
    return has_one() ? lease() : Lease();
  }

  // Calls use(slot) for each free slot; none can be taken meanwhile.
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
    // The slot that was used last: its memory most likely fits this batch.
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
