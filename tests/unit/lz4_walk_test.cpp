// Many lanes walk over an LZ4 block together; compared with reading it from its beginning.
#include "format/lz4/block/lz4_walk.hpp"

#include <gtest/gtest.h>
#include <lz4.h>
#include <lz4hc.h>

#include <random>

#include "lz4_walkers.hpp"
#include "shapes.hpp"

namespace hemstitch {
namespace {

using testing::Bytes;

void expect_walked_together(const testing::PaddedBlock& block, std::uint32_t walkers,
                            const std::string& name) {
  ASSERT_EQ(testing::wrong_walk(block, walkers), "") << name;
}

Bytes block_by_liblz4(std::span<const std::byte> raw, int level) {
  Bytes block(static_cast<std::size_t>(LZ4_compressBound(static_cast<int>(raw.size()))));
  const int written =
      LZ4_compress_HC(reinterpret_cast<const char*>(raw.data()), reinterpret_cast<char*>(block.data()),
                      static_cast<int>(raw.size()), static_cast<int>(block.size()), level);
  block.resize(static_cast<std::size_t>(written));
  return block;
}

TEST(Lz4Walk, FindsTheSequencesOfSoundBlocks) {
  for (const testing::Shape& shape : testing::boundary_shapes(4096)) {
    if (shape.bytes.empty()) continue;
    for (const std::uint32_t walkers : {1u, 2u, 7u, 32u})
      expect_walked_together(testing::PaddedBlock(block_by_liblz4(shape.bytes, 4)), walkers, shape.name);
    if (HasFailure()) return;
  }
}

TEST(Lz4Walk, FindsTheSequencesBeforeAnyDamage) {
  std::mt19937 random(1);
  for (int round = 0; round < 20'000; ++round) {
    const std::uint32_t alphabet = round % 3 == 0 ? 256 : round % 3 == 1 ? 40 : 3;
    Bytes block = testing::random_bytes(random() % 500, static_cast<std::uint32_t>(round), alphabet);
    // Full nibbles and 255s, which are rare in random bytes.
    for (std::byte& byte : block)
      if (random() % 8 == 0) byte = std::byte{0xFF};
    expect_walked_together(testing::PaddedBlock(block, static_cast<std::uint8_t>(random())), 32,
                           "round " + std::to_string(round));
    if (HasFailure()) return;
  }
}

TEST(Lz4Walk, StopsWhereverABlockIsCut) {
  for (const testing::Shape& shape : testing::shapes_of(1000)) {
    const Bytes block = block_by_liblz4(shape.bytes, 9);
    for (std::size_t kept = 0; kept < block.size(); kept += 3)
      expect_walked_together(
          testing::PaddedBlock(Bytes(block.begin(), block.begin() + static_cast<std::ptrdiff_t>(kept))), 32,
          shape.name);
    if (HasFailure()) return;
  }
}

// Sums must not overflow into each other if a stretch restores to the largest size.
TEST(Lz4Walk, AddsUpTheLargestSums) {
  Bytes chain(kLz4MostWalkedBytes, std::byte{255});
  chain[0] = std::byte{0x0F};
  chain.back() = std::byte{0};
  expect_walked_together(testing::PaddedBlock(chain), 32, "one long match");
  expect_walked_together(testing::PaddedBlock(Bytes(kLz4MostWalkedBytes, std::byte{0})), 32,
                         "shortest sequences");
}

}  // namespace
}  // namespace hemstitch
