// Blocks of DEFLATE from the processor's libraries: one after the other, they must be a stream that zlib
// restores.
#include "format/deflate/compress/deflate_compress_cpu.hpp"

#include <gtest/gtest.h>

#include "format/deflate/block/deflate_stored.hpp"
#include "guarded_buffer.hpp"
#include "shapes.hpp"
#include "zlib_oracle.hpp"

namespace hemstitch {
namespace {

using namespace testing;

constexpr int kLevels[] = {1, 2, 3, 6, 9, 12};

Bytes compressed(DeflateCompressorCpu& compressor, std::span<const std::byte> content,
                 std::span<const std::byte> history, int level, bool is_last) {
  GuardedBuffer room(deflate_data_room(content.size()));
  const std::size_t bytes = compressor.compress(content, history, level, is_last, room.bytes());
  EXPECT_LE(bytes, room.bytes().size());
  return {room.bytes().begin(), room.bytes().begin() + static_cast<std::ptrdiff_t>(bytes)};
}

// Compresses the content in blocks of so many bytes, each with the bytes before it as history.
Bytes compressed_in_blocks(DeflateCompressorCpu& compressor, std::span<const std::byte> content,
                           std::size_t block_bytes, int level) {
  Bytes stream;
  for (std::size_t at = 0; at < content.size(); at += block_bytes)
    stream = stream + compressed(compressor, content.subspan(at, std::min(block_bytes, content.size() - at)),
                                 content.first(at), level, false);
  return stream + Bytes{std::byte{3}, std::byte{0}};
}

TEST(DeflateCompressCpu, AWholeStreamIsRestored) {
  DeflateCompressorCpu compressor;
  for (const int level : kLevels)
    for (const Shape& shape : boundary_shapes(65537)) {
      if (shape.bytes.empty()) continue;
      const Bytes stream = compressed(compressor, shape.bytes, {}, level, true);
      ASSERT_EQ(inflated_by_zlib(stream, ZlibKind::kDeflate), shape.bytes)
          << shape.name << ", level " << level;
    }
}

TEST(DeflateCompressCpu, BlocksMakeAStream) {
  DeflateCompressorCpu compressor;
  for (const int level : kLevels)
    for (const Shape& shape : boundary_shapes(65537)) {
      const std::size_t block_bytes = shape.bytes.size() / 3 + 1;
      const Bytes stream = compressed_in_blocks(compressor, shape.bytes, block_bytes, level);
      ASSERT_EQ(inflated_by_zlib(stream, ZlibKind::kDeflate), shape.bytes)
          << shape.name << ", level " << level;
    }
}

TEST(DeflateCompressCpu, EveryLevelTakesLargeBlocks) {
  DeflateCompressorCpu compressor;
  const Bytes content = mixed_bytes((2 << 20) + 12345, 9);
  std::size_t last_bytes = SIZE_MAX;
  for (int level = 1; level <= 12; ++level) {
    const Bytes stream = compressed_in_blocks(compressor, content, 1 << 20, level);
    ASSERT_EQ(inflated_by_zlib(stream, ZlibKind::kDeflate), content) << "level " << level;
    EXPECT_LT(stream.size(), last_bytes + last_bytes / 100) << "level " << level;
    last_bytes = stream.size();
  }
}

// Covers the case that the header of the empty stored block ends in the last byte, and that it needs one
// more.
TEST(DeflateCompressCpu, EveryEndInsideAByteGoesOn) {
  DeflateCompressorCpu compressor;
  for (std::size_t bytes = 100; bytes < 300; ++bytes) {
    const Bytes content = wordy_bytes(bytes, static_cast<std::uint32_t>(bytes));
    ASSERT_EQ(inflated_by_zlib(compressed_in_blocks(compressor, content, 50, 6), ZlibKind::kDeflate),
              content);
  }
}

TEST(DeflateCompressCpu, AShortBlockRefersToItsHistory) {
  DeflateCompressorCpu compressor;
  const Bytes history = random_bytes(40000, 4), content(history.end() - 5000, history.end());
  for (const int level : kLevels) {
    const Bytes data = compressed(compressor, content, history, level, true);
    EXPECT_LT(data.size(), 500u) << level;
    EXPECT_EQ(inflated_by_zlib(data, ZlibKind::kDeflate, std::span(history).last(32768)), content);
  }
}

TEST(DeflateCompressCpu, WhatDoesNotShrinkIsStored) {
  DeflateCompressorCpu compressor;
  const Bytes content = random_bytes(1 << 20, 6);
  for (const int level : kLevels)
    for (const bool is_last : {false, true}) {
      const Bytes data = compressed(compressor, content, {}, level, is_last);
      EXPECT_LE(data.size(), deflate_data_room(content.size()));
      EXPECT_LE(data.size(), content.size() + content.size() / 500) << level;
    }
  Bytes stored(deflate_data_room(content.size()));
  stored.resize(write_deflate_stored(content, true, stored.data()));
  EXPECT_EQ(stored.size(), content.size() + 17 * kDeflateStoredHeaderBytes);
  EXPECT_EQ(inflated_by_zlib(stored, ZlibKind::kDeflate), content);
}

// A block's bytes depend only on its content, not on what the compressor did before.
TEST(DeflateCompressCpu, KeepsNothingOfABlock) {
  DeflateCompressorCpu used;
  const Bytes content = copied_bytes(200000, 8), other = wordy_bytes(300000, 2);
  for (const int level : kLevels) {
    DeflateCompressorCpu fresh;
    const Bytes expected = compressed(fresh, content, {}, level, false);
    compressed(used, other, std::span(other).first(1000), level, true);
    EXPECT_EQ(compressed(used, content, {}, level, false), expected) << level;
  }
}

}  // namespace
}  // namespace hemstitch
