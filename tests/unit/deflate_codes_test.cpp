// The codes of DEFLATE blocks: they must be complete and limited, and cost little more than the best codes.
// zlib must read the headers.
#include "format/deflate/block/deflate_codes.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>
#include <random>
#include <vector>

#include "format/deflate/compress/codes/deflate_block.hpp"

namespace hemstitch::testing {
namespace {

using Frequencies = std::vector<std::uint32_t>;
using Lengths = std::vector<std::uint8_t>;

Lengths lengths_of(const Frequencies& frequencies, std::uint32_t max_bits) {
  std::vector<std::uint32_t> keys(frequencies.size());
  const auto symbol_count = static_cast<std::uint32_t>(frequencies.size());
  keys.resize(deflate_sort_keys(frequencies.data(), symbol_count, keys.data()));
  std::sort(keys.begin(), keys.end());
  Lengths lengths(frequencies.size(), 0);
  deflate_code_lengths(keys.data(), static_cast<std::uint32_t>(keys.size()), max_bits, lengths.data());
  return lengths;
}

std::uint64_t cost(const Frequencies& frequencies, const Lengths& lengths) {
  return std::inner_product(frequencies.begin(), frequencies.end(), lengths.begin(), std::uint64_t{0});
}

// The least cost of a code with at most `max_bits`, by package-merge.
std::uint64_t least_cost(Frequencies frequencies, std::uint32_t max_bits) {
  std::erase(frequencies, 0u);
  while (frequencies.size() < 2) frequencies.push_back(0);
  std::sort(frequencies.begin(), frequencies.end());
  std::vector<std::uint64_t> merged;
  for (std::uint32_t bits = 0; bits < max_bits; ++bits) {
    std::vector<std::uint64_t> row(frequencies.begin(), frequencies.end());
    for (std::size_t i = 0; i + 1 < merged.size(); i += 2) row.push_back(merged[i] + merged[i + 1]);
    std::sort(row.begin(), row.end());
    merged = row;
  }
  return std::accumulate(merged.begin(),
                         merged.begin() + static_cast<std::ptrdiff_t>(2 * frequencies.size() - 2),
                         std::uint64_t{0});
}

void expect_complete(const Lengths& lengths, std::uint32_t max_bits) {
  std::uint64_t sum = 0;
  for (const std::uint8_t length : lengths) {
    ASSERT_LE(length, max_bits);
    if (length != 0) sum += 1u << (max_bits - length);
  }
  EXPECT_EQ(sum, 1u << max_bits);
}

Frequencies fibonacci(std::size_t count) {
  Frequencies frequencies = {1, 1};
  while (frequencies.size() < count)
    frequencies.push_back(frequencies.back() + frequencies[frequencies.size() - 2]);
  return frequencies;
}

TEST(DeflateCodes, AreTheCheapestWhereNothingLimitsThem) {
  std::mt19937 random(1);
  for (int round = 0; round < 500; ++round) {
    // Their sum is below the 17th Fibonacci number, so no code is longer than 15 bits.
    Frequencies frequencies(2 + random() % 150);
    const std::uint32_t most = 1u << (random() % 5);
    for (std::uint32_t& frequency : frequencies) frequency = static_cast<std::uint32_t>(random() % most);
    const Lengths lengths = lengths_of(frequencies, 15);
    expect_complete(lengths, 15);
    ASSERT_EQ(cost(frequencies, lengths), least_cost(frequencies, 15)) << round;
  }
}

TEST(DeflateCodes, AreLimitedAndNearlyTheCheapestWhereFrequenciesGrowLikeFibonaccis) {
  for (const std::uint32_t max_bits : {7u, 15u})
    for (std::size_t count = 2; count <= 19; ++count) {
      Frequencies frequencies = fibonacci(count);
      for (int turn = 0; turn < 2; ++turn, std::reverse(frequencies.begin(), frequencies.end())) {
        const Lengths lengths = lengths_of(frequencies, max_bits);
        expect_complete(lengths, max_bits);
        const std::uint64_t least = least_cost(frequencies, max_bits);
        EXPECT_GE(cost(frequencies, lengths), least);
        EXPECT_LE(cost(frequencies, lengths), least + least / (max_bits == 7 ? 8 : 50) + 1)
            << count << " symbols, " << max_bits;
      }
    }
  // As deep as possible, and one level deeper.
  for (const std::size_t count : {16, 17}) {
    const Lengths lengths = lengths_of(fibonacci(count), 15);
    EXPECT_EQ(*std::ranges::max_element(lengths), 15);
  }
}

TEST(DeflateCodes, OfEqualFrequenciesTheSmallerSymbolsAreTheLongerOnes) {
  EXPECT_EQ(lengths_of({1, 1, 1}, 15), (Lengths{2, 2, 1}));
  EXPECT_EQ(lengths_of({5, 5, 5, 5, 5}, 15), (Lengths{3, 3, 2, 2, 2}));
  // The leaf of 2 comes before the node of 1 + 1; otherwise it would have another depth than the others.
  EXPECT_EQ(lengths_of({1, 1, 2, 2}, 15), (Lengths{2, 2, 2, 2}));
  EXPECT_EQ(lengths_of({1, 1, 2, 3}, 15), (Lengths{3, 3, 2, 1}));
}

TEST(DeflateCodes, OfLessThanTwoSymbolsHaveTwo) {
  EXPECT_EQ(lengths_of({0, 0, 0, 0}, 15), (Lengths{1, 1, 0, 0}));
  EXPECT_EQ(lengths_of({7, 0, 0, 0}, 15), (Lengths{1, 1, 0, 0}));
  EXPECT_EQ(lengths_of({0, 0, 7, 0}, 15), (Lengths{1, 0, 1, 0}));
}

TEST(DeflateCodes, AreTheCanonicalOnesTurnedRound) {
  // The example of RFC 1951, section 3.2.2: A to H get 010 011 100 101 110 00 1110 1111.
  const Lengths lengths = {3, 3, 3, 3, 3, 2, 4, 4};
  std::vector<std::uint16_t> codes(8);
  deflate_canonical_codes(lengths.data(), 8, codes.data());
  EXPECT_EQ(codes, (std::vector<std::uint16_t>{0b010, 0b110, 0b001, 0b101, 0b011, 0b00, 0b0111, 0b1111}));
}

std::vector<std::pair<int, int>> items_of(const Lengths& lengths) {
  std::vector<DeflateLengthItem> items(kDeflateMostLengthItems);
  items.resize(
      deflate_length_items(lengths.data(), static_cast<std::uint32_t>(lengths.size()), items.data()));
  std::vector<std::pair<int, int>> pairs;
  for (const DeflateLengthItem& item : items) pairs.emplace_back(item.symbol, item.extra);
  return pairs;
}

TEST(DeflateCodes, HeadersHoldRunsByTheLongestItemThatFits) {
  using Items = std::vector<std::pair<int, int>>;
  EXPECT_EQ(items_of(Lengths(2, 0)), (Items{{0, 0}, {0, 0}}));
  EXPECT_EQ(items_of(Lengths(3, 0)), (Items{{17, 0}}));
  EXPECT_EQ(items_of(Lengths(10, 0)), (Items{{17, 7}}));
  EXPECT_EQ(items_of(Lengths(11, 0)), (Items{{18, 0}}));
  EXPECT_EQ(items_of(Lengths(138, 0)), (Items{{18, 127}}));
  EXPECT_EQ(items_of(Lengths(140, 0)), (Items{{18, 127}, {0, 0}, {0, 0}}));
  EXPECT_EQ(items_of(Lengths(149, 0)), (Items{{18, 127}, {18, 0}}));
  EXPECT_EQ(items_of(Lengths(3, 5)), (Items{{5, 0}, {5, 0}, {5, 0}}));
  EXPECT_EQ(items_of(Lengths(4, 5)), (Items{{5, 0}, {16, 0}}));
  EXPECT_EQ(items_of(Lengths(7, 5)), (Items{{5, 0}, {16, 3}}));
  EXPECT_EQ(items_of(Lengths(9, 5)), (Items{{5, 0}, {16, 3}, {5, 0}, {5, 0}}));
  EXPECT_EQ(items_of(Lengths(10, 5)), (Items{{5, 0}, {16, 3}, {16, 0}}));
  EXPECT_EQ(items_of({8, 8, 0, 9}), (Items{{8, 0}, {8, 0}, {0, 0}, {9, 0}}));
}

TEST(DeflateBlock, IsTheSmallestOfItsKinds) {
  DeflateHistogram one;
  one.litlen['a'] = 1;
  EXPECT_EQ(choose_deflate_block(one, 1).type, DeflateBlockType::kFixed);
  EXPECT_EQ(choose_deflate_block(one, 1).bits, 3u + 8 + 7);
  DeflateHistogram noise;
  for (std::uint32_t literal = 0; literal < 256; ++literal) noise.litlen[literal] = 200;
  EXPECT_EQ(choose_deflate_block(noise, 51200).type, DeflateBlockType::kStored);
  EXPECT_EQ(choose_deflate_block(noise, 51200).bits, 40u + 8 * 51200);
  DeflateHistogram skewed;
  skewed.litlen['a'] = 10000;
  skewed.litlen['b'] = 3;
  EXPECT_EQ(choose_deflate_block(skewed, 10003).type, DeflateBlockType::kDynamic);
}

TEST(DeflateBlock, StoredBlocksHoldNoMoreThanTheyCan) {
  EXPECT_EQ(deflate_stored_block_count(0), 0u);
  EXPECT_EQ(deflate_stored_block_count(1), 1u);
  EXPECT_EQ(deflate_stored_block_count(65535), 1u);
  EXPECT_EQ(deflate_stored_block_count(65536), 2u);
}

}  // namespace
}  // namespace hemstitch::testing
