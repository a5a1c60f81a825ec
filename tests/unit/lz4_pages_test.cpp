// Pages from the twin, and the code for writing tokens that devices share with it.
#include "format/lz4/pages/lz4_pages.hpp"

#include <gtest/gtest.h>

#include "format/lz4/block/lz4_emission.hpp"
#include "format/lz4/compress/lz4_encode.hpp"
#include "shapes.hpp"

namespace hemstitch {
namespace {

using namespace testing;

struct Kept {
  Lz4PageEntry entry;
  Bytes bytes;
};

Kept keep(const Bytes& page) {
  Bytes room(page.size());
  const Lz4PageEntry entry = compress_lz4_page_reference(page, lz4_level(1, kPageBytes), room);
  room.resize(entry.bytes);
  return {entry, room};
}

TEST(Lz4Pages, KeepsEveryPageSoThatItRestores) {
  for (const Shape& shape : boundary_shapes(kPageBytes)) {
    const Kept kept = keep(shape.bytes);
    EXPECT_TRUE(legal_kept_page(kept.entry.kind, kept.entry.bytes, shape.bytes.size())) << shape.name;
    Bytes restored(shape.bytes.size());
    EXPECT_EQ(restore_lz4_page_reference(kept.entry, kept.bytes, restored), Status::kOk) << shape.name;
    EXPECT_EQ(restored, shape.bytes) << shape.name;
  }
}

TEST(Lz4Pages, ChoosesTheKind) {
  for (const std::size_t period : {1, 2, 4, 8}) {
    const Kept kept = keep(periodic_bytes(kPageBytes, period));
    EXPECT_EQ(kept.entry.kind, PageKind::kSameFilled) << period;
    EXPECT_EQ(kept.entry.bytes, kPageWordBytes) << period;
  }
  EXPECT_EQ(keep(periodic_bytes(kPageBytes, 16)).entry.kind, PageKind::kCompressed);
  EXPECT_EQ(keep(random_bytes(kPageBytes)).entry.kind, PageKind::kRaw);
  EXPECT_EQ(keep({}).entry.kind, PageKind::kRaw);
  EXPECT_EQ(keep(equal_bytes(8)).entry.kind, PageKind::kRaw);
  EXPECT_EQ(keep(equal_bytes(9)).entry.kind, PageKind::kSameFilled);
  Bytes last_differs = equal_bytes(kPageBytes);
  last_differs.back() = std::byte{'b'};
  EXPECT_EQ(keep(last_differs).entry.kind, PageKind::kCompressed);
}

TEST(Lz4Pages, RefusesEntriesThatNoPageHas) {
  const Bytes page = wordy_bytes(kPageBytes);
  const Kept kept = keep(page);
  ASSERT_EQ(kept.entry.kind, PageKind::kCompressed);
  Bytes restored(page.size());
  const auto status = [&](std::uint32_t bytes, std::uint32_t kind, std::size_t kept_bytes,
                          std::size_t page_bytes) {
    const Bytes some = kept.bytes + Bytes(2 * kPageBytes);
    Bytes room(page_bytes);
    return restore_lz4_page_reference({bytes, static_cast<PageKind>(kind)}, std::span(some).first(kept_bytes),
                                      room);
  };
  const std::uint32_t size = kept.entry.bytes;
  EXPECT_EQ(status(size, 1, size, kPageBytes), Status::kOk);
  EXPECT_EQ(status(size, 1, size, kPageBytes - 1), Status::kCorruptBlock);  // restores to more
  EXPECT_EQ(status(size, 1, size - 1, kPageBytes), Status::kCorruptBlock);
  EXPECT_EQ(status(kPageBytes, 1, kPageBytes, kPageBytes), Status::kCorruptBlock);
  EXPECT_EQ(status(size, 2, size, kPageBytes), Status::kCorruptBlock);
  EXPECT_EQ(status(size, 3, size, kPageBytes), Status::kCorruptBlock);
  EXPECT_EQ(status(8, 3, 8, kPageBytes), Status::kOk);
  EXPECT_EQ(status(8, 3, 8, 8), Status::kCorruptBlock);
  for (const std::uint32_t kind : {0u, 4u, 0xFFFFFFFFu})
    EXPECT_EQ(status(size, kind, size, kPageBytes), Status::kCorruptBlock);
}

// put_lz4_head() and put_lz4_tail() must write what the encoder writes, with lengths around those that need
// another byte.
TEST(Lz4Emission, WritesTheEncodersBytes) {
  constexpr std::uint32_t kCounts[] = {0, 1, 14, 15, 16, 269, 270, 271, 524, 525, 70'000};
  for (const std::uint32_t literals : kCounts)
    for (const std::uint32_t match_code : kCounts) {
      const std::uint32_t match_length = match_code + kLz4MinMatchBytes, offset = 0x1234;
      const Bytes block = random_bytes(literals + match_length);
      const Sequence sequences[] = {{literals, match_length, offset}, {0, 0, 0}};
      Bytes expected(block.size() + block.size() / 255 + 16);
      expected.resize(encode_lz4_block(block, sequences, expected).bytes);

      Bytes written(expected.size());
      std::size_t at = 0;
      const auto put = [&](std::uint32_t i, std::uint32_t byte) {
        written[at + i] = static_cast<std::byte>(byte);
      };
      at += put_lz4_head(literals, match_length, put);
      std::copy_n(block.begin(), literals, written.begin() + static_cast<std::ptrdiff_t>(at));
      at += literals;
      at += put_lz4_tail(offset, match_length, put);
      at += put_lz4_head(0, 0, put);
      at += put_lz4_tail(0, 0, put);
      EXPECT_EQ(at, expected.size());
      EXPECT_EQ(written, expected) << literals << " literals, a match of " << match_length;
    }
}

TEST(Lz4Emission, KnowsWhatGoesOn) {
  EXPECT_TRUE(goes_on({0, 4, 7}, 7));
  EXPECT_FALSE(goes_on({1, 4, 7}, 7));
  EXPECT_FALSE(goes_on({0, 4, 8}, 7));
  EXPECT_FALSE(goes_on({0, 0, 0}, 0));
}

}  // namespace
}  // namespace hemstitch
