// Walks over streams of libdeflate and zlib, compared with how they end, and over data that is not DEFLATE,
// between guard pages.
#include "format/deflate/block/deflate_walk.hpp"

#include <gtest/gtest.h>
#include <zlib.h>

#include <memory>
#include <random>

#include "guarded_buffer.hpp"
#include "libdeflate_stream.hpp"
#include "shapes.hpp"
#include "zlib_oracle.hpp"

namespace hemstitch {
namespace {

using namespace testing;

Bytes deflated_by_zlib(std::span<const std::byte> content, int strategy, int level = 6) {
  z_stream stream{};
  deflateInit2(&stream, level, Z_DEFLATED, -MAX_WBITS, 9, strategy);
  Bytes data(deflateBound(&stream, content.size()) + 100);
  stream.next_in = const_cast<Bytef*>(reinterpret_cast<const Bytef*>(content.data()));
  stream.avail_in = static_cast<uInt>(content.size());
  stream.next_out = reinterpret_cast<Bytef*>(data.data());
  stream.avail_out = static_cast<uInt>(data.size());
  EXPECT_EQ(deflate(&stream, Z_FINISH), Z_STREAM_END);
  data.resize(stream.total_out);
  deflateEnd(&stream);
  return data;
}

// The walk must end where the data does. Once the bit that it found is cleared, the stream must be
// incomplete.
void expect_whole(Bytes data, const Bytes& content, const std::string& what) {
  const auto walk = walk_deflate(GuardedBuffer(data).bytes());
  ASSERT_TRUE(walk.has_value()) << what;
  EXPECT_EQ(walk->content_bytes, content.size()) << what;
  EXPECT_EQ((walk->end_bit + 7) / 8, data.size()) << what;
  ASSERT_TRUE(inflated_by_zlib(data, ZlibKind::kDeflate).has_value()) << what;
  data[walk->last_block_bit / 8] ^= std::byte{1} << (walk->last_block_bit % 8);
  EXPECT_FALSE(inflated_by_zlib(data, ZlibKind::kDeflate).has_value()) << what;
}

TEST(DeflateWalk, FindsTheEndOfWhatLibdeflateWrote) {
  for (const Shape& shape : boundary_shapes(65537))
    for (const int level : {0, 1, 6, 12})
      expect_whole(libdeflate_stream(shape.bytes, level), shape.bytes, shape.name);
  for (const int level : {0, 1, 5, 9}) {
    const Bytes mixed = mixed_bytes(3 << 20, 7);
    expect_whole(libdeflate_stream(mixed, level), mixed, "mixed");
  }
}

TEST(DeflateWalk, FindsTheEndOfFixedBlocksAndLongCodes) {
  const Bytes words = wordy_bytes(100000);
  expect_whole(deflated_by_zlib(words, Z_FIXED), words, "fixed");
  expect_whole(deflated_by_zlib(words, Z_HUFFMAN_ONLY), words, "literals only");
  expect_whole(deflated_by_zlib(runs_bytes(100000, 4), Z_RLE), runs_bytes(100000, 4), "distances of 1");
  // Frequencies that are Fibonacci numbers give codes of all lengths up to the longest.
  Bytes skewed;
  for (std::size_t symbol = 0, count = 1, next = 1; symbol < 22; ++symbol) {
    skewed.insert(skewed.end(), count, static_cast<std::byte>(symbol * 7));
    next += std::exchange(count, next);
  }
  std::shuffle(skewed.begin(), skewed.end(), std::mt19937(5));
  expect_whole(deflated_by_zlib(skewed, Z_HUFFMAN_ONLY), skewed, "long codes");
}

TEST(DeflateWalk, TruncatedDataHasNoEnd) {
  const Bytes content = mixed_bytes(20000, 3);
  const Bytes data = libdeflate_stream(content, 6);
  for (std::size_t bytes = 0; bytes < data.size(); ++bytes)
    EXPECT_FALSE(walk_deflate(GuardedBuffer(std::span(data).first(bytes)).bytes()).has_value()) << bytes;
}

TEST(DeflateWalk, AnyBytesEndInAnAnswer) {
  const Bytes data = libdeflate_stream(wordy_bytes(3000), 6);
  std::mt19937 random(11);
  for (int trial = 0; trial < 20000; ++trial) {
    Bytes damaged = trial % 2 == 0 ? data : random_bytes(random() % 300, static_cast<std::uint32_t>(trial));
    for (std::size_t changes = 1 + random() % 4; changes > 0 && !damaged.empty(); --changes)
      damaged[random() % damaged.size()] = static_cast<std::byte>(random());
    const auto walk = walk_deflate(GuardedBuffer(damaged).bytes());
    // If zlib accepts all of the data, the walk must find its size.
    if (const auto content = inflated_by_zlib(damaged, ZlibKind::kDeflate)) {
      ASSERT_TRUE(walk.has_value()) << trial;
      EXPECT_EQ(walk->content_bytes, content->size()) << trial;
    }
  }
  // One-bit literals without an end.
  EXPECT_FALSE(walk_deflate(GuardedBuffer(Bytes(100, std::byte{0})).bytes()).has_value());
}

}  // namespace
}  // namespace hemstitch
