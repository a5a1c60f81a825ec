// The inside of a PageStore: shards of numbers, the slots that they share, and the thread that compacts.
//
// A page's slot holds its number, its checksum if requested, and the kept bytes. The table of the number's
// shard holds the place of the slot. Under a shard's mutex, a page is looked up, and its bytes are copied if
// they must be, nothing else, so others wait no longer than that. Pages are compressed on the thread's own
// stack. A get restores a page straight from its slot, without the mutex: the slot is in the shard's list of
// slots that are being read (slot_readers.hpp).
//
// Order of locks: a shard's, then that of a slot size, then that of the units. Compaction holds the lock of a
// slot size only while it takes or frees slots. It leaves alone a slot that is in no table, because it is
// being filled or was just replaced.
//
// A child of fork() has the memory of its parent's stores as the parent's threads left it, in the middle of whatever
// they did, and none of the threads. So it may only free a store, and that neither locks nor follows anything that a
// thread may have been changing.
#pragma once

#include <unistd.h>

#include <array>
#include <atomic>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <thread>
#include <vector>

#include "hemstitch/pages.hpp"
#include "pages/memory_budget.hpp"
#include "pages/page_codec.hpp"
#include "pages/page_table.hpp"
#include "pages/slot_memory.hpp"
#include "pages/slot_readers.hpp"

namespace hemstitch {

class PageDevice;
enum class PageMemory;

// Hidden, because the members of an exported class are exported with it.
struct [[gnu::visibility("hidden")]] PageStore::Impl : SlotMemory::Mover {
  explicit Impl(const PageStoreOptions& wanted);
  ~Impl() override;
  // In place of the destructor in a child of fork(): gives back the memory of pages, and leaves the rest.
  void unmap_in_child();

  std::uint32_t page_bytes() const { return options.batch.page_bytes; }
  void check(std::uint64_t number, std::size_t bytes) const;
  // Throws the error of a page.
  [[noreturn]] void fail(Status status, std::uint64_t number) const;
  void check_number(std::uint64_t number) const;

  // Whether a get counts in the statistics. It does not if it finishes what another one began.
  enum class Counted : bool { kNo, kYes };

  // How many pages ahead memory is asked to bring a page near. One is too late if a page takes little work, as
  // one that is mostly zeros does.
  static constexpr std::uint64_t kPagesAhead = 2;

  // Stores a page in its kept form; `data` has form.bytes.
  Status store(std::uint64_t number, const PageForm& form, const std::byte* data, std::uint32_t checksum);
  template <std::uint32_t kBytes>
  Status put(std::uint64_t number, std::span<const std::byte> page);
  Status put_one(std::uint64_t number, std::span<const std::byte> page);
  // Returns kOk and sets `found`, or returns what is wrong with the page. A page that does not exist leaves
  // `page` unchanged. `ahead` is the page that is probably read kPagesAhead pages later.
  template <std::uint32_t kBytes>
  Status get(std::uint64_t number, std::span<std::byte> page, bool& found, Counted counted,
             std::uint64_t ahead);
  Status get_one(std::uint64_t number, std::span<std::byte> page, bool& found, Counted counted,
                 std::uint64_t ahead);
  // For who reads in ascending order, as far as is known.
  Status get_one(std::uint64_t number, std::span<std::byte> page, bool& found,
                 Counted counted = Counted::kYes) {
    return get_one(number, page, found, counted, number + kPagesAhead);
  }
  // Calls take(form, bytes, checksum) with the kept page, under the shard's mutex; for a page that does not
  // exist, with a word of zeros. Returns whether it exists.
  template <class Take>
  bool read_kept(std::uint64_t number, Counted counted, const Take& take);
  void note_damage(std::uint64_t number);
  // Implement put_many_from_device(), get_many_to_device(), and get_many() if a CUDA device restores the pages.
  void put_from(PageDevice & device, std::span<const std::uint64_t> numbers, const std::byte* d_pages,
                std::span<Status> statuses);
  std::uint64_t get_to(PageDevice & device, std::span<const std::uint64_t> numbers, std::byte * pages,
                       PageMemory memory, std::span<Status> statuses);
  bool discard(std::uint64_t number);
  std::uint32_t checksum_of_page(std::span<const std::byte> page) const;

