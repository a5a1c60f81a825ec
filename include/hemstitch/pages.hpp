// Hemstitch's pages: batches of memory pages compressed with LZ4, and a store that keeps any number of them
// compressed in memory.
//
//   hemstitch::PageStore store({.budget_bytes = 4'000'000'000});
//   store.put(7, page);                       // 4096 bytes; compressed now
//   if (store.get(7, page)) { ... }           // false: there is no page 7
//
// A page has 4096 bytes, or another power of two up to 65536. It is kept in the first of these forms that
// applies: same-filled (the 8 bytes that it repeats), compressed (an LZ4 block smaller than the page; LZ4
// block format, docs/formats/lz4.md), raw.
//
// Errors are thrown as hemstitch::Error before anything changes. If memory runs out, it may be std::bad_alloc
// instead. A page that cannot be restored is an error of that page alone. The C interface is pages.h.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "hemstitch/choice.hpp"
#include "hemstitch/hemstitch.hpp"

struct CUstream_st;

namespace hemstitch {

inline constexpr std::uint32_t kMinPageBytes = 4096;
inline constexpr std::uint32_t kMaxPageBytes = 65536;

enum class PageKind : std::uint32_t { kCompressed = 1, kRaw = 2, kSameFilled = 3 };

// The result for one page of a batch, and where the page is kept.
struct KeptPage {
  std::uint64_t at = 0;     // offset in the batch's kept bytes
  std::uint32_t bytes = 0;  // kept size
  PageKind kind = PageKind::kRaw;
  Status status = Status::kOk;  // restoring: kCorruptBlock for a damaged page
};

struct PageBatchOptions {
  std::uint32_t page_bytes = kMinPageBytes;
  int level = kMinLevel;
  // "cpu": liblz4 on all cores. "cuda", "webgpu": that device. "auto": for each batch, the one that is
  // predicted to finish first (hemstitch/choice.hpp). A named backend that cannot be used is an error. Pages
  // on which a device fails later are done by the processor.
  std::string backend = "auto";
  std::string device = {};  // as CompressOptions::device
  unsigned threads = 0;     // 0: one per core
};

// The rule of founding document 004: use a GPU from this many pages on. It decides nothing here;
// docs/pages.md says what does.
inline constexpr std::uint64_t kPagesOfRule = 2000;

struct PageBatchReport {
  std::string backend;  // the backend that worked on the batch
  std::uint64_t pages = 0, same_filled = 0, compressed = 0, raw = 0;
  std::uint64_t damaged = 0;     // restoring: pages whose status is an error
  std::uint64_t kept_bytes = 0;  // of all kinds together
  // Pages on which a device failed and which the processor did, and the first reason.
  std::uint64_t fallback_pages = 0;
  std::string fallback_reason;
  bool rule_takes_device = false;  // what kPagesOfRule would choose, for comparison
  // Duration of the whole call.
  double seconds = 0;
  // Parts of it. The first three are by the device's clock: the time in which at least one piece of the batch
  // was in that stage. The last is the processor's: the time in which no stage of a device ran.
  double upload_seconds = 0, kernel_seconds = 0, download_seconds = 0, cpu_seconds = 0;
};

// Memory from and to which batches are copied directly. It is pinned if the backend of the batch that made it
// has pinned memory.
class HEMSTITCH_API PageBuffer {
 public:
  ~PageBuffer();
  PageBuffer(PageBuffer&&) noexcept;
  PageBuffer& operator=(PageBuffer&&) noexcept;

  std::span<std::byte> bytes() const;

