// Many pages a call: put_many(), get_many(), and the same with pages in memory of a device.
//
//   processor   threads take runs of pages, each put or got by itself
//   device      pages of the host's memory go as batches (PageBatch); those of a device's go by lanes (page_device.hpp): threads take pieces of
//               some megabytes, copy what is kept out of slots into staging memory or the other way, and wait for the device, which works on the
//               pieces of other threads meanwhile
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cstring>
#include <functional>
#include <mutex>
#include <vector>

#include "core/options.hpp"
#include "core/parallel.hpp"
#include "pages/page_counts.hpp"
#include "pages/page_device.hpp"
#include "pages/page_store.hpp"

namespace hemstitch {
namespace {

// From so many pages on the threads of the machine share a call's work.
constexpr std::size_t kParallelPages = 32;
// And so many of the host's are compressed or restored as one batch, which bounds the memory of a call.
constexpr std::size_t kBatchPages = 16384;
// Of pages in a device's memory: what a lane has at once at most; and at least, since what it asks of the driver takes as long for less.
constexpr std::size_t kLaneBytes = std::size_t{4} << 20, kLeastLaneBytes = std::size_t{1} << 20;

void check_many(const PageStore::Impl& impl, std::span<const std::uint64_t> numbers, std::size_t statuses) {
  if (statuses != 0 && statuses != numbers.size())
    throw Error(Status::kInvalidOption,
                fmt::format("{} pages have {} statuses; give one for each", numbers.size(), statuses));
  for (const std::uint64_t number : numbers) impl.check_number(number);
}

void check_room(const PageStore::Impl& impl, std::span<const std::uint64_t> numbers, std::size_t bytes) {
  if (bytes / impl.page_bytes() != numbers.size() || bytes % impl.page_bytes() != 0)
    throw Error(Status::kInvalidOption, fmt::format("{} pages of {} bytes do not have {} bytes",
                                                    numbers.size(), impl.page_bytes(), bytes));
}

// Where statuses go, from any thread: into the caller's, or only the first that is none of success is kept, to be thrown. Takes no memory.
class Statuses {
 public:
  Statuses(std::span<const std::uint64_t> numbers, std::span<Status> wanted)
      : numbers_(numbers), wanted_(wanted), first_failed_(numbers.size()) {}

  void tell(std::size_t i, Status status) {
    if (!wanted_.empty()) {
      wanted_[i] = status;
    } else if (status != Status::kOk) {
      const std::scoped_lock lock(mutex_);
      if (i >= first_failed_) return;
      first_failed_ = i;
      first_status_ = status;
    }
  }
  // Once all is told.
  void throw_first() const {
    if (first_failed_ < numbers_.size()) fail_page(first_status_, numbers_[first_failed_]);
  }

