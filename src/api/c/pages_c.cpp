// Implements pages.h with pages.hpp.
#include <algorithm>
#include <string>
#include <vector>

#include "core/c_call.hpp"
#include "hemstitch/pages.h"
#include "hemstitch/pages.hpp"

struct hemstitch_page_batch {
  hemstitch::PageBatch batch;
};

struct hemstitch_page_store {
  hemstitch::PageStore store;
};

namespace hemstitch {
namespace {

PageBatchOptions options_of(const hemstitch_page_batch_options& wanted) {
  PageBatchOptions options;
  if (wanted.page_bytes != 0) options.page_bytes = wanted.page_bytes;
  if (wanted.level != 0) options.level = wanted.level;
  if (wanted.backend != nullptr) options.backend = wanted.backend;
  if (wanted.device != nullptr) options.device = wanted.device;
  options.threads = wanted.threads;
  return options;
}

void tell(const PageBatchReport& report, hemstitch_page_batch_report* told) {
  if (told == nullptr) return;
  fill_sized(told,
             {.size = 0,
              .pages = report.pages,
              .same_filled = report.same_filled,
              .compressed = report.compressed,
              .raw = report.raw,
              .damaged = report.damaged,
              .kept_bytes = report.kept_bytes,
              .fallback_pages = report.fallback_pages,
              .on_device = report.backend != "cpu",
              .rule_takes_device = report.rule_takes_device,
              .seconds = report.seconds,
              .upload_seconds = report.upload_seconds,
              .kernel_seconds = report.kernel_seconds,
              .download_seconds = report.download_seconds,
              .cpu_seconds = report.cpu_seconds},
             "report");
}

hemstitch_kept_page told_page(const KeptPage& page) {
  return {page.at, page.bytes, static_cast<std::int32_t>(page.kind),
          static_cast<hemstitch_status>(page.status)};
}

std::span<const std::byte> bytes_at(const void* data, std::size_t bytes) {
  return {static_cast<const std::byte*>(data), bytes};
}
std::span<std::byte> bytes_at(void* data, std::size_t bytes) {
  return {static_cast<std::byte*>(data), bytes};
}

std::size_t bytes_of(const PageStore& store, std::size_t count) {
  if (count > SIZE_MAX / store.page_bytes())
    throw Error(Status::kInvalidOption, "count is more pages than memory can hold");
  return count * store.page_bytes();
}

void copy_statuses(const std::vector<Status>& from, hemstitch_status* to) {
  std::ranges::transform(from, to, [](Status status) { return static_cast<hemstitch_status>(status); });
}

}  // namespace
}  // namespace hemstitch

using namespace hemstitch;

