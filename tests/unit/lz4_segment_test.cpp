// The tables that say where chains of LZ4 sequences leave a segment, compared with chains that are followed
// one by one.
#include "format/lz4/block/lz4_segment.hpp"

#include <gtest/gtest.h>
#include <lz4hc.h>

#include "lz4_walkers.hpp"
#include "shapes.hpp"

namespace hemstitch {
namespace {

using namespace testing;

void expect_exits_everywhere(const Bytes& block, const std::string& name) {
  for (std::size_t begin = 0; begin <= block.size(); begin += 1 + begin % 3) {
    ASSERT_EQ(wrong_exits<ShortLinks>(block, begin), "") << name;
    ASSERT_EQ(wrong_exits<LongLinks>(block, begin), "") << name;
  }
}

TEST(Lz4Segment, ChainsOfBlocksFromLiblz4) {
  for (const Shape& shape : shapes_of(3000)) {
    Bytes block(static_cast<std::size_t>(LZ4_compressBound(static_cast<int>(shape.bytes.size()))));
    block.resize(static_cast<std::size_t>(LZ4_compress_HC(
        reinterpret_cast<const char*>(shape.bytes.data()), reinterpret_cast<char*>(block.data()),
        static_cast<int>(shape.bytes.size()), static_cast<int>(block.size()), 9)));
    expect_exits_everywhere(block, shape.name);
  }
}

TEST(Lz4Segment, ChainsOfAnyBytes) {
  for (std::uint32_t seed = 0; seed < 20; ++seed)
    expect_exits_everywhere(random_bytes(500 + seed, seed), "random bytes");
  for (std::uint32_t seed = 0; seed < 20; ++seed)
    expect_exits_everywhere(random_bytes(500 + seed, seed, 3), "small bytes: shortest sequences");
  for (const unsigned byte : {0x00u, 0x0Fu, 0x1Fu, 0xF0u, 0xF1u, 0xFEu, 0xFFu})
    expect_exits_everywhere(Bytes(400, static_cast<std::byte>(byte)), "byte " + std::to_string(byte));
  // Long lengths.
  Bytes extended = random_bytes(3000, 78);
  for (std::size_t i = 0; i < extended.size(); ++i)
    if (extended[i] > std::byte{0x60}) extended[i] = std::byte{255};
  expect_exits_everywhere(extended, "mostly 255");
  // Full nibbles before every kind of byte.
  Bytes nibbles = random_bytes(2000, 77);
  for (std::size_t i = 0; i < nibbles.size(); i += 3) nibbles[i] |= std::byte{0xF0};
  for (std::size_t i = 0; i < nibbles.size(); i += 5) nibbles[i] |= std::byte{0x0F};
  expect_exits_everywhere(nibbles, "full nibbles");
}

}  // namespace
}  // namespace hemstitch
