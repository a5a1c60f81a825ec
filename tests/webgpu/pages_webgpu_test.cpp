// Batches of pages with the backend webgpu: liblz4 must read them, the twins must keep the same, and a
// damaged page must not affect others.
#include <gtest/gtest.h>

#include <algorithm>
#include <utility>

#include "hemstitch/pages.hpp"
#include "mixed_pages.hpp"
#include "page_round_trip.hpp"
#include "webgpu_test.hpp"

namespace hemstitch::testing {
namespace {

constexpr int kLevel = 3;

class WebgpuPages : public WebgpuTest {
 protected:
  static PageBatch batch_of(std::uint32_t page_bytes, int level = kLevel) {
    return PageBatch({.page_bytes = page_bytes,
                      .level = level,
                      .backend = "webgpu",
                      .device = device_options().adapter,
                      .threads = 2});
  }
};

TEST_F(WebgpuPages, RoundTrips) {
  // Levels 1 and 2 use another finder for pages of 4 KB.
  for (const auto& [page_bytes, level] : {std::pair{4096U, 1}, {4096U, 3}, {65536U, 3}}) {
    const PageBatchReport report =
        expect_round_trip(batch_of(page_bytes, level), mixed_pages(page_bytes, page_bytes == 4096 ? 64 : 1));
    EXPECT_EQ(report.backend, "webgpu");
    EXPECT_EQ(report.fallback_pages, 0U) << report.fallback_reason;
    EXPECT_GT(report.same_filled, 1U);
    EXPECT_GT(report.compressed, 1U);
    EXPECT_GT(report.raw, 0U);
  }
}

TEST_F(WebgpuPages, AreKeptAsTheTwinsKeepThem) {
  const Bytes pages = mixed_pages(4096, 64);
  const auto kept_by = [&](const PageBatch& batch) {
    Bytes kept(pages.size());
    std::vector<KeptPage> entries(pages.size() / 4096);
    batch.compress(pointers_to(pages, 4096), kept, entries);
    std::vector<Bytes> each;
    for (const KeptPage& entry : entries)
      each.emplace_back(kept.begin() + static_cast<std::ptrdiff_t>(entry.at),
                        kept.begin() + static_cast<std::ptrdiff_t>(entry.at + entry.bytes));
    return each;
  };
  for (const int level : {1, 3})
    EXPECT_EQ(kept_by(batch_of(4096, level)),
              kept_by(PageBatch({.level = level, .backend = "reference", .threads = 1})));
}

TEST_F(WebgpuPages, ADamagedPageIsItsOwnError) {
  const PageBatch batch = batch_of(4096);
  const Bytes pages = mixed_pages(4096, 64);
  Bytes kept(pages.size()), restored(pages.size());
  std::vector<KeptPage> entries(pages.size() / 4096);
  batch.compress(pointers_to(pages, 4096), kept, entries);
  const auto damaged = static_cast<std::size_t>(
      std::ranges::find(entries, PageKind::kCompressed, &KeptPage::kind) - entries.begin());
  ASSERT_LT(damaged, entries.size());
  --entries[damaged].bytes;
  EXPECT_EQ(batch.restore(kept, entries, pointers_into(restored, 4096)).damaged, 1U);
  for (std::size_t i = 0; i < entries.size(); ++i) {
    EXPECT_EQ(entries[i].status, i == damaged ? Status::kCorruptBlock : Status::kOk);
    if (i == damaged) continue;
    EXPECT_EQ(std::memcmp(restored.data() + i * 4096, pages.data() + i * 4096, 4096), 0) << "page " << i;
  }
}

}  // namespace
}  // namespace hemstitch::testing
