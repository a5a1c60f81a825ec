// Walking an LZ4 block by many at once (lz4_walk.hpp), done here by one after the other, against reading it from its
// beginning.
#include "format/lz4/lz4_walk.hpp"

#include <gtest/gtest.h>
#include <lz4.h>
#include <lz4hc.h>

#include <algorithm>
#include <random>

#include "shapes.hpp"

namespace hemstitch {
namespace {

using testing::Bytes;

// The block with room behind it for what a step may read too much.
class Padded {
 public:
  explicit Padded(const Bytes& block, std::uint8_t padding = 0xFF)
      : size_(static_cast<std::uint32_t>(block.size())),
        bytes_(block.size() + kLz4StepOverread + 128, padding) {
    std::transform(block.begin(), block.end(), bytes_.begin(),
                   [](std::byte byte) { return static_cast<std::uint8_t>(byte); });
  }
  const std::uint8_t* data() const { return bytes_.data(); }
  std::uint32_t size() const { return size_; }

 private:
  std::uint32_t size_;
  std::vector<std::uint8_t> bytes_;
};

// What is walked of a block, read as its definition says.
struct Read {
  std::vector<std::uint32_t>
      begins;  // of sequences with a match that are complete, up to the first that is not
  std::uint32_t stopped_at = 0;
  std::uint64_t bytes = 0, pieces = 0;
};

Read read_in_order(const Padded& block) {
  Read read;
  const std::uint8_t* bytes = block.data();
  for (;;) {
    std::uint64_t at = read.stopped_at;
    const auto number = [&](std::uint64_t& value) {
      if (value < 15) return true;
      for (;;) {
        if (at >= block.size()) return false;
        value += bytes[at];
        if (bytes[at++] != 255) return true;
      }
    };
    if (at >= block.size()) return read;
    const std::uint32_t token = bytes[at++];
    std::uint64_t literals = token >> 4, code = token & 15;
    if (!number(literals)) return read;
    at += literals + 2;
    if (at > block.size() || !number(code)) return read;
    read.begins.push_back(read.stopped_at);
    read.stopped_at = static_cast<std::uint32_t>(at);
    read.bytes += literals + code + 4;
    read.pieces += literals == 0 ? 1 : 2;
  }
}

// What walkers found, each from where it began.
void expect_found(const Padded& block, const std::vector<std::uint32_t>& entry,
                  const std::vector<Lz4Walk>& walk, const std::string& name) {
  const Read expected = read_in_order(block);
  std::vector<std::uint32_t> begins;
  std::uint64_t bytes = 0;
  std::uint32_t pieces = 0;
  for (std::size_t i = 0; i < walk.size(); ++i) {
    std::uint32_t at = entry[i] & ~kLz4WalkStopped;
    while (at < (walk[i].left_at & ~kLz4WalkStopped)) {
      begins.push_back(at);
      at = read_lz4_step(block.data(), at, block.size()).next;
    }
    bytes += walk[i].sums & kLz4BytesMask;
    pieces += walk[i].sums >> kLz4PieceShift;
  }
  ASSERT_EQ(begins, expected.begins) << name;
  ASSERT_EQ(walk.back().left_at & ~kLz4WalkStopped, expected.stopped_at) << name;
  ASSERT_EQ(bytes, expected.bytes) << name;
  ASSERT_EQ(pieces, expected.pieces) << name;
}

struct Exits {
  std::vector<std::uint16_t>& exits;
  std::uint32_t get(std::uint32_t byte) const { return exits.at(byte); }
  std::uint32_t get_if(bool condition, std::uint32_t byte, std::uint32_t otherwise) const {
    return condition ? get(byte) : otherwise;
  }
  void set(std::uint32_t byte, std::uint32_t exit) const {
    exits.at(byte) = static_cast<std::uint16_t>(exit);
  }
};

// As the lanes of a warp do it, with no exchange until all have walked; and by tables.
void expect_walked_together(const Padded& block, std::uint32_t walkers, const std::string& name) {
  const std::uint32_t segment_bytes = std::max<std::uint32_t>((block.size() + walkers - 1) / walkers, 1);
  std::vector<std::uint32_t> entry(walkers);
  std::vector<Lz4Walk> walk(walkers);
  const auto walk_from = [&](std::uint32_t i, std::uint32_t from) {
    entry[i] = from;
    walk[i] = walk_lz4(block.data(), from, std::min((i + 1) * segment_bytes, block.size()), block.size());
  };
  for (std::uint32_t i = 0; i < walkers; ++i) {
    const std::uint32_t begin = i * segment_bytes;
    walk_from(i, i == 0 || begin >= block.size() ? begin : likely_lz4_begin(block.data(), begin, 4096));
  }
  for (std::uint32_t rounds = 0;; ++rounds) {
    ASSERT_LE(rounds, walkers) << name;
    const std::vector<Lz4Walk> before = walk;
    bool changed = false;
    for (std::uint32_t i = 1; i < walkers; ++i)
      if (before[i - 1].left_at != entry[i]) {
        walk_from(i, before[i - 1].left_at);
        changed = true;
      }
    if (!changed) break;
  }
  expect_found(block, entry, walk, name + ", by guesses");

  std::uint32_t left_at = 0;
  for (std::uint32_t i = 0; i < walkers; ++i) {
    const std::uint32_t begin = i * segment_bytes;
    std::vector<std::uint16_t> exits(lz4_exit_entries(segment_bytes));
    tabulate_lz4_exits(block.data(), begin, segment_bytes, block.size(), Exits{exits});
    walk_from(i, left_at);
    left_at = pass_lz4_segment(block.data(), left_at, begin, segment_bytes, block.size(), Exits{exits});
  }
  expect_found(block, entry, walk, name + ", by tables");
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
      expect_walked_together(Padded(block_by_liblz4(shape.bytes, 4)), walkers, shape.name);
    if (HasFailure()) return;
  }
}

TEST(Lz4Walk, FindsTheSequencesBeforeAnyDamage) {
  std::mt19937 random(1);
  for (int round = 0; round < 20'000; ++round) {
    const std::uint32_t alphabet = round % 3 == 0 ? 256 : round % 3 == 1 ? 40 : 3;
    Bytes block = testing::random_bytes(random() % 500, static_cast<std::uint32_t>(round), alphabet);
    // Full nibbles and 255s, which hardly come by chance.
    for (std::byte& byte : block)
      if (random() % 8 == 0) byte = std::byte{0xFF};
    expect_walked_together(Padded(block, static_cast<std::uint8_t>(random())), 32,
                           "round " + std::to_string(round));
    if (HasFailure()) return;
  }
}

TEST(Lz4Walk, StopsWhereverABlockIsCut) {
  for (const testing::Shape& shape : testing::shapes_of(1000)) {
    const Bytes block = block_by_liblz4(shape.bytes, 9);
    for (std::size_t kept = 0; kept < block.size(); kept += 3)
      expect_walked_together(Padded(Bytes(block.begin(), block.begin() + static_cast<std::ptrdiff_t>(kept))),
                             32, shape.name);
    if (HasFailure()) return;
  }
}

// Sums must not run into each other where a stretch restores as much as it can.
TEST(Lz4Walk, AddsUpTheLargestSums) {
  Bytes chain(kLz4MostWalkedBytes, std::byte{255});
  chain[0] = std::byte{0x0F};
  chain.back() = std::byte{0};
  expect_walked_together(Padded(chain), 32, "one long match");
  expect_walked_together(Padded(Bytes(kLz4MostWalkedBytes, std::byte{0})), 32, "shortest sequences");
}

}  // namespace
}  // namespace hemstitch
