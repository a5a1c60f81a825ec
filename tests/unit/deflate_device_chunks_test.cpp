// What devices compute of chunks before and after their kernels, compared with the twin: places, stored
// blocks, tokens, cuts.
#include "format/deflate/compress/deflate_device_chunks.hpp"

#include <gtest/gtest.h>

#include <random>
#include <vector>

#include "format/deflate/compress/pack/deflate_encode.hpp"
#include "shapes.hpp"

namespace hemstitch::testing {
namespace {

// Blocks of these sizes, with unused room between them. Their places must be in order, not overlap, and be
// below the count.
void expect_places(const std::vector<std::uint32_t>& sizes, std::uint64_t gap) {
  std::uint64_t total = gap;
  std::uint32_t most = 0;
  for (const std::uint32_t size : sizes) {
    total += size + gap;
    most = std::max(most, size);
  }
  const auto places = deflate_chunk_places(static_cast<std::uint32_t>(sizes.size()), most, total);
  ASSERT_TRUE(places);
  std::uint64_t position = gap;
  std::uint32_t end = 0;
  for (std::uint32_t i = 0; i < sizes.size(); ++i) {
    const std::uint32_t first = places->first(position, i);
    ASSERT_GE(first, end) << "block " << i << " of " << sizes[i];
    end = first + deflate_chunk_count(sizes[i]);
    position += sizes[i] + gap;
  }
  EXPECT_LE(end, places->count);
}

TEST(DeflateDeviceChunks, EveryBlockHasPlacesOfItsOwn) {
  std::mt19937 random(5);
  for (const std::uint32_t most : {1u, 65280u, 65536u, 65537u, 131'072u, 1u << 20})
    for (const std::uint64_t gap : {0, 1, 70'000}) {
      std::vector<std::uint32_t> sizes;
      for (int i = 0; i < 300; ++i) sizes.push_back(static_cast<std::uint32_t>(random() % (most + 1)));
      expect_places(sizes, gap);
      expect_places(std::vector<std::uint32_t>(100, most), gap);
      expect_places({0, most, 0, 0, most}, gap);
    }
  expect_places({}, 0);
  expect_places({0}, 0);
}

TEST(DeflateDeviceChunks, FullBlocksLeaveNoPlaceEmpty) {
  EXPECT_EQ(deflate_chunk_places(10, 1 << 20, 10 << 20)->count, 160u);
  EXPECT_EQ(deflate_chunk_places(1000, 65280, 65'280'000)->count, 1000u);
  EXPECT_EQ(deflate_chunk_places(1000, 1 << 20, 1000 * 4096)->count, 1062u);
  EXPECT_FALSE(deflate_chunk_places(1u << 26, 100, 100));
}

TEST(DeflateDeviceChunks, StoredBlocksEndWhereTheTwinEndsThem) {
  for (const std::uint32_t content_bytes : {0u, 1u, 100u, 65534u, 65535u, 65536u, 131'070u, 131'071u})
    for (std::uint32_t bit = 0; bit < 17; ++bit) {
      const Bytes content = random_bytes(content_bytes);
      Bytes output(content_bytes + 100);
      DeflateBitWriter writer(output);
      writer.put(0, bit);
      put_deflate_stored(content, false, writer);
      EXPECT_EQ(deflate_stored_end(bit, content_bytes), 8 * writer.bytes()) << content_bytes << " at " << bit;
    }
}

TEST(DeflateDeviceChunks, TokensHoldEveryMatch) {
  for (std::uint32_t length = kDeflateMinMatchBytes; length <= kDeflateMaxMatchBytes; ++length)
    for (const std::uint32_t distance : {1u, 4u, 5u, 6u, 7u, 100u, 24'576u, 24'577u, 32'767u, 32'768u}) {
      const std::uint32_t length_symbol = deflate_length_symbol(length);
      const std::uint32_t distance_symbol = deflate_distance_symbol(distance);
      const DeflateDeviceToken token = deflate_match_token(length_symbol, length, distance_symbol, distance);
      ASSERT_EQ(token & 0x1FF, length_symbol);
      ASSERT_EQ(deflate_length_base(length_symbol) + (token >> 9 & 0x1F), length);
      ASSERT_EQ(token >> 14 & 0x1F, distance_symbol);
      ASSERT_EQ(deflate_distance_base(distance_symbol) + (token >> 19), distance);
    }
}

// The least sum over all ways to cut, tried one by one.
std::uint32_t least_sum(const std::vector<std::uint32_t>& bits, std::uint32_t unit_count) {
  std::uint32_t least = ~0u;
  for (std::uint32_t cuts = 0; cuts < 1u << (unit_count - 1); ++cuts) {
    std::uint32_t sum = 0, begin = 0;
    for (std::uint32_t end = 1; end <= unit_count; ++end)
      if (end == unit_count || (cuts >> (end - 1) & 1) != 0) {
        sum += bits[deflate_span_index(begin, end)];
        begin = end;
      }
    least = std::min(least, sum);
  }
  return least;
}

TEST(DeflateDeviceChunks, CutsAreTheCheapest) {
  std::mt19937 random(9);
  for (int run = 0; run < 2000; ++run) {
    const auto unit_count = static_cast<std::uint32_t>(1 + random() % kDeflateChunkUnits);
    std::vector<std::uint32_t> bits(kDeflateChunkUnits * kDeflateChunkUnits);
    // Few different numbers, so that sums are often equal.
    for (std::uint32_t begin = 0; begin < unit_count; ++begin)
      for (std::uint32_t end = begin + 1; end <= unit_count; ++end)
        bits[deflate_span_index(begin, end)] =
            static_cast<std::uint32_t>((end - begin) * 2 + 1 + random() % 3);
    DeflateCuts cuts;
    deflate_find_cuts(bits.data(), unit_count, cuts);
    std::uint32_t sum = 0;
    ASSERT_EQ(cuts.begins[0], 0u);
    for (std::uint32_t part = 0; part < cuts.count; ++part) {
      const std::uint32_t end = part + 1 < cuts.count ? cuts.begins[part + 1] : unit_count;
      ASSERT_LT(cuts.begins[part], end);
      sum += bits[deflate_span_index(cuts.begins[part], end)];
    }
    ASSERT_EQ(sum, least_sum(bits, unit_count));
  }
}

TEST(DeflateDeviceChunks, OfEqualCutsTheLastBlockBeginsFirst) {
  std::vector<std::uint32_t> bits(kDeflateChunkUnits * kDeflateChunkUnits);
  for (std::uint32_t begin = 0; begin < kDeflateChunkUnits; ++begin)
    for (std::uint32_t end = begin + 1; end <= kDeflateChunkUnits; ++end)
      bits[deflate_span_index(begin, end)] = end - begin;
  DeflateCuts cuts;
  deflate_find_cuts(bits.data(), kDeflateChunkUnits, cuts);
  EXPECT_EQ(cuts.count, 1u);
  EXPECT_EQ(cuts.begins[0], 0u);
}

}  // namespace
}  // namespace hemstitch::testing
