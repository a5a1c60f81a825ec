// The kernels of pages on the processor, compared with the reference: what tests/device does on a device, for machines without
// one.
#include <gtest/gtest.h>

#include <random>

#include "page_kernels.hpp"

namespace hemstitch {
namespace {

using namespace testing;

std::vector<Bytes> pages_of_every_kind() {
  std::vector<Bytes> pages;
  for (const std::size_t size : {0u, 1u, 5u, 12u, 13u, 33u, 1024u, 4095u, 4096u})
    for (Shape& shape : shapes_of(size)) pages.push_back(std::move(shape.bytes));
  for (const std::size_t size : {8u, 9u, 15u, 4095u, 4096u}) {
    pages.push_back(periodic_bytes(size, 8));
    pages.push_back(pages.back());
    pages.back().back() ^= std::byte{1};
    pages.push_back(periodic_bytes(size, 8));
    pages.back()[size / 2] ^= std::byte{1};
  }
  std::vector<Bytes> tried;
  for (std::size_t i = 0; i < pages.size(); i += kTriedOneOf) tried.push_back(std::move(pages[i]));
  return tried;
}

// Level 1 takes one launch, others several.
TEST(EmulatedLz4Pages, AreKeptAsTheReferenceKeepsThem) {
  const std::vector<Bytes> pages = pages_of_every_kind();
  for (const int level : {1, 3})
    for (const Against against : {Against::kUpperGuard, Against::kLowerGuard}) {
      const Lz4Level of_pages = lz4_level(level, kPageBytes);
      const auto kept = pages_kept_by_kernels(pages, of_pages, against);
      for (std::size_t i = 0; i < pages.size(); ++i) {
        Bytes room(pages[i].size());
        const Lz4PageEntry expected = compress_lz4_page_reference(pages[i], of_pages, room);
        room.resize(expected.bytes);
        ASSERT_EQ(kept[i].entry.kind, expected.kind) << "level " << level << ", page " << i;
        ASSERT_EQ(kept[i].entry.bytes, expected.bytes) << "level " << level << ", page " << i;
        ASSERT_EQ(kept[i].bytes, room) << "level " << level << ", page " << i;
      }
    }
}

TEST(EmulatedLz4Pages, AreRestoredAsTheReferenceRestoresThem) {
  const std::vector<Bytes> pages = pages_of_every_kind();
  const auto kept = pages_kept_by_kernels(pages, lz4_level(1, kPageBytes));
  std::vector<PageToRestore> batch;
  for (std::size_t i = 0; i < pages.size(); ++i)
    batch.push_back({kept[i].entry, kept[i].bytes, pages[i].size()});
  for (const Against against : {Against::kUpperGuard, Against::kLowerGuard}) {
    const auto restored = pages_restored_by_kernels(batch, against);
    for (std::size_t i = 0; i < pages.size(); ++i) {
      ASSERT_EQ(restored[i].status, HEMSTITCH_OK) << i;
      ASSERT_EQ(restored[i].page, pages[i]) << i;
    }
  }
}

// Entries that no page has, and bytes that are no block, beside sound pages. What an entry claims is not read where it is not
// legal: there is nothing behind it.
TEST(EmulatedLz4Pages, HostileEntriesAreRefused) {
  const Bytes page = wordy_bytes(kPageBytes);
  const auto sound = pages_kept_by_kernels(std::vector<Bytes>{page}, lz4_level(1, kPageBytes));
  const std::uint32_t size = sound[0].entry.bytes;
  std::mt19937 random(5);
  std::vector<Bytes> damaged;
  for (std::size_t i = 0; i < 200 / kTriedOneOf; ++i) {
    Bytes bytes = sound[0].bytes;
    for (auto changes = random() % 4; changes > 0; --changes)
      bytes[random() % std::min<std::size_t>(bytes.size(), i % 2 == 0 ? 40 : bytes.size())] =
          static_cast<std::byte>(random() % 256);
    if (random() % 4 == 0) bytes.resize(random() % bytes.size());
    damaged.push_back(std::move(bytes));
  }
  std::vector<PageToRestore> batch;
  for (const Bytes& bytes : damaged)
    batch.push_back({{static_cast<std::uint32_t>(bytes.size()), PageKind::kCompressed},
                     bytes,
                     kPageBytes - random() % 2});
  for (const std::uint32_t kind : {0u, 1u, 2u, 3u, 4u, 0xFFFFFFFFu})
    for (const std::uint32_t bytes : {0u, 7u, 8u, 9u, 4095u, 4096u, 4097u, 0xFFFFFFFFu})
      for (const std::size_t page_bytes : {0u, 8u, 9u, 4096u}) {
        const Lz4PageEntry entry{bytes, static_cast<PageKind>(kind)};
        const bool legal = legal_kept_page(entry.kind, entry.bytes, page_bytes);
        batch.push_back({entry, std::span(page).first(legal ? bytes : 0), page_bytes});
        if (batch.size() % kTriedOneOf == 0) batch.push_back({sound[0].entry, sound[0].bytes, kPageBytes});
      }
  const auto restored = pages_restored_by_kernels(batch);
  std::size_t refused = 0;
  for (std::size_t i = 0; i < batch.size(); ++i) {
    ASSERT_EQ(restored[i], page_restored_by_reference(batch[i]))
        << i << ": kind " << static_cast<unsigned>(batch[i].entry.kind) << ", " << batch[i].entry.bytes
        << " bytes for " << batch[i].page_bytes;
    refused += restored[i].status != HEMSTITCH_OK;
  }
  EXPECT_GT(refused, 100u);
  // More than a page.
  const PageToRestore large{{size, PageKind::kCompressed}, sound[0].bytes, kPageBytes + 1};
  EXPECT_EQ(pages_restored_by_kernels(std::vector{large})[0].status, HEMSTITCH_CORRUPT_BLOCK);
}

}  // namespace
}  // namespace hemstitch
