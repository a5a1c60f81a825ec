#include "pages/slot_memory.hpp"

#include <fmt/format.h>
#include <sys/mman.h>

#include <algorithm>
#include <bit>
#include <cerrno>
#include <new>

#include "core/status.hpp"

namespace hemstitch {
namespace {

constexpr std::uint32_t kSystemPageBytes = 4096;
constexpr std::uint32_t kLeastSlabBytes = 4 * kSystemPageBytes;
constexpr std::uint32_t kMostSlabBytes = 32 * kSystemPageBytes;
// Of a slab's bytes, what may be lost behind its last slot.
constexpr double kEndShare = 0.01;
constexpr std::uint32_t kStepsOfPage = 64;

std::uint32_t rounded_up(std::uint32_t bytes, std::uint32_t step) { return (bytes + step - 1) / step * step; }

std::uint64_t bitmap_words(std::uint32_t slots) { return (slots + 63) / 64; }

}  // namespace

SlotMemory::SlotMemory(const Plan& plan, MemoryBudget& budget)
    : plan_(plan),
      budget_(budget),
      unit_bytes_(std::max(kMostSlabBytes, 8 * plan.page_bytes + kSystemPageBytes)),
      step_bytes_(plan.page_bytes / kStepsOfPage),
      regions_(static_cast<Region**>(std::calloc(kMostRegions, sizeof(Region*))), std::free) {
  if (!regions_) throw std::bad_alloc();
  unit_bytes_ = rounded_up(unit_bytes_, kSystemPageBytes);
  // The smallest, the steps below the largest, and the largest.
  class_count_ = 2 + (plan.largest_slot_bytes - 1) / step_bytes_;
  classes_ = std::make_unique<Class[]>(class_count_);
  for (std::size_t i = 0; i < class_count_; ++i) {
    Class& size_class = classes_[i];
    size_class.slot_bytes = i == 0                  ? plan.smallest_slot_bytes
                            : i + 1 == class_count_ ? plan.largest_slot_bytes
                                                    : static_cast<std::uint32_t>(i) * step_bytes_;
    // The smallest slab that loses little at its end, else the one that loses least.
    double best = 1;
    for (std::uint32_t bytes = plan.prefault ? unit_bytes_ : kLeastSlabBytes; bytes <= unit_bytes_;
         bytes += kSystemPageBytes) {
      const std::uint32_t slots = std::min(bytes / size_class.slot_bytes, std::uint32_t{1} << kSlotBits);
      const double lost = double(bytes - slots * size_class.slot_bytes) / bytes;
      if (slots == 0 || lost >= best) continue;
      best = lost;
      size_class.slab_slots = slots;
      size_class.slab_bytes = bytes;
      if (lost <= kEndShare) break;
    }
  }
  if (plan.prefault)
    for (std::uint64_t mapped = 0; mapped + unit_bytes_ <= budget.limit_bytes();
         mapped += std::uint64_t{unit_bytes_} * kRegionUnits)
      map_region();
}

SlotMemory::~SlotMemory() {
  for (std::uint32_t i = 0; i < region_count_; ++i) {
    munmap(regions_.get()[i]->memory, std::size_t{unit_bytes_} * kRegionUnits);
    delete regions_.get()[i];
  }
}

std::size_t SlotMemory::class_of(std::uint32_t bytes) const {
  if (bytes <= plan_.smallest_slot_bytes) return 0;
  return std::min<std::size_t>((bytes + step_bytes_ - 1) / step_bytes_, class_count_ - 1);
}

std::byte* SlotMemory::at(SlotPlace slot) const {
  return memory_of(slot.slab) + std::size_t{slot.index} * slab(slot.slab).slot_bytes;
}

std::uint32_t SlotMemory::slot_bytes(SlotPlace slot) const { return slab(slot.slab).slot_bytes; }

bool SlotMemory::fits_class(SlotPlace slot, std::uint32_t bytes) const {
  return classes_[class_of(bytes)].slot_bytes == slab(slot.slab).slot_bytes;
}

void SlotMemory::map_region() {
  if (region_count_ == kMostRegions)
    throw Error(Status::kOutOfMemory, "the store has all the slabs that it can number");
  const std::size_t bytes = std::size_t{unit_bytes_} * kRegionUnits;
  auto made = std::make_unique<Region>();
  free_units_.reserve(free_units_.size() + (std::size_t{region_count_} + 1) * kRegionUnits);
  void* const memory =
      mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (memory == MAP_FAILED) throw system_error(Status::kOutOfMemory, "no memory for pages", errno);
  made->memory = static_cast<std::byte*>(memory);
#ifdef MADV_NOHUGEPAGE
  madvise(memory, bytes, MADV_NOHUGEPAGE);  // what is behind a slab must not be backed by memory
#endif
  bool right = true;
#ifdef MLOCK_ONFAULT
  if (plan_.lock) right = mlock2(memory, bytes, MLOCK_ONFAULT) == 0;
#else
  if (plan_.lock) right = mlock(memory, bytes) == 0;
#endif
#ifdef MADV_POPULATE_WRITE
  if (right && plan_.prefault) right = madvise(memory, bytes, MADV_POPULATE_WRITE) == 0;
#endif
  if (!right) {
    const int error = errno;
    munmap(memory, bytes);
    throw system_error(Status::kOutOfMemory, "the system does not let memory for pages be locked or taken at once",
                       error);
  }
  const std::uint32_t number = region_count_++;
  std::atomic_ref(regions_.get()[number]).store(made.release(), std::memory_order_release);
  bookkeeping_bytes_.fetch_add(sizeof(Region), std::memory_order_relaxed);
  for (std::uint32_t i = kRegionUnits; i > 0; --i) free_units_.push_back(number * kRegionUnits + i - 1);
}

std::uint32_t SlotMemory::new_unit() {
  const std::scoped_lock lock(units_mutex_);
  if (free_units_.empty()) map_region();
  const std::uint32_t unit = free_units_.back();
  free_units_.pop_back();
  return unit;
}

bool SlotMemory::add_slab(std::size_t number_of_class) {
  Class& size_class = classes_[number_of_class];
  const std::uint64_t words = bitmap_words(size_class.slab_slots);
  const std::uint64_t charged = size_class.slab_bytes + words * sizeof(std::uint64_t) + sizeof(Slab);
  if (!budget_.charge(charged)) return false;
  try {
    auto taken = std::make_unique<std::uint64_t[]>(words);
    const std::uint32_t unit = new_unit();
    Slab& made = slab(unit);
    made.slot_bytes = size_class.slot_bytes;
    made.size_class = static_cast<std::uint16_t>(number_of_class);
    made.slots = size_class.slab_slots;
    made.used = 0;
    made.is_draining = false;
    made.taken = std::move(taken);
    bookkeeping_bytes_.fetch_add(words * sizeof(std::uint64_t), std::memory_order_relaxed);
    slab_bytes_.fetch_add(size_class.slab_bytes, std::memory_order_relaxed);
    size_class.free_slots += made.slots;
    size_class.all_slots += made.slots;
    list(size_class, unit);
  } catch (...) {
    budget_.discharge(charged);
    throw;
  }
  return true;
}

void SlotMemory::list(Class& size_class, std::uint32_t number) {
  Slab& listed = slab(number);
  listed.is_listed = true;
  listed.previous = kNone;
  listed.next = size_class.first_free;
  if (listed.next != kNone) slab(listed.next).previous = number;
  size_class.first_free = number;
}

void SlotMemory::unlist(Class& size_class, std::uint32_t number) {
  Slab& listed = slab(number);
  if (!listed.is_listed) return;
  if (listed.previous != kNone) slab(listed.previous).next = listed.next;
  if (listed.next != kNone) slab(listed.next).previous = listed.previous;
  if (size_class.first_free == number) size_class.first_free = listed.next;
  listed.is_listed = false;
}

SlotPlace SlotMemory::take_in(Class& size_class, std::uint32_t number) {
  Slab& from = slab(number);
  std::uint32_t word = 0;
  while (from.taken[word] == ~std::uint64_t{0}) ++word;
  const auto bit = static_cast<std::uint32_t>(std::countr_one(from.taken[word]));
  from.taken[word] |= std::uint64_t{1} << bit;
  --size_class.free_slots;
  if (++from.used == from.slots) unlist(size_class, number);
  return {number, word * 64 + bit};
}

std::optional<SlotPlace> SlotMemory::take(std::uint32_t bytes, bool any_class) {
  for (std::size_t i = class_of(bytes); i < class_count_; ++i) {
    Class& size_class = classes_[i];
    const std::scoped_lock lock(size_class.mutex);
    if (size_class.first_free != kNone || (!any_class && add_slab(i)))
      return take_in(size_class, size_class.first_free);
    if (!any_class) break;
  }
  return std::nullopt;
}

std::optional<SlotPlace> SlotMemory::take_beside(SlotPlace slot) {
  Class& size_class = classes_[slab(slot.slab).size_class];
  const std::scoped_lock lock(size_class.mutex);
  if (size_class.first_free == kNone) return std::nullopt;
  return take_in(size_class, size_class.first_free);
}

void SlotMemory::give_back(SlotPlace slot) noexcept {
  Slab& owner = slab(slot.slab);
  Class& size_class = classes_[owner.size_class];
  const std::scoped_lock lock(size_class.mutex);
  owner.taken[slot.index / 64] &= ~(std::uint64_t{1} << slot.index % 64);
  --owner.used;
  ++size_class.free_slots;
  if (!owner.is_listed && !owner.is_draining) list(size_class, slot.slab);
}

bool SlotMemory::is_loose(const Class& size_class, double least_free_share) const {
  return size_class.free_slots >= size_class.slab_slots &&
         double(size_class.free_slots) > least_free_share * double(size_class.all_slots);
}

bool SlotMemory::has_free_slabs(double least_free_share) const {
  for (std::size_t i = 0; i < class_count_; ++i) {
    const std::scoped_lock lock(classes_[i].mutex);
    if (is_loose(classes_[i], least_free_share)) return true;
  }
  return false;
}

void SlotMemory::release_slab(Class& size_class, std::uint32_t number) {
  Slab& emptied = slab(number);
  unlist(size_class, number);
  const std::uint64_t words = bitmap_words(emptied.slots);
  emptied.taken.reset();
  emptied.is_draining = false;
  size_class.free_slots -= emptied.slots;
  size_class.all_slots -= emptied.slots;
  if (!plan_.prefault) {
    std::byte* const memory = memory_of(number);
    if (plan_.lock) munlock(memory, unit_bytes_);  // locked memory cannot be given back
    madvise(memory, size_class.slab_bytes, MADV_DONTNEED);
#ifdef MLOCK_ONFAULT
    if (plan_.lock) mlock2(memory, unit_bytes_, MLOCK_ONFAULT);
#endif
  }
  bookkeeping_bytes_.fetch_sub(words * sizeof(std::uint64_t), std::memory_order_relaxed);
  slab_bytes_.fetch_sub(size_class.slab_bytes, std::memory_order_relaxed);
  budget_.discharge(size_class.slab_bytes + words * sizeof(std::uint64_t) + sizeof(Slab));
  const std::scoped_lock lock(units_mutex_);
  free_units_.push_back(number);  // there is room for all units that were ever mapped
}

std::uint64_t SlotMemory::compact(double least_free_share, Mover& mover) {
  std::uint64_t moved = 0;
  // The largest slab of all has so many slots.
  std::array<std::uint64_t, (std::size_t{1} << kSlotBits) / 64> taken;
  for (std::size_t i = 0; i < class_count_; ++i) {
    Class& size_class = classes_[i];
    for (;;) {
      std::uint32_t victim = kNone;
      std::uint64_t words = 0;
      {
        const std::scoped_lock lock(size_class.mutex);
        if (!is_loose(size_class, least_free_share)) break;
        for (std::uint32_t at = size_class.first_free; at != kNone; at = slab(at).next)
          if (victim == kNone || slab(at).used < slab(victim).used) victim = at;
        if (victim == kNone) break;
        Slab& emptied = slab(victim);
        if (emptied.used == 0) {
          release_slab(size_class, victim);
          continue;
        }
        unlist(size_class, victim);
        emptied.is_draining = true;
        words = bitmap_words(emptied.slots);
        std::copy_n(emptied.taken.get(), words, taken.begin());
      }
      for (std::uint32_t word = 0; word < words; ++word)
        for (std::uint64_t bits = taken[word]; bits != 0; bits &= bits - 1)
          if (mover.move({victim, word * 64 + static_cast<std::uint32_t>(std::countr_zero(bits))})) ++moved;
      const std::scoped_lock lock(size_class.mutex);
      Slab& emptied = slab(victim);
      if (emptied.used == 0) {
        release_slab(size_class, victim);
        continue;
      }
      // Slots that are just being filled or given back: a later run finds them where they belong.
      emptied.is_draining = false;
      if (emptied.used < emptied.slots) list(size_class, victim);
      break;
    }
  }
  return moved;
}

}  // namespace hemstitch