 private:
  std::span<const std::uint64_t> numbers_;
  std::span<Status> wanted_;
  std::mutex mutex_;  // guards what follows
  std::size_t first_failed_;
  Status first_status_ = Status::kOk;
};

// Pages whose number comes again later in a call, which is the one that is to stay, whichever thread is first. Empty where numbers ascend.
std::vector<bool> superseded_pages(std::span<const std::uint64_t> numbers) {
  if (std::ranges::adjacent_find(numbers, std::ranges::greater_equal()) == numbers.end()) return {};
  std::vector<std::size_t> order(numbers.size());
  for (std::size_t i = 0; i < order.size(); ++i) order[i] = i;
  std::ranges::stable_sort(order, {}, [&](std::size_t i) { return numbers[i]; });
  std::vector<bool> superseded(numbers.size());
  for (std::size_t place = 0; place + 1 < order.size(); ++place)
    superseded[order[place]] = numbers[order[place]] == numbers[order[place + 1]];
  return superseded;
}

template <class Body>
void for_pages(const PageStore::Impl& impl, std::size_t count, const Body& body) {
  const unsigned threads = resolve_threads(impl.options.batch.threads);
  if (count < kParallelPages || threads == 1)
    for (std::size_t i = 0; i < count; ++i) body(i);
  else
    run_on_threads(threads, [&] { run_in_parallel(count, kRunPages, body); });
}

// body(first, count) for pieces of a call, one for each thread at least where there are pages enough.
template <class Body>
void for_pieces(const PageStore::Impl& impl, std::size_t count, const Body& body) {
  const unsigned threads = resolve_threads(impl.options.batch.threads);
  const std::size_t piece = std::clamp((count + threads - 1) / threads, kLeastLaneBytes / impl.page_bytes(),
                                       kLaneBytes / impl.page_bytes());
  const std::size_t pieces = (count + piece - 1) / piece;
  const auto one = [&](std::size_t i) { body(i * piece, std::min(piece, count - i * piece)); };
  if (threads == 1 || pieces <= 1)
    for (std::size_t i = 0; i < pieces; ++i) one(i);
  else
    run_on_threads(std::min(threads, static_cast<unsigned>(pieces)),
                   [&] { run_in_parallel(pieces, 1, one); });
}

bool is_superseded(const std::vector<bool>& superseded, std::size_t i) {
  return !superseded.empty() && superseded[i];
}

// Whether a device is to work on pages in its own memory.
bool device_works(const PageStore::Impl& impl, std::size_t count) {
  const std::string& backend = impl.options.batch.backend;
  return backend == "cuda" || (backend == "auto" && count >= kLeastDevicePages);
}

// False where the device failed, and the processor has to do it.
bool tried(const std::function<void()>& work) {
  try {
    work();
    return true;
  } catch (const Error& error) {
    if (status_family(error.status()) != StatusFamily::kDevice) throw;
    return false;
  }
}

}  // namespace

void PageStore::put_many(std::span<const std::uint64_t> numbers, std::span<const std::byte> pages,
                         std::span<Status> wanted_statuses) {
  Impl& impl = *impl_;
  check_room(impl, numbers, pages.size());
  check_many(impl, numbers, wanted_statuses.size());
  const std::uint32_t bytes = impl.page_bytes();
  const auto page = [&](std::size_t i) { return pages.subspan(i * bytes, bytes); };
  Statuses statuses(numbers, wanted_statuses);
  const std::vector<bool> superseded = superseded_pages(numbers);
  if (!impl.batch.takes_device(Direction::kCompress, numbers.size())) {
    for_pages(impl, numbers.size(), [&](std::size_t i) {
      statuses.tell(i, is_superseded(superseded, i) ? Status::kOk : impl.put_one(numbers[i], page(i)));
    });
  } else {
    PageBuffer kept = impl.batch.make_buffer(std::min(kBatchPages, numbers.size()) * bytes);
    for (std::size_t first = 0; first < numbers.size(); first += kBatchPages) {
      const std::size_t count = std::min(kBatchPages, numbers.size() - first);
      std::vector<const std::byte*> inputs(count);
      std::vector<KeptPage> entries(count);
      for (std::size_t k = 0; k < count; ++k) inputs[k] = page(first + k).data();
      const PageBatchReport report = impl.batch.compress(inputs, kept.bytes(), entries);
      impl.fallback_pages.fetch_add(report.fallback_pages, std::memory_order_relaxed);
      for_pages(impl, count, [&](std::size_t k) {
        const std::size_t i = first + k;
        statuses.tell(i,
                      is_superseded(superseded, i)
                          ? Status::kOk
                          : impl.store(numbers[i], {entries[k].kind, entries[k].bytes},
                                       kept.bytes().data() + entries[k].at, impl.checksum_of_page(page(i))));
      });
    }
  }
  statuses.throw_first();
}

std::uint64_t PageStore::get_many(std::span<const std::uint64_t> numbers, std::span<std::byte> pages,
                                  std::span<Status> wanted_statuses) const {
  Impl& impl = *impl_;
  check_room(impl, numbers, pages.size());
  check_many(impl, numbers, wanted_statuses.size());
  const std::uint32_t bytes = impl.page_bytes();
  const auto page = [&](std::size_t i) { return pages.subspan(i * bytes, bytes); };
  std::atomic<std::uint64_t> present = 0;
  Statuses statuses(numbers, wanted_statuses);
  if (!impl.batch.takes_device(Direction::kRestore, numbers.size())) {
    for (const std::uint64_t number : numbers.first(std::min<std::size_t>(Impl::kPagesAhead, numbers.size())))
      impl.prefetch(number);
    for_pages(impl, numbers.size(), [&](std::size_t i) {
      const std::size_t next = i + Impl::kPagesAhead;
      const std::uint64_t ahead = next < numbers.size() ? numbers[next] : numbers[i] + Impl::kPagesAhead;
      bool found = false;
      const Status status = impl.get_one(numbers[i], page(i), found, Impl::Counted::kYes, ahead);
      if (found)
        present.fetch_add(1, std::memory_order_relaxed);
      else
        std::memset(page(i).data(), 0, bytes);
      statuses.tell(i, status);
    });
  } else {
    PageBuffer kept = impl.batch.make_buffer(std::min(kBatchPages, numbers.size()) * bytes);
    for (std::size_t first = 0; first < numbers.size(); first += kBatchPages) {
      const std::size_t count = std::min(kBatchPages, numbers.size() - first);
      // Copied out of the slots, one behind the other, as threads come to them.
      std::vector<KeptPage> entries(count);
      std::vector<std::byte*> outputs(count);
      std::vector<std::uint32_t> checksums(count);
      std::atomic<std::uint64_t> used = 0;
      for_pages(impl, count, [&](std::size_t k) {
        outputs[k] = page(first + k).data();
        const bool found = impl.read_kept(numbers[first + k], Impl::Counted::kYes,
                                          [&](PageForm form, const std::byte* data, std::uint32_t checksum) {
                                            const std::uint64_t at =
                                                used.fetch_add(form.bytes, std::memory_order_relaxed);
                                            std::memcpy(kept.bytes().data() + at, data, form.bytes);
                                            entries[k] = {.at = at, .bytes = form.bytes, .kind = form.kind};
                                            checksums[k] = checksum;
                                          });
        if (found) present.fetch_add(1, std::memory_order_relaxed);
      });
      const PageBatchReport report = impl.batch.restore(kept.bytes(), entries, outputs);
      impl.fallback_pages.fetch_add(report.fallback_pages, std::memory_order_relaxed);
      for_pages(impl, count, [&](std::size_t k) {
        Status status = entries[k].status;
        if (status == Status::kOk && impl.checksum_of_page(page(first + k)) != checksums[k])
          status = Status::kBlockChecksumMismatch;
        if (status != Status::kOk) impl.note_damage(numbers[first + k]);
        statuses.tell(first + k, status);
      });
    }
  }
  statuses.throw_first();
  return present;
}

void PageStore::Impl::put_from(PageDevice& device, std::span<const std::uint64_t> numbers,
                               const std::byte* d_pages, std::span<Status> wanted_statuses) {
  check_many(*this, numbers, wanted_statuses.size());
  const std::uint32_t bytes = page_bytes();
  Statuses statuses(numbers, wanted_statuses);
  const std::vector<bool> superseded = superseded_pages(numbers);
  const bool on_device = device_works(*this, numbers.size());
  for_pieces(*this, numbers.size(), [&](std::size_t first, std::size_t count) {
    const std::byte* const d_piece = d_pages + first * bytes;
    std::vector<StagedBlock> blocks(count);
    std::vector<std::uint32_t> checksums(options.checksums ? count : 0);
    std::vector<std::byte> pages;
    std::shared_ptr<PageLane> lane;
    std::span<const std::byte> staged;
    const bool compressed = on_device && tried([&] {
                              lane = device.lane();
                              staged = lane->compress(d_piece, bytes, options.batch.level, blocks, checksums);
                            });
    pages.resize(compressed ? bytes : count * bytes);
    if (!compressed) {
      device.copy_from(pages, d_piece);
      if (on_device) fallback_pages.fetch_add(count, std::memory_order_relaxed);
    }
    const auto put_block = [&](std::size_t k) {
      const std::span<const std::byte> block = staged.subspan(blocks[k].at, blocks[k].bytes);
      PageForm form{block.size() == bytes ? PageKind::kRaw : PageKind::kCompressed, blocks[k].bytes};
      const std::byte* data = block.data();
      if (form.kind == PageKind::kCompressed && codec.is_same_filled_block(block, pages)) {
        form = {PageKind::kSameFilled, kPageWordBytes};
        data = pages.data();
      }
      return store(numbers[first + k], form, data, options.checksums ? checksums[k] : 0);
    };
    for (std::size_t k = 0; k < count; ++k) {
      const std::size_t i = first + k;
      if (is_superseded(superseded, i))
        statuses.tell(i, Status::kOk);
      else if (compressed)
        statuses.tell(i, put_block(k));
      else
        statuses.tell(i, put_one(numbers[i], std::span(pages).subspan(k * bytes, bytes)));
    }
  });
  statuses.throw_first();
}

std::uint64_t PageStore::Impl::get_to(PageDevice& device, std::span<const std::uint64_t> numbers,
                                      std::byte* d_pages, std::span<Status> wanted_statuses) {
  check_many(*this, numbers, wanted_statuses.size());
  const std::uint32_t bytes = page_bytes();
  std::atomic<std::uint64_t> present = 0;
  Statuses statuses(numbers, wanted_statuses);
  const bool on_device = device_works(*this, numbers.size());
  for_pieces(*this, numbers.size(), [&](std::size_t first, std::size_t count) {
    std::byte* const d_piece = d_pages + first * bytes;
    std::vector<Status> piece_statuses(count);
    std::vector<bool> counted(count);
    const auto restore_there = [&] {
      // Two parts, each on a lane: while the device restores the first, the second is copied out of its slots.
      struct Part {
        std::size_t begin, count;
        std::shared_ptr<PageLane> lane;
        std::vector<std::uint32_t> wanted;  // checksums
      };
      std::array<Part, 2> parts{{{0, count / 2, {}, {}}, {count / 2, count - count / 2, {}, {}}}};
      for (Part& part : parts) {
        if (part.count == 0) continue;
        part.lane = device.lane();
        part.wanted.resize(options.checksums ? part.count : 0);
        std::byte* const staging = part.lane->staging(part.count * most_block_bytes(bytes)).data();
        std::vector<StagedBlock> blocks(part.count);
        std::uint32_t used = 0;
        for (std::size_t k = 0; k < part.count; ++k) {
          const bool found = read_kept(
              numbers[first + part.begin + k], Counted::kYes,
              [&](PageForm form, const std::byte* data, std::uint32_t checksum) {
                blocks[k] = {used, write_as_block(form.kind, {data, form.bytes}, bytes, staging + used)};
                if (!part.wanted.empty()) part.wanted[k] = checksum;
              });
          used += blocks[k].bytes;
          counted[part.begin + k] = true;
          if (found) present.fetch_add(1, std::memory_order_relaxed);
        }
        part.lane->begin_restore(blocks, bytes, d_piece + part.begin * bytes, options.checksums);
      }
      for (Part& part : parts) {
        if (part.count == 0) continue;
        const auto part_statuses = std::span(piece_statuses).subspan(part.begin, part.count);
        std::vector<std::uint32_t> checksums(part.wanted.size());
        part.lane->end_restore(part_statuses, checksums);
        for (std::size_t k = 0; k < part.wanted.size(); ++k)
          if (part_statuses[k] == Status::kOk && part.wanted[k] != checksums[k])
            part_statuses[k] = Status::kBlockChecksumMismatch;
      }
      for (std::size_t k = 0; k < count; ++k)
        if (piece_statuses[k] != Status::kOk) note_damage(numbers[first + k]);
    };
    if (!on_device || !tried(restore_there)) {
      std::vector<std::byte> pages(count * bytes);
      for (std::size_t k = 0; k < count; ++k) {
        bool found = false;
        piece_statuses[k] = get_one(numbers[first + k], std::span(pages).subspan(k * bytes, bytes), found,
                                    counted[k] ? Counted::kNo : Counted::kYes);
        if (found && !counted[k]) present.fetch_add(1, std::memory_order_relaxed);
      }
      device.copy_to(d_piece, pages);
      if (on_device) fallback_pages.fetch_add(count, std::memory_order_relaxed);
    }
    for (std::size_t k = 0; k < count; ++k) statuses.tell(first + k, piece_statuses[k]);
  });
  statuses.throw_first();
  return present;
}

namespace {

// Without pages there is no memory to ask about.
std::unique_ptr<PageDevice> device_of_pages(std::span<const std::uint64_t> numbers, const void* d_pages,
                                            CUstream_st* stream) {
  if (numbers.empty()) return nullptr;
  if (d_pages == nullptr) throw Error(Status::kInvalidOption, "d_pages is NULL");
  return page_device_of(d_pages, stream);
}

}  // namespace

void PageStore::put_many_from_device(std::span<const std::uint64_t> numbers, const void* d_pages,
                                     std::span<Status> statuses, CUstream_st* stream) {
  check_many(*impl_, numbers, statuses.size());
  if (const auto device = device_of_pages(numbers, d_pages, stream))
    impl_->put_from(*device, numbers, static_cast<const std::byte*>(d_pages), statuses);
}

std::uint64_t PageStore::get_many_to_device(std::span<const std::uint64_t> numbers, void* d_pages,
                                            std::span<Status> statuses, CUstream_st* stream) const {
  check_many(*impl_, numbers, statuses.size());
  const auto device = device_of_pages(numbers, d_pages, stream);
  return device ? impl_->get_to(*device, numbers, static_cast<std::byte*>(d_pages), statuses) : 0;
}

}  // namespace hemstitch
