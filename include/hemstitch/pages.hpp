// Hemstitch's pages: batches of memory pages compressed by LZ4, and a store that keeps any number of them compressed in memory.
//
//   hemstitch::PageStore store({.budget_bytes = 4'000'000'000});
//   store.put(7, page);                       // 4096 bytes, compressed as they come
//   if (store.get(7, page)) { ... }           // false: there is no page 7
//
// A page has 4096 bytes, or another power of two up to 65536. It is kept as the first of these that applies: same-filled, the 8 bytes
// that it repeats; compressed, an LZ4 block (LZ4 block format, docs/formats/lz4.md) with fewer bytes than the page; raw.
//
// Errors are thrown as hemstitch::Error before anything changes; where memory runs out, it may be std::bad_alloc instead. A page
// that cannot be restored is an error of that page alone. For C there is pages.h.
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

// What became of a page of a batch, and where it stands.
struct KeptPage {
  std::uint64_t at = 0;  // of the batch's kept bytes
  std::uint32_t bytes = 0;
  PageKind kind = PageKind::kRaw;
  Status status = Status::kOk;  // restoring: kCorruptBlock for a page that is none
};

struct PageBatchOptions {
  std::uint32_t page_bytes = kMinPageBytes;
  int level = kMinLevel;
  // "cpu": liblz4 on all cores; "cuda", "webgpu": on that device; "auto": what is predicted to be done first with each batch
  // (hemstitch/choice.hpp). One that is named and cannot be used is an error; what fails on a device later is done by the processor.
  std::string backend = "auto";
  std::string device = {};  // as CompressOptions::device
  unsigned threads = 0;     // 0: one a core
};

// Founding document 004's rule: a GPU from so many pages on. It decides nothing; docs/pages.md has what does.
inline constexpr std::uint64_t kPagesOfRule = 2000;

struct PageBatchReport {
  std::string backend;  // that worked on the batch
  std::uint64_t pages = 0, same_filled = 0, compressed = 0, raw = 0;
  std::uint64_t damaged = 0;     // restoring: with a status
  std::uint64_t kept_bytes = 0;  // of all kinds
  // Pages that a device failed on, which the processor did, and the first reason.
  std::uint64_t fallback_pages = 0;
  std::string fallback_reason;
  bool rule_takes_device = false;  // kPagesOfRule, for comparison
  // All of the call; then of that, by the device's clock, what was covered by at least one of its pieces, and the processor's part: what
  // no stage of a device covers.
  double seconds = 0;
  double upload_seconds = 0, kernel_seconds = 0, download_seconds = 0, cpu_seconds = 0;
};

// Memory that batches are copied from and to without a detour: pinned, where the backend of the batch that made it has such memory.
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

// Compresses and restores pages, many a call. Any number of threads may call it at once.
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
  // kept      room for as many bytes as the pages have; gaps between kept pages hold nothing
  // entries   one a page: where it came to stand in `kept`, in any order
  // Throws kInvalidOption for different counts or a page that is NULL, kOutputTooSmall for too little room.
  PageBatchReport compress(std::span<const std::byte* const> pages, std::span<std::byte> kept,
                           std::span<KeptPage> entries) const;

  // kept      of any content
  // entries   what compress() gave, or anything: what no page of that size is kept as gets kCorruptBlock, as do bytes that restore to
  //           no whole page; the status is written, and a page that has one is unspecified
  PageBatchReport restore(std::span<const std::byte> kept, std::span<KeptPage> entries,
                          std::span<std::byte* const> pages) const;

  // Whether so many pages would go to a device if they came now.
  bool takes_device(Direction direction, std::uint64_t pages) const;

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

struct PageStoreOptions {
  // Numbers are below it, at most 2^32, and are kept in a table of 8 bytes each, of which those parts are touched that hold pages. 0:
  // any number of 64 bits, in a hash table.
  std::uint64_t page_count = 0;
  // Of all that the store takes: pages, tables, slots that are free. 0: none.
  std::uint64_t budget_bytes = 0;
  // Four bytes a page: XXH32 of its content, verified by each get().
  bool checksums = false;
  // Keeps pages out of swap (mlock(2)), which the system may refuse: kOutOfMemory.
  bool lock_memory = false;
  // Takes the budget, which has to be given, from the system at once; then put() waits for no memory, and none goes back.
  bool prefault = false;
  PageBatchOptions batch = {};  // page_bytes, level, and where put_many() and get_many() work
};

struct PageStoreStatistics {
  std::uint64_t pages = 0, same_filled = 0, compressed = 0, raw = 0;
  std::uint64_t kept_bytes = 0;         // of the pages as kept: LZ4 blocks, raw pages, words
  std::uint64_t slot_bytes = 0;         // taken from the system for slots
  std::uint64_t used_slot_bytes = 0;    // of those, the pages as kept, with their numbers and checksums
  std::uint64_t bookkeeping_bytes = 0;  // tables, and numbers and checksums in slots
  std::uint64_t memory_bytes = 0;       // what the budget counts: slots and tables
  std::uint64_t puts = 0, gets = 0, misses = 0, discards = 0;  // pages
  std::uint64_t refused = 0;                                   // puts for which the budget had no room
  std::uint64_t moved_pages = 0;                               // by compaction
  std::uint64_t failed_pages = 0;                              // gets of pages that were damaged
  std::uint64_t fallback_pages = 0;  // of batches, done by the processor since a device failed