  bool contains(std::uint64_t number);
  std::vector<std::uint64_t> numbers_in(std::uint64_t first, std::uint64_t count);

  bool move(SlotPlace from) override;
  std::uint64_t compact(double least_free_share);
  bool squeeze();
  void run_compaction();
  // Frees a slot that is in no table and that nobody reads, and tells the compaction.
  void give_back(SlotPlace slot);
  void note_change();

  struct alignas(64) Shard {
    std::mutex mutex;  // guards what follows
    SlotReaders readers;
    std::optional<HashedPageTable> table;
    PageStoreStatistics counts;  // counts of pages and calls
  };
  static constexpr std::size_t kShards = 64;

  static std::size_t shard_number(std::uint64_t number) { return hash_of(number >> 3) % kShards; }
  Shard& shard_of(std::uint64_t number) { return shards[shard_number(number)]; }
  // With the shard's mutex held.
  PageRef find(Shard & shard, std::uint64_t number);
  void replace(Shard & shard, std::uint64_t number, PageRef ref);
  void remove(Shard & shard, std::uint64_t number);
  static void count(Shard & shard, PageRef ref, std::int64_t by);

  // Read and write a slot: its number, its checksum, and its page's bytes.
  std::uint64_t number_in(SlotPlace slot) const;
  void write_slot(SlotPlace slot, std::uint64_t number, std::uint32_t checksum, const std::byte* data,
                  std::uint32_t bytes);
  std::uint32_t header_bytes() const { return number_bytes + (options.checksums ? 4 : 0); }
  std::byte* data_of(SlotPlace slot) const { return slots->at(slot) + header_bytes(); }
  std::uint32_t checksum_in(SlotPlace slot) const;
  // Asks memory to bring a page's kept bytes near, whatever the number. Does nothing in a store of any numbers.
  void prefetch(std::uint64_t number) const;

  PageStoreOptions options;
  std::uint32_t number_bytes;
  MemoryBudget budget;
  PageBatch batch;
  PageCodec codec;
  std::optional<SlotMemory> slots;
  std::optional<FlatPageTable> flat;
  std::array<Shard, kShards> shards;
  std::uint32_t zeros_checksum = 0;  // of the page that stands for missing pages
  std::atomic<std::uint64_t> moved_pages = 0, fallback_pages = 0;

  std::mutex compaction_mutex;  // one compaction at a time
  std::mutex wake_mutex;        // guards `ends`
  std::condition_variable wake;
  bool ends = false;
  std::atomic<std::uint64_t> changes = 0;
  std::atomic<bool> sleeps = false;  // the thread waits for a change, however long that takes
  std::thread compaction;
  const pid_t made_by = getpid();  // the process that has the thread
};

template <class Take>
bool PageStore::Impl::read_kept(std::uint64_t number, Counted counted, const Take& take) {
  Shard& shard = shard_of(number);
  {
    const std::scoped_lock lock(shard.mutex);
    const PageRef ref = find(shard, number);
    if (counted == Counted::kYes) ++(ref.is_page() ? shard.counts.gets : shard.counts.misses);
    if (ref.is_page()) {
      take(PageForm{ref.kind(), ref.bytes()}, data_of(ref.slot()), checksum_in(ref.slot()));
      prefetch(number + kPagesAhead);
      return true;
    }
  }
  constexpr std::array<std::byte, kPageWordBytes> kZeros{};
  take(PageForm{PageKind::kSameFilled, kPageWordBytes}, kZeros.data(), zeros_checksum);
  return false;
}

}  // namespace hemstitch
