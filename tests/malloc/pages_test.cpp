// Pages in memory when malloc fails: each call must report it, keep the pages that it had, and the next call,
// which has memory again, must work.
#include "hemstitch/pages.h"

#include <gtest/gtest.h>

#include <array>
#include <string_view>

#include "shapes.hpp"
#include "trials.hpp"

namespace hemstitch::testing {
namespace {

// How a trial ends.
constexpr int kRight = 0, kOutOfMemory = 3, kWrongBytes = 4, kWrongError = 5, kStaysBroken = 6;
constexpr std::size_t kPages = 40, kBytes = 4096;

bool tells_of_memory(hemstitch_status status) {
  const std::string_view message = hemstitch_last_error_message();
  return status == HEMSTITCH_OUT_OF_MEMORY || message.find("pthread_create") != message.npos ||
         message.find("unavailable") != message.npos;
}

template <class Run>
void expect_right_or_out_of_memory(const Run& run) {
  try_every_allocation(
      [](Failing) { start_tbb(); },
      [&] {
        const int first = run();
        if (first != kOutOfMemory) return first;
        fail_no_allocation();
        return run() == kRight ? kOutOfMemory : kStaysBroken;
      },
      [](const Ended& ended, bool may_have_failed) {
        ASSERT_TRUE(ended.status == kRight || (may_have_failed && ended.status == kOutOfMemory))
            << ended.text();
      });
}

TEST(MallocPages, Store) {
  const Bytes pages = wordy_bytes(kPages * kBytes);
  for (const std::uint64_t page_count : {std::uint64_t{0}, std::uint64_t{100}})
    expect_right_or_out_of_memory([&] {
      hemstitch_page_batch_options batch{};
      batch.size = sizeof batch;
      batch.backend = "cpu";
      batch.threads = 1;
      hemstitch_page_store_options options{};
      options.size = sizeof options;
      options.page_count = page_count;
      options.batch = &batch;
      hemstitch_page_store* store = nullptr;
      const hemstitch_status made = hemstitch_page_store_new(&options, &store);
      if (made != HEMSTITCH_OK) return tells_of_memory(made) ? kOutOfMemory : kWrongError;
      int ended = kRight;
      std::array<bool, kPages> is_put{};
      for (std::size_t i = 0; i < kPages; ++i) {
        const hemstitch_status status = hemstitch_page_store_put(store, i, pages.data() + i * kBytes, kBytes);
        is_put[i] = status == HEMSTITCH_OK;
        if (!is_put[i]) ended = tells_of_memory(status) ? kOutOfMemory : kWrongError;
      }
      std::array<std::byte, kBytes> page;
      for (std::size_t i = 0; i < kPages; ++i) {
        std::int32_t found = 0;
        const hemstitch_status status = hemstitch_page_store_get(store, i, page.data(), kBytes, &found);
        if (status != HEMSTITCH_OK)
          ended = tells_of_memory(status) ? kOutOfMemory : kWrongError;
        else if ((found != 0) != is_put[i] ||
                 (found != 0 && !std::equal(page.begin(), page.end(),
                                            pages.begin() + static_cast<std::ptrdiff_t>(i * kBytes))))
          ended = kWrongBytes;
        if (ended == kWrongBytes) break;
      }
      hemstitch_page_store_free(store);
      return ended;
    });
}

TEST(MallocPages, Batch) {
  const Bytes pages = wordy_bytes(kPages * kBytes);
  Bytes kept(pages.size()), read(pages.size());
  expect_right_or_out_of_memory([&] {
    hemstitch_page_batch_options options{};
    options.size = sizeof options;
    options.backend = "cpu";
    options.threads = 2;
    hemstitch_page_batch* batch = nullptr;
    hemstitch_status status = hemstitch_page_batch_new(&options, &batch);
    if (status != HEMSTITCH_OK) return tells_of_memory(status) ? kOutOfMemory : kWrongError;
    std::array<const void*, kPages> inputs;
    std::array<void*, kPages> outputs;
    std::array<hemstitch_kept_page, kPages> entries;
    for (std::size_t i = 0; i < kPages; ++i) {
      inputs[i] = pages.data() + i * kBytes;
      outputs[i] = read.data() + i * kBytes;
    }
    status = hemstitch_page_batch_compress(batch, inputs.data(), kPages, kept.data(), kept.size(),
                                           entries.data(), nullptr);
    if (status == HEMSTITCH_OK)
      status = hemstitch_page_batch_restore(batch, kept.data(), kept.size(), entries.data(), outputs.data(),
                                            kPages, nullptr);
    hemstitch_page_batch_free(batch);
    if (status != HEMSTITCH_OK) return tells_of_memory(status) ? kOutOfMemory : kWrongError;
    return read == pages ? kRight : kWrongBytes;
  });
}

}  // namespace
}  // namespace hemstitch::testing
