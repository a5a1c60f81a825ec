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
// The share of a slab's bytes that may be unused after its last slot.
constexpr double kEndShare = 0.03;
// The steps between the sizes of slots.
constexpr std::uint32_t kLeastStepBytes = 16, kStepsOfOctave = 16, kStepsOfPage = 64;

std::vector<std::uint32_t> sizes_of_slots(std::uint32_t page_bytes, std::uint32_t largest) {
  std::vector<std::uint32_t> sizes;
  for (std::uint32_t bytes = kLeastStepBytes; bytes < largest;
       bytes +=
       std::clamp(std::bit_floor(bytes) / kStepsOfOctave, kLeastStepBytes, page_bytes / kStepsOfPage))
    sizes.push_back(bytes);
  sizes.push_back(largest);
  return sizes;
}

std::uint64_t bitmap_words(std::uint32_t slots) { return (slots + 63) / 64; }

}  // namespace

SlotMemory::SlotMemory(const Plan& plan, MemoryBudget& budget)
    : plan_(plan),
      budget_(budget),
      unit_bytes_(std::max(kMostSlabBytes, 8 * plan.page_bytes + kSystemPageBytes)),
      class_bytes_(sizes_of_slots(plan.page_bytes, plan.largest_slot_bytes)),
      // NOLINTNEXTLINE(bugprone-sizeof-expression): an array of pointers
      regions_(static_cast<Region**>(std::calloc(kMostRegions, sizeof(Region*))), std::free) {
  if (!regions_) throw std::bad_alloc();
  unit_bytes_ = round_up(unit_bytes_, kSystemPageBytes);
  class_count_ = class_bytes_.size();
  classes_ = std::make_unique<Class[]>(class_count_);
  for (std::size_t i = 0; i < class_count_; ++i) {
    Class& size_class = classes_[i];
    const std::uint32_t slot_bytes = class_bytes_[i];
    // Takes the smallest slab that loses little at its end, or else the one that loses least.
    double best = 1;
    for (std::uint32_t bytes = plan.prefault ? unit_bytes_ : kLeastSlabBytes; bytes <= unit_bytes_;
         bytes += kSystemPageBytes) {
      const std::uint32_t slots = std::min(bytes / slot_bytes, std::uint32_t{1} << kSlotBits);
      const double lost = double(bytes - slots * slot_bytes) / bytes;
      if (slots == 0 || lost >= best) continue;
      best = lost;
      size_class.slab_slots = slots;
      size_class.slab_bytes = bytes;
      if (lost <= kEndShare) break;
    }
  }
  if (!plan.prefault) return;
  try {
    for (std::uint64_t mapped = 0; mapped + unit_bytes_ <= budget.limit_bytes();
         mapped += std::uint64_t{unit_bytes_} * kRegionUnits)
      map_region();
  } catch (...) {
    unmap_regions();
    throw;
  }
}

SlotMemory::~SlotMemory() { unmap_regions(); }

void SlotMemory::unmap_regions() {
  for (std::uint32_t i = 0; i < region_count_; ++i) {
    munmap(regions_.get()[i]->memory, std::size_t{unit_bytes_} * kRegionUnits);
    delete regions_.get()[i];
  }
}

void SlotMemory::unmap_in_child() noexcept {
  for (std::uint32_t i = 0; i < kMostRegions; ++i)
    if (const Region* const mapped = region(i * kRegionUnits))
      munmap(mapped->memory, std::size_t{unit_bytes_} * kRegionUnits);
}

std::size_t SlotMemory::class_of(std::uint32_t bytes) const {
  return static_cast<std::size_t>(std::ranges::lower_bound(class_bytes_, bytes) - class_bytes_.begin());
}

std::byte* SlotMemory::at(SlotPlace slot) const {
  return memory_of(slot.slab) + std::size_t{slot.index} * class_bytes_[class_of_slab(slot.slab)];
}

void SlotMemory::prefetch(SlotPlace slot, std::uint32_t bytes) const { prefetch_lines(at(slot), bytes); }

std::uint32_t SlotMemory::slot_bytes(SlotPlace slot) const { return class_bytes_[class_of_slab(slot.slab)]; }

bool SlotMemory::fits_class(SlotPlace slot, std::uint32_t bytes) const {
  return class_of(bytes) == class_of_slab(slot.slab);
}

