// The memory of a page store: slots of several sizes. All slots of a slab have the same size.
//
//   region   256 units of address space, mapped when the first of them is needed
//   unit     room for one slab, of which only the slab's own bytes are touched
//   slab     slots of one class, and a bit for each: taken or free
//   class    a size of slots: a sixteenth of a power of two apart, 16 bytes at least and a 64th of a page at most
//
// A slab returns its memory to the system (madvise), but never its address space: a hole in a mapping would
// use up one of the few mappings that a process may have.
//
// Thread safety: any thread may call any function. The address of a slot is found without waiting for other
// threads.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <vector>

#include "pages/memory_budget.hpp"

namespace hemstitch {

constexpr std::uint32_t round_up(std::uint32_t bytes, std::uint32_t step) {
  return (bytes + step - 1) / step * step;
}

constexpr std::uint32_t kLineBytes = 64;  // of the processor's caches

// Asks the processor to bring bytes into its caches.
inline void prefetch_lines(const std::byte* begin, std::uint32_t bytes) {
  for (std::uint32_t line = 0; line < bytes; line += kLineBytes) __builtin_prefetch(begin + line);
}

struct SlotPlace {
  std::uint32_t slab = 0;   // kSlabBits
  std::uint32_t index = 0;  // kSlotBits
  bool operator==(const SlotPlace&) const = default;
};

class SlotMemory {
 public:
  static constexpr unsigned kSlabBits = 24, kSlotBits = 14;

  struct Plan {
    std::uint32_t page_bytes;
    std::uint32_t largest_slot_bytes;
    bool lock = false, prefault = false;
  };
  // With `prefault`, the constructor allocates the budget's memory. Throws Error: kOutOfMemory.
  SlotMemory(const Plan& plan, MemoryBudget& budget);
  ~SlotMemory();
  // For a child of fork(), whatever the parent's threads were doing: gives back the memory of the slots. Nothing else
  // may be done with the object then.
  void unmap_in_child() noexcept;
  SlotMemory(const SlotMemory&) = delete;
  SlotMemory& operator=(const SlotMemory&) = delete;

  // A free slot for so many bytes, of the class that fits; with `any_class`, of a larger class if only that
  // has a free slot. Nothing if the budget has no room for a slab; throws kOutOfMemory if the system has no
  // memory.
  std::optional<SlotPlace> take(std::uint32_t bytes, bool any_class = false);
  void give_back(SlotPlace slot) noexcept;

  std::byte* at(SlotPlace slot) const;
  // Prefetches the bytes of a slot into the processor's caches. The place may be that of a former slot.
  void prefetch(SlotPlace slot, std::uint32_t bytes) const;
  std::uint32_t slot_bytes(SlotPlace slot) const;
  bool fits_class(SlotPlace slot, std::uint32_t bytes) const;

  // Used by compaction: moves a slot's page to another place, which take_beside() finds, or does nothing if
  // the slot is in no table.
  class Mover {
   public:
    virtual ~Mover() = default;
    // Moves the page in `from` into a slot from take_beside(); false if it stays.
    virtual bool move(SlotPlace from) = 0;
  };
  // A free slot in a slab that is not being emptied: of the slot's class or, during squeeze(), a larger
  // class. Takes no new memory.
  std::optional<SlotPlace> take_beside(SlotPlace slot);
  // Empties slabs of every class in which at least as many slots are free as a slab has, and more than
  // `least_free_share` of all its slots, and releases them. Returns how many pages were moved. One thread at
  // a time.
  std::uint64_t compact(double least_free_share, Mover& mover);
  // For a budget that is used up: empties one slab by moving its pages into free slots of any size; false
  // if there are too few. Call it on the same thread as compact().
  bool squeeze(Mover& mover);
  // Whether compact() might find something.
  bool has_free_slabs(double least_free_share) const;

  // What the budget must have for a page of any content: a slab of the largest slots.
  std::uint64_t least_bytes() const { return charge_of(classes_[class_count_ - 1]); }
  std::uint64_t slab_bytes() const { return slab_bytes_.load(std::memory_order_relaxed); }
  // The bitmaps and the descriptions of all slabs.
  std::uint64_t bookkeeping_bytes() const { return bookkeeping_bytes_.load(std::memory_order_relaxed); }