  // The part of slot_bytes that is not used.
  HEMSTITCH_API double fragmentation() const;
};

// Pages by number, compressed in memory.
//
// Thread safety: any number of threads may call it at once. A page is put, replaced and read as a whole: who reads it while it is
// replaced gets the one or the other. A reader waits for other threads while one page is copied, never while pages are compressed,
// moved together, or written to a file; and get() takes no memory from the heap.
//
// Memory. Pages stand in slots of a hundred sizes or two. A thread of the store's moves pages together once slots are free, and gives
// memory back to the system: within a second of the last change, free slots are less than a slab (at most 128 KB for pages of 4096 bytes) of
// each size.
class HEMSTITCH_API PageStore {
 public:
  // Throws kInvalidOption, kUnknownBackend, kDeviceUnavailable, kOutOfMemory.
  explicit PageStore(const PageStoreOptions& options = {});
  ~PageStore();
  PageStore(PageStore&&) noexcept;
  PageStore& operator=(PageStore&&) noexcept;

  const PageStoreOptions& options() const;
  std::uint32_t page_bytes() const { return options().batch.page_bytes; }

  // The page has page_bytes() bytes, any alignment. Throws kInvalidOption for a wrong size or number; kMemoryLimit where the budget
  // has no room, kOutOfMemory where the system has none: then what was there is there still.
  void put(std::uint64_t number, std::span<const std::byte> page);

  // False: there is no such page, and nothing is written. Throws kInvalidOption as put(); kBlockChecksumMismatch or kCorruptBlock for a
  // page that was damaged in memory: `page` is unspecified then, and the page stays.
  bool get(std::uint64_t number, std::span<std::byte> page) const;
  bool contains(std::uint64_t number) const;
  // The bytes that a page is kept in, and how; nothing for none.
  bool describe(std::uint64_t number, KeptPage& page) const;

  // True: there was one.
  bool discard(std::uint64_t number);
  // Every page from `first` on, `count` numbers; returns how many there were. An end past the last number means the last one.
  std::uint64_t discard_range(std::uint64_t first, std::uint64_t count);

  // Many pages: numbers[i] is the page at pages + i * page_bytes(). They are compressed and restored as one batch (PageBatch); of a number
  // that is given twice the later page counts.
  //
  // Throws as put() for the whole call before anything changes, but kMemoryLimit and kOutOfMemory may come in the middle: statuses[i] tells
  // which pages were put, and the others are as they were. `statuses` may be empty; then the call throws what the first failed page has.
  void put_many(std::span<const std::uint64_t> numbers, std::span<const std::byte> pages,
                std::span<Status> statuses = {});
  // A page that there is not is filled with zeros, as a disk's that nobody wrote. Returns how many there were. Statuses as for put_many(), with the
  // errors of get().
  std::uint64_t get_many(std::span<const std::uint64_t> numbers, std::span<std::byte> pages,
                         std::span<Status> statuses = {}) const;

  // The same with pages in memory of a CUDA device, one behind the other from d_pages on: they are compressed there and come down compressed, or
  // go up compressed and are restored there. The device is the one that the memory is of, whatever options().batch.device says. It works on
  // them where options().batch.backend is "cuda", or "auto" and there are 256 pages or more; else the processor does, and copies pages whole, as it
  // does where the device fails (PageStoreStatistics::fallback_pages). The call waits for what stands on `stream` first, and is done when it
  // returns. Throws also kInvalidOption for memory that is no device's, kDeviceUnavailable where there is no device, and an Error of the device family
  // where not even a copy of pages can be made.
  void put_many_from_device(std::span<const std::uint64_t> numbers, const void* d_pages,
                            std::span<Status> statuses = {}, CUstream_st* stream = nullptr);
  std::uint64_t get_many_to_device(std::span<const std::uint64_t> numbers, void* d_pages,
                                   std::span<Status> statuses = {}, CUstream_st* stream = nullptr) const;

  // From number `first` on, those of `count` numbers that have pages: for extents of disks.
  std::vector<std::uint64_t> numbers_in(std::uint64_t first, std::uint64_t count) const;
  // All numbers, ascending.
  std::vector<std::uint64_t> numbers() const;

  PageStoreStatistics statistics() const;
  // Moves pages together now, in this thread; returns when no slab more can be given back.
  void compact();

  // Writes all pages to a file that any LZ4 tool restores, in ascending order: a skippable frame that says which pages they are, and
  // one frame with their bytes. The file appears under its name when it is complete and on the disk. Throws kWriteFailed, and kInputChanged where
  // a page is discarded meanwhile; other threads may put and get.
  void save(const std::string& path) const;
  // Puts the pages of such a file, in place of what has their numbers. Its header is held against the file's size, the numbers and
  // the budget before anything is put. Throws kReadFailed, kUnknownFormat, kUnsupportedVersion, kCorruptHeader, kInvalidOption for another page
  // size, kMemoryLimit, and as restore() for damaged content: pages before the damage are there then.
  void load(const std::string& path);

  struct Impl;

 private:
  std::unique_ptr<Impl> impl_;
};

}  // namespace hemstitch