 private:
  friend class PageBatch;
  struct Impl;
  explicit PageBuffer(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

// Compresses and restores many pages per call. Any number of threads may use it at once. It has no thread of its own, so a
// child of fork() may destroy one that its parent made; to work, the child makes its own.
class HEMSTITCH_API PageBatch {
 public:
  // Throws kInvalidOption, kUnknownBackend, kDeviceUnavailable.
  explicit PageBatch(const PageBatchOptions& options = {});
  ~PageBatch();
  PageBatch(PageBatch&&) noexcept;
  PageBatch& operator=(PageBatch&&) noexcept;

  const PageBatchOptions& options() const;

  // Throws std::bad_alloc, or an Error of the device family.
  PageBuffer make_buffer(std::size_t bytes) const;

  // pages     each page_bytes long, any alignment
  // kept      room for as many bytes as the pages have; gaps between kept pages have no meaning
  // entries   one per page: where the page is in `kept`, in any order
  // Throws kInvalidOption if the counts differ or a page is NULL, kOutputTooSmall if there is too little
  // room.
  PageBatchReport compress(std::span<const std::byte* const> pages, std::span<std::byte> kept,
                           std::span<KeptPage> entries) const;

  // kept      any content
  // entries   from compress(), or anything else. The call writes their statuses: kCorruptBlock if no page of
  //           that size can be kept so, or if the bytes do not restore to a whole page. Such a page is
  //           unspecified
  PageBatchReport restore(std::span<const std::byte> kept, std::span<KeptPage> entries,
                          std::span<std::byte* const> pages) const;

  // The backend that would work on this many pages now.
  std::string backend_for(Direction direction, std::uint64_t pages) const;

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

struct PageStoreOptions {
  // 0: page numbers are any 64-bit numbers, in a hash table. Otherwise page numbers are below page_count, at
  // most 2^32, in a table of 8 bytes per number; only the parts of the table that hold pages use memory.
  std::uint64_t page_count = 0;
  // Limits all memory of the store: pages, tables and free slots. 0: no limit. One that could not hold a single page
  // that does not compress is an error (with pages of 4096 bytes, some 130 KB are needed).
  std::uint64_t budget_bytes = 0;
  // Stores the XXH32 of each page, in four bytes. get() verifies it.
  bool checksums = false;
  // Keeps pages out of swap (mlock(2)). The system may refuse this: kOutOfMemory.
  bool lock_memory = false;
  // Takes the whole budget from the system at once, in huge pages where the system has them; the budget must be
  // set. put() then never waits for memory, and no memory goes back to the system.
  bool prefault = false;
  PageBatchOptions batch = {};  // page_bytes, level, and the backend of put_many() and get_many()
};

struct PageStoreStatistics {
  std::uint64_t pages = 0, same_filled = 0, compressed = 0, raw = 0;
  std::uint64_t kept_bytes = 0;         // of the pages as kept: LZ4 blocks, raw pages, 8-byte words
  std::uint64_t slot_bytes = 0;         // memory taken from the system for slots
  std::uint64_t used_slot_bytes = 0;    // part of that: kept pages with their numbers and checksums
  std::uint64_t bookkeeping_bytes = 0;  // tables, and numbers and checksums in slots
  std::uint64_t memory_bytes = 0;       // what the budget limits: slots and tables
  std::uint64_t puts = 0, gets = 0, misses = 0, discards = 0;  // counted in pages
  std::uint64_t refused = 0;                                   // puts for which the budget had no room
  std::uint64_t moved_pages = 0;                               // by compaction
  std::uint64_t failed_pages = 0;                              // gets of damaged pages
  std::uint64_t fallback_pages = 0;  // pages of batches that the processor did because a device failed

  // The unused fraction of slot_bytes, 0 to 1.
  HEMSTITCH_API double fragmentation() const;
};

// Pages by number, compressed in memory.
//
// Thread safety: any number of threads may use it at once. A page is put, replaced and read as a whole: a
// read during a replacement returns the old page or the new one. A read waits for other threads only while
// one page is copied, never while pages are compressed, moved or written to a file. A page that is replaced
// in a full store waits until the reads of it that have begun are done. get() takes no memory from the heap.
//
// fork(): a child may destroy a store that its parent made, whatever the parent's threads were doing. That waits for
// nothing, and the memory of the pages goes back to the system. The child may call nothing else of that store: it does
// not have the thread below, and other threads may have left locks behind. It may make stores of its own.
//
// Memory. Pages are in slots of one or two hundred sizes. A thread of the store moves pages together when
// slots become free, and returns memory to the system. Within a second of the last change, the free slots of
// each size are less than one slab (at most 128 KB for pages of 4096 bytes).
class HEMSTITCH_API PageStore {
 public:
  // Throws kInvalidOption, kUnknownBackend, kDeviceUnavailable, kOutOfMemory.
  explicit PageStore(const PageStoreOptions& options = {});
  ~PageStore();
  PageStore(PageStore&&) noexcept;
  PageStore& operator=(PageStore&&) noexcept;

  const PageStoreOptions& options() const;
  std::uint32_t page_bytes() const { return options().batch.page_bytes; }

  // The page has page_bytes() bytes, any alignment. Throws kInvalidOption for a wrong size or number,
  // kMemoryLimit if the budget has no room, kOutOfMemory if the system has no memory. After an error the old
  // page is unchanged.
  void put(std::uint64_t number, std::span<const std::byte> page);

  // Returns false if there is no such page; then nothing is written. Throws kInvalidOption as put() does, and
  // kBlockChecksumMismatch or kCorruptBlock if the page was damaged in memory. In that case `page` is
  // unspecified, and the page stays in the store.
  bool get(std::uint64_t number, std::span<std::byte> page) const;
  bool contains(std::uint64_t number) const;
  // Sets `page` to the size and kind of the kept page. Returns false if there is no such page.
  bool describe(std::uint64_t number, KeptPage& page) const;

  // Returns true if there was such a page.
  bool discard(std::uint64_t number);
  // Discards the pages with the `count` numbers from `first` on, and returns how many there were. An end past
  // the last number means the last number.
  std::uint64_t discard_range(std::uint64_t first, std::uint64_t count);

  // Puts many pages: numbers[i] is the number of the page at pages + i * page_bytes(). They are compressed as
  // one batch (PageBatch). If a number occurs twice, the later page is kept.
  //
  // Errors of put() are thrown for the whole call before anything changes, except kMemoryLimit and
  // kOutOfMemory, which may come in the middle. statuses[i] then tells whether page i was put; the other
  // pages are unchanged. If `statuses` is empty, the call throws the error of the first failed page.
  void put_many(std::span<const std::uint64_t> numbers, std::span<const std::byte> pages,
                std::span<Status> statuses = {});
  // Gets many pages, restored as one batch. A missing page is filled with zeros, like an unwritten part of a
  // disk. Returns how many pages there were. Statuses as for put_many(), with the errors of get().
  std::uint64_t get_many(std::span<const std::uint64_t> numbers, std::span<std::byte> pages,
                         std::span<Status> statuses = {}) const;

  // The same with pages in the memory of a CUDA device, one after the other from d_pages on. They are
  // compressed on the device and come down compressed, or go up compressed and are restored there. The device
  // is the one that owns the memory, whatever options().batch.device says.
  //
  // The device does the work if options().batch.backend is "cuda", or if it is "auto" and there are at least
  // 256 pages. Otherwise, and if the device fails (PageStoreStatistics::fallback_pages), whole pages are
  // copied and the processor does the work.
  //
  // The call first waits for the work on `stream`, and is complete when it returns. It also throws
  // kInvalidOption if the memory is not a device's, kDeviceUnavailable if there is no device, and an Error of
  // the device family if pages cannot even be copied.
  void put_many_from_device(std::span<const std::uint64_t> numbers, const void* d_pages,
                            std::span<Status> statuses = {}, CUstream_st* stream = nullptr);
  std::uint64_t get_many_to_device(std::span<const std::uint64_t> numbers, void* d_pages,
                                   std::span<Status> statuses = {}, CUstream_st* stream = nullptr) const;

  // Of the `count` numbers from `first` on, those that have pages: for extents of disks.
  std::vector<std::uint64_t> numbers_in(std::uint64_t first, std::uint64_t count) const;
  // All numbers in ascending order.
  std::vector<std::uint64_t> numbers() const;

  PageStoreStatistics statistics() const;
  // Moves pages together now, on this thread. Returns when no further slab can be freed.
  void compact();

  // Writes all pages, in ascending order, to a file that any LZ4 tool can restore: a skippable frame that
  // lists the pages, and one frame with their bytes. The file gets its name when it is complete and on the
  // disk. Other threads may put and get meanwhile. Throws kWriteFailed, and kInputChanged if a page is
  // discarded meanwhile.
  void save(const std::string& path) const;
  // Puts the pages of such a file; they replace pages with the same numbers. Before anything is put, its
  // header is checked against the file's size, the page numbers and the budget. Throws kReadFailed,
  // kUnknownFormat, kUnsupportedVersion, kCorruptHeader, kInvalidOption for another page size, kMemoryLimit,
  // and the errors of restore() for damaged content. In that last case, the pages before the damage have been
  // put.
  void load(const std::string& path);

  struct Impl;

 private:
  std::unique_ptr<Impl> impl_;
};

}  // namespace hemstitch
