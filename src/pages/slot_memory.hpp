// Memory of a page store: slots of a size each, in slabs of one size of slot.
//
//   region   256 units of address space, mapped when the first of them is needed
//   unit     room for one slab, of which only the slab's own bytes are touched
//   slab     slots of one class, and a bit for each: taken or free
//   class    a size of slots: a sixteenth of a power of two apart, 16 bytes at least and a 64th of a page at most
//
// A slab gives its memory back to the system (madvise), never its address space: a hole in a mapping would cost the process one of the
// few mappings that it may have.
//
// Thread safety: any thread may call any function. Where a slot stands can be asked by whoever holds it, without waiting for anybody.
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
  // With prefault the budget's memory is taken here. Throws Error: kOutOfMemory.
  SlotMemory(const Plan& plan, MemoryBudget& budget);
  ~SlotMemory();
  SlotMemory(const SlotMemory&) = delete;
  SlotMemory& operator=(const SlotMemory&) = delete;

  // A free slot for so many bytes, of the class that fits; with `any_class` of a larger one, if that has a free slot. Nothing where the budget
  // has no room for a slab; throws kOutOfMemory where the system has none.
  std::optional<SlotPlace> take(std::uint32_t bytes, bool any_class = false);
  void give_back(SlotPlace slot) noexcept;

  std::byte* at(SlotPlace slot) const;
  // Has memory bring what stands there near the processor, of any place that ever was a slot's.
  void prefetch(SlotPlace slot, std::uint32_t bytes) const;
  std::uint32_t slot_bytes(SlotPlace slot) const;
  bool fits_class(SlotPlace slot, std::uint32_t bytes) const;

  // What compaction moves: gives a slot's page another place, which move_to() finds, or nothing if it belongs to nobody yet.
  class Mover {
   public:
    virtual ~Mover() = default;
    // Moves what stands in `from` into a slot that take() gives, of the same class; false where it stays.
    virtual bool move(SlotPlace from) = 0;
  };
  // A free slot in another slab than those that are being emptied, of the slot's class or, while pages of all classes are brought together, a
  // larger one; without taking memory.
  std::optional<SlotPlace> take_beside(SlotPlace slot);
  // Empties slabs of every class whose free slots are more than a slab has and more than `least_free_share` of all of the class, and gives
  // them back. Returns the pages that were moved. One thread at a time.
  std::uint64_t compact(double least_free_share, Mover& mover);
  // Where the budget is reached: empties one slab by moving what is in it into free slots of any size; false where there are none for that. The
  // same thread as compact().
  bool squeeze(Mover& mover);
  // Whether compact() may find something.
  bool has_free_slabs(double least_free_share) const;

  std::uint64_t slab_bytes() const { return slab_bytes_.load(std::memory_order_relaxed); }
  // Bitmaps and what is known of each slab.
  std::uint64_t bookkeeping_bytes() const { return bookkeeping_bytes_.load(std::memory_order_relaxed); }

 private:
  static constexpr std::uint32_t kNone = UINT32_MAX;
  static constexpr std::uint32_t kRegionUnits = 256;
  static constexpr std::uint32_t kMostRegions = (std::uint32_t{1} << kSlabBits) / kRegionUnits;

  // Small, since there is one for every few pages. How large its slots are and how many is its class's.
  struct Slab {
    std::uint32_t previous = kNone, next = kNone;  // of those of the class with free slots
    std::atomic<std::uint16_t> size_class = 0;  // prefetch() asks it of slabs that may be another's by then
    std::uint16_t used = 0;
    bool is_draining = false;
    bool is_listed = false;
    std::uint64_t few = 0;                  // bits of taken slots, where there are up to kFewSlots,
    std::unique_ptr<std::uint64_t[]> many;  // and where there are more
  };
  static constexpr std::uint32_t kFewSlots = 64;
  struct Region {
    std::byte* memory = nullptr;
    std::array<Slab, kRegionUnits> slabs;
  };
  struct Class {
    mutable std::mutex mutex;  // guards what follows, and the slabs of the class
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
  std::uint32_t new_unit();
  void map_region();
  void unmap_regions();
  std::uint64_t* taken_in(Slab& of) const {
    return classes_[of.size_class.load(std::memory_order_relaxed)].slab_slots <= kFewSlots ? &of.few
                                                                                           : of.many.get();
  }
  // With the class's mutex held.
  SlotPlace take_in(Class& size_class, std::uint32_t number);
  bool add_slab(std::size_t size_class);
  void list(Class& size_class, std::uint32_t number);
  void unlist(Class& size_class, std::uint32_t number);
  bool is_loose(const Class& size_class, double least_free_share) const;
  void release_slab(Class& size_class, std::uint32_t number);
  // The slab of the class with the fewest slots taken, put aside to be emptied. kNone: all are full.
  std::uint32_t begin_emptying(Class& size_class);
  // Moves what is in it. True: it was released.
  bool empty(Class& size_class, std::uint32_t number, Mover& mover, std::uint64_t& moved);

  Plan plan_;
  MemoryBudget& budget_;
  std::uint32_t unit_bytes_;
  std::size_t class_count_;
  std::vector<std::uint32_t> class_bytes_;
  std::unique_ptr<Class[]> classes_;
  std::unique_ptr<Region*, decltype(&std::free)>
      regions_;             // as many as there may be, so that they never move
  std::mutex units_mutex_;  // guards what follows
  std::uint32_t region_count_ = 0;
  std::vector<std::uint32_t> free_units_;
  bool any_class_ = false;  // take_beside(), while squeeze() moves
  std::atomic<std::uint64_t> slab_bytes_ = 0, bookkeeping_bytes_ = 0;
};

}  // namespace hemstitch