extern "C" {

hemstitch_status hemstitch_page_batch_new(const hemstitch_page_batch_options* options,
                                          hemstitch_page_batch** batch) {
  return guarded([&] {
    needed(batch, "batch");
    *batch = new hemstitch_page_batch{PageBatch(options_of(sized(options, "options")))};
  });
}

void hemstitch_page_batch_free(hemstitch_page_batch* batch) { delete batch; }

hemstitch_status hemstitch_page_batch_compress(hemstitch_page_batch* batch, const void* const* pages,
                                               size_t count, void* kept, size_t kept_capacity,
                                               hemstitch_kept_page* entries,
                                               hemstitch_page_batch_report* report) {
  return guarded([&] {
    needed(batch, "batch");
    need_for(count, pages, "pages");
    need_for(count, kept, "kept");
    need_for(count, entries, "entries");
    if (report != nullptr) sized_bytes(report, "report");
    std::vector<KeptPage> made(count);
    std::vector<const std::byte*> inputs(count);
    std::transform(pages, pages + count, inputs.begin(),
                   [](const void* page) { return static_cast<const std::byte*>(page); });
    tell(batch->batch.compress(inputs, bytes_at(kept, kept_capacity), made), report);
    std::ranges::transform(made, entries, told_page);
  });
}

hemstitch_status hemstitch_page_batch_restore(hemstitch_page_batch* batch, const void* kept,
                                              size_t kept_bytes, hemstitch_kept_page* entries,
                                              void* const* pages, size_t count,
                                              hemstitch_page_batch_report* report) {
  return guarded([&] {
    needed(batch, "batch");
    need_for(count, pages, "pages");
    need_for(kept_bytes, kept, "kept");
    need_for(count, entries, "entries");
    if (report != nullptr) sized_bytes(report, "report");
    std::vector<KeptPage> read(count);
    std::transform(entries, entries + count, read.begin(), [](const hemstitch_kept_page& entry) {
      return KeptPage{.at = entry.at, .bytes = entry.bytes, .kind = static_cast<PageKind>(entry.kind)};
    });
    std::vector<std::byte*> outputs(count);
    std::transform(pages, pages + count, outputs.begin(),
                   [](void* page) { return static_cast<std::byte*>(page); });
    tell(batch->batch.restore(bytes_at(kept, kept_bytes), read, outputs), report);
    std::ranges::transform(read, entries, told_page);
  });
}

hemstitch_status hemstitch_page_store_new(const hemstitch_page_store_options* options,
                                          hemstitch_page_store** store) {
  return guarded([&] {
    needed(store, "store");
    const hemstitch_page_store_options wanted = sized(options, "options");
    *store = new hemstitch_page_store{PageStore({.page_count = wanted.page_count,
                                                 .budget_bytes = wanted.budget_bytes,
                                                 .checksums = wanted.checksums != 0,
                                                 .lock_memory = wanted.lock_memory != 0,
                                                 .prefault = wanted.prefault != 0,
                                                 .batch = options_of(sized(wanted.batch, "options.batch"))})};
  });
}

void hemstitch_page_store_free(hemstitch_page_store* store) { delete store; }

hemstitch_status hemstitch_page_store_put(hemstitch_page_store* store, uint64_t number, const void* page,
                                          size_t page_bytes) {
  return guarded(
      [&] { needed(store, "store")->store.put(number, bytes_at(needed(page, "page"), page_bytes)); });
}

hemstitch_status hemstitch_page_store_get(hemstitch_page_store* store, uint64_t number, void* page,
                                          size_t page_bytes, int32_t* found) {
  return guarded([&] {
    needed(found, "found");
    *found = needed(store, "store")->store.get(number, bytes_at(needed(page, "page"), page_bytes));
  });
}

hemstitch_status hemstitch_page_store_discard(hemstitch_page_store* store, uint64_t number, int32_t* found) {
  return guarded([&] {
    const bool was_there = needed(store, "store")->store.discard(number);
    if (found != nullptr) *found = was_there;
  });
}

hemstitch_status hemstitch_page_store_discard_range(hemstitch_page_store* store, uint64_t first,
                                                    uint64_t count, uint64_t* discarded) {
  return guarded([&] {
    const std::uint64_t pages = needed(store, "store")->store.discard_range(first, count);
    if (discarded != nullptr) *discarded = pages;
  });
}

hemstitch_status hemstitch_page_store_put_many(hemstitch_page_store* store, const uint64_t* numbers,
                                               size_t count, const void* pages, hemstitch_status* statuses) {
  return guarded([&] {
    needed(store, "store");
    need_for(count, numbers, "numbers");
    need_for(count, pages, "pages");
    std::vector<Status> made(statuses != nullptr ? count : 0);
    store->store.put_many({numbers, count}, bytes_at(pages, bytes_of(store->store, count)), made);
    copy_statuses(made, statuses);
  });
}

hemstitch_status hemstitch_page_store_get_many(hemstitch_page_store* store, const uint64_t* numbers,
                                               size_t count, void* pages, hemstitch_status* statuses) {
  return guarded([&] {
    needed(store, "store");
    need_for(count, numbers, "numbers");
    need_for(count, pages, "pages");
    std::vector<Status> made(statuses != nullptr ? count : 0);
    store->store.get_many({numbers, count}, bytes_at(pages, bytes_of(store->store, count)), made);
    copy_statuses(made, statuses);
  });
}

hemstitch_status hemstitch_page_store_put_many_from_device(hemstitch_page_store* store,
                                                           const uint64_t* numbers, size_t count,
                                                           const void* d_pages, hemstitch_status* statuses,
                                                           CUstream_st* stream) {
  return guarded([&] {
    needed(store, "store");
    need_for(count, numbers, "numbers");
    need_for(count, d_pages, "d_pages");
    std::vector<Status> made(statuses != nullptr ? count : 0);
    store->store.put_many_from_device({numbers, count}, d_pages, made, stream);
    copy_statuses(made, statuses);
  });
}

hemstitch_status hemstitch_page_store_get_many_to_device(hemstitch_page_store* store, const uint64_t* numbers,
                                                         size_t count, void* d_pages,
                                                         hemstitch_status* statuses, CUstream_st* stream) {
  return guarded([&] {
    needed(store, "store");
    need_for(count, numbers, "numbers");
    need_for(count, d_pages, "d_pages");
    std::vector<Status> made(statuses != nullptr ? count : 0);
    store->store.get_many_to_device({numbers, count}, d_pages, made, stream);
    copy_statuses(made, statuses);
  });
}

hemstitch_status hemstitch_page_store_statistics_of(hemstitch_page_store* store,
                                                    hemstitch_page_store_statistics* statistics) {
  return guarded([&] {
    sized_bytes(needed(statistics, "statistics"), "statistics");
    const PageStoreStatistics of = needed(store, "store")->store.statistics();
    fill_sized(statistics,
               {.size = 0,
                .pages = of.pages,
                .same_filled = of.same_filled,
                .compressed = of.compressed,
                .raw = of.raw,
                .kept_bytes = of.kept_bytes,
                .slot_bytes = of.slot_bytes,
                .used_slot_bytes = of.used_slot_bytes,
                .bookkeeping_bytes = of.bookkeeping_bytes,
                .memory_bytes = of.memory_bytes,
                .puts = of.puts,
                .gets = of.gets,
                .misses = of.misses,
                .discards = of.discards,
                .refused = of.refused,
                .moved_pages = of.moved_pages,
                .failed_pages = of.failed_pages,
                .fallback_pages = of.fallback_pages},
               "statistics");
  });
}

hemstitch_status hemstitch_page_store_save(hemstitch_page_store* store, const char* path) {
  return guarded([&] { needed(store, "store")->store.save(needed(path, "path")); });
}

hemstitch_status hemstitch_page_store_load(hemstitch_page_store* store, const char* path) {
  return guarded([&] { needed(store, "store")->store.load(needed(path, "path")); });
}

}  // extern "C"
