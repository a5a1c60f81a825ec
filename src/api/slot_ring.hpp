// The slots of a matcher on a device: a submission holds one from its beginning until its matches are dropped.
#pragma once

#include <fmt/format.h>

#include <condition_variable>
#include <cstdint>
#include <deque>
#include <memory>
#include <mutex>
#include <span>
#include <utility>
#include <vector>

#include "api/pending_matches.hpp"
#include "core/status.hpp"

namespace hemstitch {

// Any thread may take a slot and give it back.
template <typename Slot>
class SlotRing {
 public:
  explicit SlotRing(unsigned count) : slots_(count) {
    for (Slot& slot : slots_) free_.push_back(&slot);
  }

  // Throws kInvalidOption where all are taken.
  Slot& take() {
    Slot* const slot = take(false);
    if (slot == nullptr)
      throw Error(
          Status::kInvalidOption,
          fmt::format("{} submissions are in flight, which is what the matcher has room for: let one of "
                      "them go first",
                      slots_.size()));
    return *slot;
  }
  // Null where all are taken and it is not to wait.
  Slot* take(bool wait) {
    std::unique_lock lock(mutex_);
    if (wait) freed_.wait(lock, [&] { return !free_.empty(); });
    if (free_.empty()) return nullptr;
    // The one used last: its memory is as large as this submission, most likely.
    Slot* const slot = free_.back();
    free_.pop_back();
    return slot;
  }
  void give_back(Slot& slot) {
    {
      const std::scoped_lock lock(mutex_);
      free_.push_back(&slot);
    }
    freed_.notify_one();
  }

  // Any number of blocks, in as many submissions of about `batch_bytes` as they need: submit(slot, blocks) makes one, a
  // std::unique_ptr<PendingWork>. Waits while others have the slots.
  template <typename Submit>
  std::vector<std::vector<PositionedMatch>> find_in_batches(std::span<const MatchBlock> blocks,
                                                            std::uint64_t batch_bytes, const Submit& submit) {
    std::vector<std::vector<PositionedMatch>> all;
    std::deque<std::unique_ptr<PendingWork>> in_flight;
    const auto take_oldest = [&] {
      for (auto& matches : in_flight.front()->take()) all.push_back(std::move(matches));
      in_flight.pop_front();
    };
    while (!blocks.empty()) {
      // Whoever holds slots does not wait for another one: two callers could wait for each other.
      Slot* const slot = take(in_flight.empty());
      if (slot == nullptr) {
        take_oldest();
        continue;
      }
      std::size_t count = 0;
      std::uint64_t bytes = 0;
      do bytes += staged_bytes(blocks[count++]);
      while (count < blocks.size() && bytes + staged_bytes(blocks[count]) <= batch_bytes);
      in_flight.push_back(submit(*slot, blocks.first(count)));
      blocks = blocks.subspan(count);
    }
    while (!in_flight.empty()) take_oldest();
    return all;
  }

 private:
  // Blocks begin at whole words on devices.
  static std::uint64_t staged_bytes(const MatchBlock& block) { return (block.data.size() + 3) / 4 * 4; }

  std::mutex mutex_;
  std::condition_variable freed_;
  std::vector<Slot> slots_;
  std::vector<Slot*> free_;
};

}  // namespace hemstitch