 private:
  static constexpr std::uint32_t kNone = UINT32_MAX;
  static constexpr std::uint32_t kRegionUnits = 256;
  static constexpr std::uint32_t kMostRegions = (std::uint32_t{1} << kSlabBits) / kRegionUnits;

  // Small, since there is one for every few pages. The size and the number of its slots are in its class.
  struct Slab {
    std::uint32_t previous = kNone, next = kNone;  // among slabs of the class with free slots
    std::atomic<std::uint16_t> size_class = 0;     // prefetch() may read it after the slab was reused
    std::uint16_t used = 0;
    bool is_draining = false;
    bool is_listed = false;
    std::uint64_t few = 0;                  // bits of taken slots, for up to kFewSlots slots
    std::unique_ptr<std::uint64_t[]> many;  // the same for more slots
  };
  static constexpr std::uint32_t kFewSlots = 64;
  struct Region {
    std::byte* memory = nullptr;
    std::array<Slab, kRegionUnits> slabs;
  };
  struct Class {
    mutable std::mutex mutex;  // guards the other members, and the slabs of the class
    std::uint32_t slab_slots = 0, slab_bytes = 0;
    std::uint32_t first_free = kNone;  // slab with free slots
    std::uint64_t free_slots = 0, all_slots = 0;
  };

  Region* region(std::uint32_t unit) const {
    return std::atomic_ref(regions_.get()[unit / kRegionUnits]).load(std::memory_order_acquire);
  }
  Slab& slab(std::uint32_t number) const { return region(number)->slabs[number % kRegionUnits]; }
  std::size_t class_of_slab(std::uint32_t number) const {
    return slab(number).size_class.load(std::memory_order_relaxed);
  }
  std::byte* memory_of(std::uint32_t number) const {
    return region(number)->memory + std::size_t{number % kRegionUnits} * unit_bytes_;
  }
  std::size_t class_of(std::uint32_t bytes) const;
  // Words of a slab's bitmap that are not in its description.
  static std::uint64_t more_words(const Class& size_class);
  // What a slab takes of the budget: its memory and its description.
  static std::uint64_t charge_of(const Class& size_class);
  std::uint32_t new_unit();
  void map_region();
  void unmap_regions();
  std::uint64_t* taken_in(Slab& of) const {
    return classes_[of.size_class.load(std::memory_order_relaxed)].slab_slots <= kFewSlots ? &of.few
                                                                                           : of.many.get();
  }
  // Call these with the class's mutex held.
  SlotPlace take_in(Class& size_class, std::uint32_t number);
  bool add_slab(std::size_t size_class);
  void list(Class& size_class, std::uint32_t number);
  void unlist(Class& size_class, std::uint32_t number);
  bool is_loose(const Class& size_class, double least_free_share) const;
  void release_slab(Class& size_class, std::uint32_t number);
  // The slab of the class with the fewest taken slots; it gets no more pages. kNone if all are full.
  std::uint32_t begin_emptying(Class& size_class);
  // Moves its pages. Returns true if the slab was released.
  bool empty(Class& size_class, std::uint32_t number, Mover& mover, std::uint64_t& moved);

  Plan plan_;
  MemoryBudget& budget_;
  std::uint32_t unit_bytes_;
  std::size_t class_count_;
  std::vector<std::uint32_t> class_bytes_;
  std::unique_ptr<Class[]> classes_;
  std::unique_ptr<Region*, decltype(&std::free)>
      regions_;             // as many as there may ever be, so that they never move
  std::mutex units_mutex_;  // guards what follows
  std::uint32_t region_count_ = 0;
  std::vector<std::uint32_t> free_units_;
  bool any_class_ = false;  // for take_beside(), while squeeze() moves pages
  std::atomic<std::uint64_t> slab_bytes_ = 0, bookkeeping_bytes_ = 0;
};

}  // namespace hemstitch