void SlotMemory::map_region() {
  if (region_count_ == kMostRegions)
    throw Error(Status::kOutOfMemory, "the store has as many slabs as it can number");
  const std::size_t bytes = std::size_t{unit_bytes_} * kRegionUnits;
  auto made = std::make_unique<Region>();
  free_units_.reserve(free_units_.size() + (std::size_t{region_count_} + 1) * kRegionUnits);
  void* const memory =
      mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (memory == MAP_FAILED) throw system_error(Status::kOutOfMemory, "no memory for pages", errno);
  made->memory = static_cast<std::byte*>(memory);
#ifdef MADV_HUGEPAGE
  // Huge pages save most walks through the system's page tables, each of which takes as long as copying a page. But they would
  // also back the memory between slabs. With `prefault` slabs leave none.
  madvise(memory, bytes, plan_.prefault ? MADV_HUGEPAGE : MADV_NOHUGEPAGE);
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
    throw system_error(Status::kOutOfMemory, "the system refuses to lock or prefault memory for pages",
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

std::uint64_t SlotMemory::more_words(const Class& size_class) {
  return size_class.slab_slots > kFewSlots ? bitmap_words(size_class.slab_slots) : 0;
}

std::uint64_t SlotMemory::charge_of(const Class& size_class) {
  return size_class.slab_bytes + more_words(size_class) * sizeof(std::uint64_t) + sizeof(Slab);
}

bool SlotMemory::add_slab(std::size_t number_of_class) {
  Class& size_class = classes_[number_of_class];
  const std::uint64_t charged = charge_of(size_class), more = more_words(size_class);
  if (!budget_.charge(charged)) return false;
  try {
    auto many = more != 0 ? std::make_unique<std::uint64_t[]>(more) : nullptr;
    const std::uint32_t unit = new_unit();
    Slab& made = slab(unit);
    made.used = 0;
    made.few = 0;
    made.is_draining = false;
    made.size_class.store(static_cast<std::uint16_t>(number_of_class), std::memory_order_relaxed);
    made.many = std::move(many);
    bookkeeping_bytes_.fetch_add(more * sizeof(std::uint64_t), std::memory_order_relaxed);
    slab_bytes_.fetch_add(size_class.slab_bytes, std::memory_order_relaxed);
    size_class.free_slots += size_class.slab_slots;
    size_class.all_slots += size_class.slab_slots;
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
  std::uint64_t* const taken = taken_in(from);
  std::uint32_t word = 0;
  while (taken[word] == ~std::uint64_t{0}) ++word;
  const auto bit = static_cast<std::uint32_t>(std::countr_one(taken[word]));
  taken[word] |= std::uint64_t{1} << bit;
  --size_class.free_slots;
  if (++from.used == size_class.slab_slots) unlist(size_class, number);
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
  const std::size_t first = class_of_slab(slot.slab);
  for (std::size_t i = first; i == first || (any_class_ && i < class_count_); ++i) {
    Class& size_class = classes_[i];
    const std::scoped_lock lock(size_class.mutex);
    if (size_class.first_free != kNone) return take_in(size_class, size_class.first_free);
  }
  return std::nullopt;
}

void SlotMemory::give_back(SlotPlace slot) noexcept {
  Slab& owner = slab(slot.slab);
  Class& size_class = classes_[class_of_slab(slot.slab)];
  const std::scoped_lock lock(size_class.mutex);
  taken_in(owner)[slot.index / 64] &= ~(std::uint64_t{1} << slot.index % 64);
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
  emptied.many.reset();
  size_class.free_slots -= size_class.slab_slots;
  size_class.all_slots -= size_class.slab_slots;
  if (!plan_.prefault) {
    std::byte* const memory = memory_of(number);
    if (plan_.lock) munlock(memory, unit_bytes_);  // locked memory cannot be released
    madvise(memory, size_class.slab_bytes, MADV_DONTNEED);
#ifdef MLOCK_ONFAULT
    if (plan_.lock) mlock2(memory, unit_bytes_, MLOCK_ONFAULT);
#endif
  }
  bookkeeping_bytes_.fetch_sub(more_words(size_class) * sizeof(std::uint64_t), std::memory_order_relaxed);
  slab_bytes_.fetch_sub(size_class.slab_bytes, std::memory_order_relaxed);
  budget_.discharge(charge_of(size_class));
  const std::scoped_lock lock(units_mutex_);
  free_units_.push_back(number);  // map_region() has reserved room for all units
}

std::uint32_t SlotMemory::begin_emptying(Class& size_class) {
  std::uint32_t victim = kNone;
  for (std::uint32_t at = size_class.first_free; at != kNone; at = slab(at).next)
    if (victim == kNone || slab(at).used < slab(victim).used) victim = at;
  if (victim == kNone) return kNone;
  unlist(size_class, victim);
  slab(victim).is_draining = true;
  return victim;
}

bool SlotMemory::empty(Class& size_class, std::uint32_t number, Mover& mover, std::uint64_t& moved) {
  // No slab has more slots.
  std::array<std::uint64_t, (std::size_t{1} << kSlotBits) / 64> taken;
  const std::uint64_t words = bitmap_words(size_class.slab_slots);
  {
    const std::scoped_lock lock(size_class.mutex);
    std::copy_n(taken_in(slab(number)), words, taken.begin());
  }
  for (std::uint32_t word = 0; word < words; ++word)
    for (std::uint64_t bits = taken[word]; bits != 0; bits &= bits - 1)
      if (mover.move({number, word * 64 + static_cast<std::uint32_t>(std::countr_zero(bits))})) ++moved;
  const std::scoped_lock lock(size_class.mutex);
  Slab& emptied = slab(number);
  emptied.is_draining = false;
  if (emptied.used == 0) {
    release_slab(size_class, number);
    return true;
  }
  // Some slots are still being filled or given back; a later run will find them.
  if (emptied.used < size_class.slab_slots) list(size_class, number);
  return false;
}

std::uint64_t SlotMemory::compact(double least_free_share, Mover& mover) {
  std::uint64_t moved = 0;
  for (std::size_t i = 0; i < class_count_; ++i) {
    Class& size_class = classes_[i];
    for (;;) {
      std::uint32_t victim = kNone;
      {
        const std::scoped_lock lock(size_class.mutex);
        if (is_loose(size_class, least_free_share)) victim = begin_emptying(size_class);
      }
      if (victim == kNone || !empty(size_class, victim, mover, moved)) break;
    }
  }
  return moved;
}

bool SlotMemory::squeeze(Mover& mover) {
  any_class_ = true;
  bool released = false;
  for (std::size_t i = 0; i < class_count_ && !released; ++i) {
    Class& size_class = classes_[i];
    std::uint32_t victim = kNone;
    {
      const std::scoped_lock lock(size_class.mutex);
      victim = begin_emptying(size_class);
    }
    std::uint64_t moved = 0;
    if (victim != kNone) released = empty(size_class, victim, mover, moved);
  }
  any_class_ = false;
  return released;
}

}  // namespace hemstitch
