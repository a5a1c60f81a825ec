#include "pages/page_table.hpp"

#include <sys/mman.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <new>

#include "core/status.hpp"

namespace hemstitch {

FlatPageTable::FlatPageTable(std::uint64_t page_count, MemoryBudget& budget)
    : page_count_(page_count),
      parts_((page_count + kPartPages - 1) / kPartPages),
      budget_(budget),
      has_part_(std::make_unique<std::atomic<bool>[]>(parts_)) {
  void* const memory = mmap(nullptr, page_count * sizeof(std::uint64_t), PROT_READ | PROT_WRITE,
                            MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (memory == MAP_FAILED)
    throw system_error(Status::kOutOfMemory, "no memory for the table of pages", errno);
#ifdef MADV_NOHUGEPAGE
  madvise(memory, page_count * sizeof(std::uint64_t), MADV_NOHUGEPAGE);
#endif
  entries_ = static_cast<std::uint64_t*>(memory);
}

FlatPageTable::~FlatPageTable() { munmap(entries_, page_count_ * sizeof(std::uint64_t)); }

bool FlatPageTable::make_room(std::uint64_t number) {
  std::atomic<bool>& has_part = has_part_[number / kPartPages];
  if (has_part.load(std::memory_order_relaxed)) return true;
  if (!budget_.charge(kPartBytes)) return false;
  if (has_part.exchange(true, std::memory_order_relaxed))
    budget_.discharge(kPartBytes);  // another thread was first
  else
    touched_.fetch_add(1, std::memory_order_relaxed);
  return true;
}

bool FlatPageTable::may_have(std::uint64_t number, std::uint64_t& next) const {
  if (has_part_[number / kPartPages].load(std::memory_order_relaxed)) return true;
  next = (number / kPartPages + 1) * kPartPages;
  return false;
}

HashedPageTable::HashedPageTable(MemoryBudget& budget, NumberOf number_of)
    : budget_(budget), number_of_(std::move(number_of)), buckets_(1) {}

HashedPageTable::~HashedPageTable() {
  for (const Bucket& bucket : buckets_) std::free(bucket.refs);
}

std::uint64_t* HashedPageTable::find(std::uint64_t number) {
  const std::uint64_t hash = hash_of(number), tag = tag_of(hash);
  const Bucket& bucket = buckets_[bucket_of(hash)];
  for (std::uint32_t i = 0; i < bucket.count; ++i) {
    const PageRef ref(bucket.refs[i]);
    if (ref.tag() == tag && number_of_(ref) == number) return &bucket.refs[i];
  }
  return nullptr;
}

bool HashedPageTable::reserve(Bucket& bucket, std::uint32_t capacity) {
  if (capacity <= bucket.capacity) return true;
  capacity = (capacity + kStep - 1) / kStep * kStep;
  const std::uint64_t more = (capacity - bucket.capacity) * sizeof(std::uint64_t);
  if (!budget_.charge(more)) return false;
  void* const memory = std::realloc(bucket.refs, capacity * sizeof(std::uint64_t));
  if (memory == nullptr) {
    budget_.discharge(more);
    throw std::bad_alloc();
  }
  bucket.refs = static_cast<std::uint64_t*>(memory);
  capacity_ += capacity - bucket.capacity;
  bucket.capacity = capacity;
  return true;
}

void HashedPageTable::shrink(Bucket& bucket) noexcept {
  if (bucket.capacity < bucket.count + 2 * kStep) return;
  const std::uint32_t capacity = (bucket.count + kStep - 1) / kStep * kStep;
  if (capacity == 0) {
    std::free(bucket.refs);
    bucket.refs = nullptr;
  } else if (void* const memory = std::realloc(bucket.refs, capacity * sizeof(std::uint64_t))) {
    bucket.refs = static_cast<std::uint64_t*>(memory);
  } else {
    return;
  }
  budget_.discharge((bucket.capacity - capacity) * sizeof(std::uint64_t));
  capacity_ -= bucket.capacity - capacity;
  bucket.capacity = capacity;
}

bool HashedPageTable::insert(std::uint64_t number, PageRef ref) {
  Bucket& bucket = buckets_[bucket_of(hash_of(number))];
  if (!reserve(bucket, bucket.count + 1)) return false;
  bucket.refs[bucket.count++] = ref.bits();
  ++count_;
  if (count_ > kMostAverage * buckets_.size()) split();
  return true;
}

void HashedPageTable::erase(std::uint64_t* entry) {
  const PageRef ref(*entry);
  Bucket& bucket = buckets_[bucket_of(hash_of(number_of_(ref)))];
  *entry = bucket.refs[--bucket.count];
  --count_;
  shrink(bucket);
  if (buckets_.size() > 1 && count_ < kLeastAverage * buckets_.size()) merge();
}

// One bucket becomes two. If there is no memory for that, buckets stay longer for a while.
void HashedPageTable::split() {
  const std::size_t from = buckets_.size() - half_;
  try {
    // Counted first, so that the new bucket can reserve room for all entries that move to it.
    std::uint32_t moving = 0;
    for (std::uint32_t i = 0; i < buckets_[from].count; ++i)
      if ((hash_of(number_of_(PageRef(buckets_[from].refs[i]))) & half_) != 0) ++moving;
    Bucket made;
    if (buckets_.size() == buckets_.capacity()) buckets_.reserve(buckets_.size() + buckets_.size() / 2 + 8);
    if (moving != 0 && !reserve(made, moving)) return;
    Bucket& split = buckets_[from];
    std::uint32_t kept = 0;
    for (std::uint32_t i = 0; i < split.count; ++i) {
      const std::uint64_t bits = split.refs[i];
      if ((hash_of(number_of_(PageRef(bits))) & half_) != 0)
        made.refs[made.count++] = bits;
      else
        split.refs[kept++] = bits;
    }
    split.count = kept;
    shrink(split);
    buckets_.push_back(made);
  } catch (const std::bad_alloc&) {
    return;
  }
  if (buckets_.size() == 2 * half_) half_ *= 2;
}

// Merges the last bucket into the one that it was split from.
void HashedPageTable::merge() noexcept {
  const std::size_t half = buckets_.size() == half_ ? half_ / 2 : half_;
  Bucket last = buckets_.back();
  Bucket& into = buckets_[buckets_.size() - 1 - half];
  try {
    if (!reserve(into, into.count + last.count)) return;
  } catch (const std::bad_alloc&) {
    return;
  }
  std::copy_n(last.refs, last.count, into.refs + into.count);
  into.count += last.count;
  std::free(last.refs);
  budget_.discharge(last.capacity * sizeof(std::uint64_t));
  capacity_ -= last.capacity;
  buckets_.pop_back();
  half_ = half;
  if (buckets_.capacity() < 4 * buckets_.size() + 64) return;
  try {
    std::vector<Bucket> fewer(buckets_);
    buckets_.swap(fewer);
  } catch (const std::bad_alloc&) {
    return;  // a later merge will do it
  }
}

std::uint64_t HashedPageTable::bookkeeping_bytes() const {
  // Includes what the allocator adds to each piece.
  return capacity_ * sizeof(std::uint64_t) + buckets_.size() * 16 + buckets_.capacity() * sizeof(Bucket);
}

}  // namespace hemstitch
