// Tables from page numbers to places. For numbers below a bound, the table is flat. For any numbers, it is a
// hash table that grows and shrinks one bucket at a time (W. Litwin, "Linear hashing: a new tool for file and
// table addressing", VLDB 1980), so that no caller waits for a rebuild of the whole table.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <vector>

#include "pages/memory_budget.hpp"
#include "pages/page_ref.hpp"

namespace hemstitch {

// Mixes the bits of a number well (the finalizer of MurmurHash3, by A. Appleby, in the public domain).
constexpr std::uint64_t hash_of(std::uint64_t number) {
  number = (number ^ number >> 33) * 0xFF51AFD7ED558CCDULL;
  number = (number ^ number >> 33) * 0xC4CEB9FE1A85EC53ULL;
  return number ^ number >> 33;
}

// Any thread may read entries at any time; only one thread at a time may write an entry.
class FlatPageTable {
  static constexpr std::uint64_t kPartPages = 512;  // one page of the system

 public:
  static constexpr std::uint64_t kMostPages = std::uint64_t{1} << 32;  // a slot has 4 bytes for a number
  // What the budget must have for an entry.
  static constexpr std::uint64_t kPartBytes = kPartPages * sizeof(std::uint64_t);

  // Throws kOutOfMemory.
  FlatPageTable(std::uint64_t page_count, MemoryBudget& budget);
  ~FlatPageTable();
  FlatPageTable(const FlatPageTable&) = delete;
  FlatPageTable& operator=(const FlatPageTable&) = delete;

  PageRef of(std::uint64_t number) const {
    return PageRef(std::atomic_ref(entries_[number]).load(std::memory_order_relaxed));
  }
  // Returns false if the budget has no room for the part of the table that holds this entry.
  bool make_room(std::uint64_t number);
  void set(std::uint64_t number, PageRef ref) {
    std::atomic_ref(entries_[number]).store(ref.bits(), std::memory_order_relaxed);
  }
  // Whether the part around a number was ever written; if not, `next` is the first number after that part.
  bool may_have(std::uint64_t number, std::uint64_t& next) const;
  std::uint64_t page_count() const { return page_count_; }
  std::uint64_t bookkeeping_bytes() const {
    return touched_.load(std::memory_order_relaxed) * kPartPages * sizeof(std::uint64_t) + parts_;
  }

 private:
  std::uint64_t page_count_, parts_;
  MemoryBudget& budget_;
  std::uint64_t* entries_ = nullptr;
  std::unique_ptr<std::atomic<bool>[]> has_part_;
  std::atomic<std::uint64_t> touched_ = 0;
};

// One thread at a time. An entry's page number is in its slot; the constructor's argument reads it.
class HashedPageTable {
  static constexpr std::uint32_t kStep = 4;  // entries by which a bucket grows

 public:
  // What the budget must have for an entry.
  static constexpr std::uint64_t kLeastBytes = kStep * sizeof(std::uint64_t);

  using NumberOf = std::function<std::uint64_t(PageRef)>;

  HashedPageTable(MemoryBudget& budget, NumberOf number_of);
  ~HashedPageTable();
  HashedPageTable(const HashedPageTable&) = delete;
  HashedPageTable& operator=(const HashedPageTable&) = delete;

  static std::uint64_t tag_of(std::uint64_t hash) { return hash >> (64 - PageRef::kTagBits); }

  // Null if there is none. Valid until the next call that changes the table.
  std::uint64_t* find(std::uint64_t number);
  // For a number that is not in the table. Returns false if the budget has no room; throws std::bad_alloc.
  // The table is unchanged then.
  bool insert(std::uint64_t number, PageRef ref);
  void erase(std::uint64_t* entry);

  std::uint64_t count() const { return count_; }
  std::uint64_t bookkeeping_bytes() const;
  template <class Take>
  void each(const Take& take) const {
    for (const Bucket& bucket : buckets_)
      for (std::uint32_t i = 0; i < bucket.count; ++i) take(PageRef(bucket.refs[i]));
  }

 private:
  struct Bucket {
    std::uint64_t* refs = nullptr;
    std::uint32_t count = 0, capacity = 0;
  };
  static constexpr std::uint64_t kMostAverage = 48, kLeastAverage = 24;

  std::size_t bucket_of(std::uint64_t hash) const {
    const std::size_t at = hash & (2 * half_ - 1);
    return at < buckets_.size() ? at : hash & (half_ - 1);
  }
  bool reserve(Bucket& bucket, std::uint32_t capacity);
  void shrink(Bucket& bucket) noexcept;
  void split();
  void merge() noexcept;

  MemoryBudget& budget_;
  NumberOf number_of_;
  std::vector<Bucket> buckets_;  // half_ to 2 * half_ of them
  std::size_t half_ = 1;
  std::uint64_t count_ = 0, capacity_ = 0;
};

}  // namespace hemstitch
