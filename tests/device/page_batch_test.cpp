// Batches of pages and the store on a CUDA device: what comes back must be what was put, for every page size,
// from pinned and other memory.
#include <lz4.h>

#include <algorithm>
#include <cstring>
#include <vector>

#include "cuda_test.hpp"
#include "gpu/cuda/device_buffer.hpp"
#include "hemstitch/pages.hpp"
#include "mixed_pages.hpp"
#include "shapes.hpp"

namespace hemstitch {
namespace {

using namespace testing;

class PageBatchOnCuda : public EngineTest {};

void expect_round_trip(const PageBatch& batch, std::span<const std::byte> pages, std::span<std::byte> kept,
                       std::span<std::byte> back) {
  const std::uint32_t page_bytes = batch.options().page_bytes;
  std::vector<const std::byte*> inputs;
  std::vector<std::byte*> outputs;
  for (std::size_t at = 0; at < pages.size(); at += page_bytes) {
    inputs.push_back(pages.data() + at);
    outputs.push_back(back.data() + at);
  }
  std::vector<KeptPage> entries(inputs.size());
  const PageBatchReport report = batch.compress(inputs, kept, entries);
  EXPECT_EQ(report.backend, "cuda");
  EXPECT_EQ(report.fallback_pages, 0U) << report.fallback_reason;
  EXPECT_GT(report.kernel_seconds, 0);
  EXPECT_GT(report.raw, 0U);
  EXPECT_GT(report.compressed, 0U);
  EXPECT_GT(report.same_filled, 0U);
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    if (entries[i].kind != PageKind::kCompressed) continue;
    Bytes restored(page_bytes);
    ASSERT_EQ(LZ4_decompress_safe(reinterpret_cast<const char*>(kept.data() + entries[i].at),
                                  reinterpret_cast<char*>(restored.data()),
                                  static_cast<int>(entries[i].bytes), static_cast<int>(page_bytes)),
              static_cast<int>(page_bytes));
    ASSERT_EQ(std::memcmp(restored.data(), inputs[i], page_bytes), 0) << "page " << i;
  }
  const PageBatchReport restored = batch.restore(kept, entries, outputs);
  EXPECT_EQ(restored.damaged, 0U);
  EXPECT_EQ(restored.fallback_pages, 0U) << restored.fallback_reason;
  EXPECT_EQ(std::memcmp(pages.data(), back.data(), pages.size()), 0);
}

TEST_F(PageBatchOnCuda, RoundTripsFromAnyMemory) {
  for (const std::uint32_t page_bytes : {4096U, 16384U, 65536U}) {
    const PageBatch batch({.page_bytes = page_bytes, .backend = "cuda"});
    const Bytes pages = mixed_pages(page_bytes, page_bytes == 4096 ? 20000 : 500);
    Bytes kept(pages.size()), back(pages.size());
    expect_round_trip(batch, pages, kept, back);
    PageBuffer pinned = batch.make_buffer(pages.size()), pinned_kept = batch.make_buffer(pages.size()),
               pinned_back = batch.make_buffer(pages.size());
    std::ranges::copy(pages, pinned.bytes().begin());
    expect_round_trip(batch, pinned.bytes(), pinned_kept.bytes(), pinned_back.bytes());
  }
}

TEST_F(PageBatchOnCuda, Store) {
  PageStore store({.checksums = true, .batch = {.backend = "cuda"}});
  const Bytes pages = mixed_pages(4096, 30000);
  std::vector<std::uint64_t> numbers;
  for (std::size_t i = 0; i < pages.size() / 4096; ++i) numbers.push_back(i * 3);
  store.put_many(numbers, pages);
  Bytes back(pages.size());
  EXPECT_EQ(store.get_many(numbers, back), numbers.size());
  EXPECT_TRUE(back == pages);
  Bytes one(4096);
  ASSERT_TRUE(store.get(3, one));
  EXPECT_EQ(std::memcmp(one.data(), pages.data() + 4096, 4096), 0);
  EXPECT_EQ(store.statistics().fallback_pages, 0U);
}

TEST_F(PageBatchOnCuda, DamagedPagesAreTold) {
  const PageBatch batch({.backend = "cuda"});
  const Bytes pages = mixed_pages(4096, 1000);
  const std::size_t count = pages.size() / 4096;
  std::vector<const std::byte*> inputs;
  Bytes kept(pages.size()), back(pages.size());
  std::vector<std::byte*> outputs;
  for (std::size_t i = 0; i < count; ++i) {
    inputs.push_back(pages.data() + i * 4096);
    outputs.push_back(back.data() + i * 4096);
  }
  std::vector<KeptPage> entries(count);
  batch.compress(inputs, kept, entries);
  std::vector<bool> is_damaged(count);
  for (std::size_t i = 0; i < count; i += 7)
    if (entries[i].kind == PageKind::kCompressed) {
      entries[i].bytes /= 2;  // cut
      is_damaged[i] = true;
    }
  const auto damaged = std::ranges::count(is_damaged, true);
  ASSERT_GT(damaged, 50);
  EXPECT_EQ(batch.restore(kept, entries, outputs).damaged, static_cast<std::uint64_t>(damaged));
  for (std::size_t i = 0; i < count; ++i) {
    ASSERT_EQ(entries[i].status, is_damaged[i] ? Status::kCorruptBlock : Status::kOk) << i;
    if (!is_damaged[i]) {
      ASSERT_EQ(std::memcmp(back.data() + i * 4096, inputs[i], 4096), 0) << i;
    }
  }
}

// The device's memory still holds the pages of the call before, which may be another caller's.
TEST_F(PageBatchOnCuda, APageThatIsTooShortGivesNothingOfOtherPages) {
  const PageBatch batch({.backend = "cuda"});
  constexpr std::size_t kCount = 500, kPageBytes = 4096, kShortBytes = 1000;
  Bytes pages(kCount * kPageBytes, std::byte{0xA5}), kept(pages.size()), back(pages.size());
  std::vector<const std::byte*> inputs(kCount);
  std::vector<std::byte*> outputs(kCount);
  for (std::size_t i = 0; i < kCount; ++i) {
    pages[i * kPageBytes] = std::byte(i);  // not the same throughout, so a block of LZ4
    inputs[i] = pages.data() + i * kPageBytes;
    outputs[i] = back.data() + i * kPageBytes;
  }
  std::vector<KeptPage> entries(kCount);
  batch.compress(inputs, kept, entries);
  ASSERT_EQ(batch.restore(kept, entries, outputs).damaged, 0U);
  ASSERT_TRUE(back == pages);

  const Bytes content(kShortBytes, std::byte{'x'});
  const int bytes =
      LZ4_compress_default(reinterpret_cast<const char*>(content.data()),
                           reinterpret_cast<char*>(kept.data()), kShortBytes, static_cast<int>(kept.size()));
  ASSERT_GT(bytes, 0);
  std::ranges::fill(
      entries, KeptPage{.at = 0, .bytes = static_cast<std::uint32_t>(bytes), .kind = PageKind::kCompressed});
  std::ranges::fill(back, std::byte{});
  const PageBatchReport report = batch.restore(kept, entries, outputs);
  EXPECT_EQ(report.damaged, kCount);
  EXPECT_EQ(report.fallback_pages, 0U) << report.fallback_reason;
  EXPECT_EQ(std::ranges::count(back, std::byte{0xA5}), 0);
}

// Pages are transferred in the form in which they are kept; in device memory they are whole.
TEST_F(PageBatchOnCuda, AStoreTakesAndGivesPagesInTheDevicesMemory) {
  for (const std::uint32_t page_bytes : {4096U, 65536U})
    for (const bool checksums : {false, true}) {
      PageStore store({.checksums = checksums, .batch = {.page_bytes = page_bytes, .backend = "cuda"}});
      const cuda::Stream stream;
      const Bytes pages = mixed_pages(page_bytes, page_bytes == 4096 ? 20000 : 500);
      const std::size_t count = pages.size() / page_bytes;
      std::vector<std::uint64_t> numbers(count);
      for (std::size_t i = 0; i < count; ++i) numbers[i] = 3 * i;
      cuda::DeviceBuffer<std::byte> d_pages(pages.size(), stream.get()), d_back(pages.size(), stream.get());
      d_pages.upload(pages);
      cuda::check(cudaMemsetAsync(d_back.get(), 0x5A, d_back.bytes(), stream.get()), "cudaMemsetAsync");
      store.put_many_from_device(numbers, d_pages.get(), {}, stream.get());
      EXPECT_EQ(store.statistics().fallback_pages, 0U);
      EXPECT_LT(store.statistics().kept_bytes, pages.size());
      Bytes back(pages.size());
      EXPECT_EQ(store.get_many(numbers, back), count);
      EXPECT_TRUE(back == pages);
      EXPECT_EQ(store.get_many_to_device(numbers, d_back.get(), {}, stream.get()), count);
      EXPECT_EQ(store.statistics().fallback_pages, 0U);
      std::ranges::fill(back, std::byte{});
      d_back.download(back);
      cuda::check(cudaStreamSynchronize(stream.get()), "cudaStreamSynchronize");
      EXPECT_TRUE(back == pages);
    }
}

}  // namespace
}  // namespace hemstitch
