// Many pages in the host's memory per call: put_many() and get_many().
//
//   processor     threads take runs of pages, and put or get each page by itself
//   CUDA device   puts go as batches (PageBatch); gets as page_store_device.cpp says
//   other device  both go as batches
#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <cstring>
#include <memory>
#include <string>
#include <vector>

#include "core/device_failures.hpp"
#include "core/options.hpp"
#include "core/parallel.hpp"
#include "pages/page_calls.hpp"
#include "pages/page_counts.hpp"
#include "pages/page_device.hpp"
#include "pages/page_store.hpp"

namespace hemstitch {
namespace {

// From this many pages on, threads share the work of a call.
constexpr std::size_t kParallelPages = 32;
// So many pages are compressed or restored as one batch, which bounds the memory of a call.
constexpr std::size_t kBatchPages = 16384;

void check_room(const PageStore::Impl& impl, std::span<const std::uint64_t> numbers, std::size_t bytes) {
  if (bytes / impl.page_bytes() != numbers.size() || bytes % impl.page_bytes() != 0)
    throw Error(Status::kInvalidOption, fmt::format("{} pages of {} bytes do not have {} bytes",
                                                    numbers.size(), impl.page_bytes(), bytes));
}

template <class Body>
void for_pages(const PageStore::Impl& impl, std::size_t count, const Body& body) {
  for_pieces(count < kParallelPages ? 1 : resolve_threads(impl.options.batch.threads), count, kRunPages,
             body);
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
  if (impl.batch.backend_for(Direction::kCompress, numbers.size()) == "cpu") {
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
  statuses.throw_first(impl);
}

std::uint64_t PageStore::get_many(std::span<const std::uint64_t> numbers, std::span<std::byte> pages,
                                  std::span<Status> wanted_statuses) const {
  Impl& impl = *impl_;
  check_room(impl, numbers, pages.size());
  check_many(impl, numbers, wanted_statuses.size());
  const std::uint32_t bytes = impl.page_bytes();
  const auto page = [&](std::size_t i) { return pages.subspan(i * bytes, bytes); };
  const std::string backend = impl.batch.backend_for(Direction::kRestore, numbers.size());
  std::unique_ptr<PageDevice> device;
  try {
    if (backend == "cuda") device = page_device(impl.options.batch.device);
  } catch (const Error& error) {
    // The device does not start. PageBatch does without it.
    if (!is_device_failure(error)) throw;
  }
  if (device) return impl.get_to(*device, numbers, pages.data(), PageMemory::kHost, wanted_statuses);
  std::atomic<std::uint64_t> present = 0;
  Statuses statuses(numbers, wanted_statuses);
  if (backend == "cpu") {
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
      // Kept pages are copied out of their slots, in the order in which threads come to them.
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
  statuses.throw_first(impl);
  return present;
}

}  // namespace hemstitch
