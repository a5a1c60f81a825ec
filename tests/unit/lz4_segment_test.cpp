// The tables that tell where chains of LZ4 sequences leave a segment, against chains that are followed one by one.
#include "format/lz4/lz4_segment.hpp"

#include <gtest/gtest.h>
#include <lz4hc.h>

#include <array>
#include <optional>

#include "shapes.hpp"

namespace hemstitch {
namespace {

using namespace testing;

// As the kernels for many and for few blocks have them.
using ShortLinks = Lz4Links<1, std::uint16_t>;
using LongLinks = Lz4Links<16, std::uint32_t>;

template <class Links>
constexpr std::uint32_t kSegmentReach = kLz4SegmentBytes - 1 + Links::kSequenceBytes;

// A sequence as the format says it; nothing where the chain stops.
struct Followed {
  std::uint32_t next;
  Lz4LinkedSequence sequence;
};
template <class Links>
std::optional<Followed> follow(std::span<const std::byte> block, std::size_t begin, std::uint32_t position) {
  const auto at = [&](std::size_t p) { return static_cast<std::uint32_t>(block[begin + p]); };
  const std::size_t end = block.size() - begin;
  Lz4LinkedSequence sequence;
  std::size_t p = position;
  if (p >= end) return std::nullopt;
  const std::uint32_t token = at(p++);
  sequence.literal_count = token / 16;
  // False where the number goes on for too long, or the block ends.
  const auto extend = [&](std::uint32_t& number, std::uint32_t most_extensions) {
    for (std::uint32_t i = 0; i < most_extensions && p < end; ++i) {
      const std::uint32_t addend = at(p++);
      number += addend;
      if (addend != 255) return true;
    }
    return false;
  };
  if (sequence.literal_count == 15 && !extend(sequence.literal_count, Links::kExtensions))
    return std::nullopt;
  sequence.literal_begin = static_cast<std::uint32_t>(p);
  p += sequence.literal_count;
  if (p + 2 > end) return std::nullopt;
  sequence.offset = at(p) + 256 * at(p + 1);
  p += 2;
  sequence.match_length = token % 16 + 4;
  if (token % 16 == 15 && !extend(sequence.match_length, Links::kExtensions)) return std::nullopt;
  return Followed{static_cast<std::uint32_t>(p), sequence};
}

// Bytes of a segment. Those behind the block are anything, those out of reach must not be asked for.
template <class Links>
struct SegmentBytes {
  std::span<const std::byte> block;
  std::size_t begin;
  std::uint32_t operator()(std::uint32_t position) const {
    EXPECT_LT(position, kSegmentReach<Links>);
    return begin + position < block.size() ? static_cast<std::uint32_t>(block[begin + position])
                                           : (position * 2654435761u) >> 24;
  }
  std::uint32_t get_if(bool condition, std::uint32_t position) const {
    return condition ? (*this)(position) : 0;
  }
};
template <class Links>
struct Exits {
  std::array<std::uint32_t, kLz4SegmentBytes> entries;
  std::uint32_t get_if(bool condition, std::uint32_t position, std::uint32_t otherwise) const {
    return condition ? entries.at(position) : otherwise;
  }
  void set(std::uint32_t position, std::uint32_t exit) {
    EXPECT_EQ(exit, static_cast<typename Links::Word>(exit));
    entries[position] = exit;
  }
};

template <class Links>
void expect_exits(std::span<const std::byte> block, std::size_t begin, const std::string& name) {
  const SegmentBytes<Links> bytes{block, begin};
  Exits<Links> exits{};
  const auto end = static_cast<std::uint32_t>(block.size() - begin);
  find_lz4_exits<Links, true>(bytes, end, exits);
  if (end >= kSegmentReach<Links>) {
    Exits<Links> inner{};
    find_lz4_exits<Links, false>(bytes, 0, inner);
    ASSERT_EQ(inner.entries, exits.entries) << name << ", byte " << begin;
  }
  for (std::uint32_t entry = 0; entry < kLz4SegmentBytes; ++entry) {
    std::uint32_t position = entry, count = 0, expected = 0;
    for (;; ++count) {
      if (position >= kLz4SegmentBytes) {
        expected = position - kLz4SegmentBytes;
        break;
      }
      const auto followed = follow<Links>(block, begin, position);
      if (!followed) {
        expected = Links::kExitStops | position;
        break;
      }
      ASSERT_EQ(next_lz4_sequence<Links>(bytes, position), followed->next)
          << name << ", byte " << begin + position;
      const Lz4LinkedSequence sequence = read_lz4_sequence<Links>(bytes, position);
      ASSERT_EQ(sequence.literal_begin, followed->sequence.literal_begin) << name;
      ASSERT_EQ(sequence.literal_count, followed->sequence.literal_count) << name;
      ASSERT_EQ(sequence.offset, followed->sequence.offset) << name;
      ASSERT_EQ(sequence.match_length, followed->sequence.match_length) << name;
      position = followed->next;
    }
    ASSERT_EQ(exits.entries[entry] & Links::kExitMask, expected) << name << ", byte " << begin + entry;
    ASSERT_EQ(exits.entries[entry] >> Links::kExitBits, count) << name << ", byte " << begin + entry;
  }
}

void expect_exits_everywhere(const Bytes& block, const std::string& name) {
  for (std::size_t begin = 0; begin <= block.size(); begin += 1 + begin % 3) {
    expect_exits<ShortLinks>(block, begin, name);
    expect_exits<LongLinks>(block, begin, name);
    if (::testing::Test::HasFatalFailure()) return;
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
