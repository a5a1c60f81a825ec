// The slots of a shard that are being read without the shard's mutex. While a slot is in this list, nobody
// writes into it or gives it back. Readers do not wait, and a writer that has replaced or moved such a page
// does not wait either: it leaves the slot to the reader, who gives it back.
//
// Thread safety: as each function says. "Locked" means with the shard's mutex held.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>

#include "pages/slot_memory.hpp"

namespace hemstitch {

class SlotReaders {
 public:
  // A place in the list: 0, or a slot, and whether it was left to its reader.
  using Entry = std::atomic<std::uint64_t>;

  // Locked. `slot` is in the table. Null if another thread reads it already, or too many slots are being read:
  // then copy the page instead.
  Entry* begin(SlotPlace slot) {
    Entry* free = nullptr;
    for (Entry& entry : entries_) {
      // Acquires what end() released, so that whoever locks the mutex later comes after the former reader too.
      const std::uint64_t seen = entry.load(std::memory_order_acquire);
      if (seen == bits_of(slot)) return nullptr;
      if (seen == 0) free = &entry;
    }
    if (free != nullptr) free->store(bits_of(slot), std::memory_order_relaxed);
    return free;
  }

  // Not locked. Returns true if the reader has to give the slot back.
  static bool end(Entry& entry) { return (entry.exchange(0, std::memory_order_acq_rel) & kLeft) != 0; }

  // Locked. Whether a thread reads the slot.
  bool has(SlotPlace slot) const {
    for (const Entry& entry : entries_)
      if (entry.load(std::memory_order_acquire) == bits_of(slot)) return true;
    return false;
  }

  // Locked. `slot` is no longer in the table. Returns false if nobody reads it: then the caller gives it back.
  bool leave(SlotPlace slot) {
    for (Entry& entry : entries_) {
      std::uint64_t expected = bits_of(slot);
      if (entry.compare_exchange_strong(expected, expected | kLeft, std::memory_order_acq_rel)) return true;
    }
    return false;
  }

 private:
  static constexpr std::uint64_t kUsed = std::uint64_t{1} << 62, kLeft = std::uint64_t{1} << 63;
  static constexpr std::uint64_t bits_of(SlotPlace slot) {
    return kUsed | std::uint64_t{slot.slab} << SlotMemory::kSlotBits | slot.index;
  }

  // With the mutex, they fill a line of the processor's cache. More threads than this rarely read in one shard.
  std::array<Entry, 3> entries_{};
};

}  // namespace hemstitch
