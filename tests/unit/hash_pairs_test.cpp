#include "match/hash_pairs/hash_pairs.hpp"

#include <gtest/gtest.h>

#include "core/status.hpp"
#include "finder_definition.hpp"
#include "shapes.hpp"

namespace hemstitch {
namespace {

using namespace testing;

void expect_definition(const Shape& shape, unsigned hash_bits) {
  const FinderInput input{shape.bytes, 0};
  const MatchRecords records = find_hash_pairs(input, {.hash_bits = hash_bits});
  ASSERT_EQ(records, hash_pairs_by_definition(input, hash_bits)) << shape.name << ", bits " << hash_bits;
  ASSERT_EQ(first_false_match(input, records), "") << shape.name << ", bits " << hash_bits;
}

TEST(HashPairs, EqualsItsDefinitionOnEveryShape) {
  for (const std::size_t size : {1281, 4096})
    for (const Shape& shape : boundary_shapes(size)) expect_definition(shape, kHashPairsBits);
}

TEST(HashPairs, EqualsItsDefinitionForEveryTable) {
  for (std::uint32_t seed = 0; seed < 20; ++seed)
    for (const unsigned hash_bits : {8u, 11u, 16u}) {
      expect_definition({"words", wordy_bytes(3000, seed)}, hash_bits);
      expect_definition({"two letters", random_bytes(2000, seed, 2)}, hash_bits);
      expect_definition({"runs", runs_bytes(3000, seed)}, hash_bits);
      expect_definition({"period", periodic_bytes(3000, 1 + seed * 7)}, hash_bits);
    }
}

// "abcdefgh" is at 0, and again at an odd position, where only odd positions can find it: offsets from even
// positions to even ones are even. An odd position finds nothing in its own row.
TEST(HashPairs, OddPositionsFindWhatEvenOnesCannotAndOnlyBehindTheirRow) {
  for (const std::size_t repeat : {33u, 65u}) {
    Bytes bytes = random_bytes(200, 9);
    std::copy_n(bytes.begin(), 8, bytes.begin() + static_cast<std::ptrdiff_t>(repeat));
    const MatchRecords records = find_hash_pairs({bytes, 0}, {});
    if (repeat < kHashPairsRowBytes)
      EXPECT_EQ(records[repeat], 0u);
    else
      EXPECT_EQ(records[repeat], pack_match(static_cast<std::uint32_t>(repeat), 8));
  }
}

// Within a long match, only matches that end after it are kept.
TEST(HashPairs, LeavesOutLongMatchesThatAreCovered) {
  const Bytes period = periodic_bytes(4096, 100);
  const MatchRecords records = find_hash_pairs({period, 0}, {});
  for (std::size_t p = 200; p < period.size(); ++p)
    ASSERT_EQ(records[p], pack_match(100, static_cast<std::uint32_t>(period.size() - p))) << p;
}

TEST(HashPairs, RefusesHistoryLargeBlocksAndOtherTables) {
  const Bytes bytes(65537);
  EXPECT_THROW(find_hash_pairs({bytes, 0}, {}), Error);
  EXPECT_THROW(find_hash_pairs({std::span(bytes).first(100), 1}, {}), Error);
  EXPECT_THROW(find_hash_pairs({std::span(bytes).first(100), 0}, {.hash_bits = 7}), Error);
  EXPECT_THROW(find_hash_pairs({std::span(bytes).first(100), 0}, {.hash_bits = 17}), Error);
  EXPECT_EQ(find_hash_pairs({std::span(bytes).first(0), 0}, {}).size(), 0u);
  EXPECT_EQ(find_hash_pairs({std::span(bytes).first(65536), 0}, {}).size(), 65536u);
}

}  // namespace
}  // namespace hemstitch
