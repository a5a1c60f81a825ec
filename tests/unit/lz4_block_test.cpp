// LZ4 blocks from the twins: every level, restored by liblz4 and by our own decoder.
#include <gtest/gtest.h>
#include <lz4.h>

#include "format/lz4/block/lz4_token.hpp"
#include "format/lz4/compress/lz4_compress_reference.hpp"
#include "format/lz4/compress/lz4_encode.hpp"
#include "format/lz4/restore/lz4_restore_reference.hpp"
#include "guarded_buffer.hpp"
#include "shapes.hpp"

namespace hemstitch {
namespace {

using namespace testing;

constexpr int kDistinctLevels[] = {1, 3, 6, 9, 12};

std::size_t bound(std::size_t block_bytes) { return block_bytes + block_bytes / 255 + 16; }

Bytes compressed(const FinderInput& input, int level, std::size_t frame_block_bytes) {
  Bytes output(bound(input.block_bytes()));
  const EncodedBlock encoded =
      compress_lz4_block_reference(input, lz4_level(level, frame_block_bytes, input.history_bytes), output);
  EXPECT_EQ(encoded.status, Status::kOk);
  output.resize(encoded.bytes);
  return output;
}

// Returns nothing if liblz4 refuses the block.
std::optional<Bytes> restored_by_liblz4(std::span<const std::byte> block, std::span<const std::byte> history,
                                        std::size_t room) {
  Bytes output(room + 1);  // never empty, so that there is an address
  const int count = LZ4_decompress_safe_usingDict(
      reinterpret_cast<const char*>(block.data()), reinterpret_cast<char*>(output.data()),
      static_cast<int>(block.size()), static_cast<int>(room), reinterpret_cast<const char*>(history.data()),
      static_cast<int>(history.size()));
  if (count < 0) return std::nullopt;
  output.resize(static_cast<std::size_t>(count));
  return output;
}

void expect_restored_by_both(const FinderInput& input, std::span<const std::byte> block,
                             const std::string& what) {
  const auto history = input.data.first(input.history_bytes), raw = input.data.subspan(input.history_bytes);
  const auto theirs = restored_by_liblz4(block, history, raw.size());
  ASSERT_TRUE(theirs.has_value()) << what;
  ASSERT_TRUE(std::ranges::equal(*theirs, raw)) << what;

  Bytes ours(raw.size());
  const DecodedBlock decoded = restore_lz4_block_reference(block, history, ours);
  ASSERT_EQ(decoded.status, Status::kOk) << what;
  ASSERT_EQ(decoded.bytes, raw.size()) << what;
  ASSERT_TRUE(std::ranges::equal(ours, raw)) << what;
}

// Where the last match begins and ends, according to the tokens.
struct LastMatch {
  std::size_t start = 0, end = 0;
};
LastMatch last_match(std::span<const std::byte> block) {
  LastMatch last;
  std::size_t at = 0, position = 0;
  const auto number = [&](std::uint32_t nibble) {
    std::size_t value = nibble;
    if (nibble == 15)
      for (;;) {
        const auto byte = static_cast<std::uint32_t>(block[at++]);
        value += byte;
        if (byte != 255) break;
      }
    return value;
  };
  while (at < block.size()) {
    const auto token = static_cast<std::uint32_t>(block[at++]);
    const std::size_t literal_count = number(token >> 4);
    at += literal_count;
    position += literal_count;
    if (at >= block.size()) break;
    at += 2;
    last.start = position;
    position += number(token & 15) + 4;
    last.end = position;
  }
  return last;
}

TEST(Lz4BlockTwins, EveryLevelIsRestoredByLiblz4AndByUs) {
  struct Size {
    std::size_t most, frame_block_bytes;
  };
  for (const auto [most, frame_block_bytes] : {Size{4096, 4096}, Size{65537, 65536}, Size{65537, 262144}})
    for (const Shape& shape : boundary_shapes(most))
      for (const int level : kDistinctLevels) {
        const FinderInput input{shape.bytes, 0};
        expect_restored_by_both(input, compressed(input, level, frame_block_bytes),
                                shape.name + ", level " + std::to_string(level));
        if (HasFatalFailure()) return;
      }
}

TEST(Lz4BlockTwins, HistoriesOfUpTo64KBAreUsedAndRestored) {
  for (const Shape& shape : shapes_of(140'000))
    for (const int level : kDistinctLevels)
      for (const std::size_t history : {1, 3, 4, 31, 1000, 65534, 65535, 65536}) {
        // The longest history is followed by more than a block that matches could still reach from.
        const std::size_t block_bytes = history == 65536 ? shape.bytes.size() - history : 12'000;
        const FinderInput input{std::span(shape.bytes).first(history + block_bytes), history};
        expect_restored_by_both(
            input, compressed(input, level, 65536),
            shape.name + ", level " + std::to_string(level) + ", history " + std::to_string(history));
        if (HasFatalFailure()) return;
      }
}

TEST(Lz4BlockTwins, AHistoryMakesABlockSmaller) {
  const Bytes text = wordy_bytes(8192, 7);
  for (const int level : kDistinctLevels)
    EXPECT_LT(compressed({text, 4096}, level, 4096).size(),
              compressed({std::span(text).subspan(4096), 0}, level, 4096).size() * 9 / 10)
        << level;
}

TEST(Lz4BlockTwins, KeepsTheEndRulesOfTheFormat) {
  for (const Shape& shape : boundary_shapes(4097))
    for (const int level : kDistinctLevels) {
      const LastMatch last = last_match(compressed({shape.bytes, 0}, level, 65536));
      if (last.end == 0) continue;
      ASSERT_LE(last.end + 5, shape.bytes.size()) << shape.name;
      ASSERT_LE(last.start + 12, shape.bytes.size()) << shape.name;
    }
}

TEST(Lz4BlockTwins, NeedsNoMoreRoomThanItFills) {
  for (const Shape& shape : boundary_shapes(4097))
    for (const int level : {1, 3}) {
      const FinderInput input{shape.bytes, 0};
      const Bytes block = compressed(input, level, 65536);
      GuardedBuffer exact(block.size()), short_by_one(block.size() - 1);
      const EncodedBlock fitting =
          compress_lz4_block_reference(input, lz4_level(level, 65536), exact.bytes());
      ASSERT_EQ(fitting.status, Status::kOk) << shape.name;
      ASSERT_TRUE(std::ranges::equal(exact.bytes(), block)) << shape.name;
      ASSERT_EQ(compress_lz4_block_reference(input, lz4_level(level, 65536), short_by_one.bytes()).status,
                Status::kOutputTooSmall)
          << shape.name;
    }
}

TEST(Lz4BlockTwins, JoinsNeighboursSoThatNoLimitOfARecordShows) {
  const Bytes zeros(1'000'000, std::byte{0});
  for (const int level : kDistinctLevels) {
    const Bytes block = compressed({zeros, 0}, level, 4 << 20);
    // One literal, one match, five literals.
    EXPECT_EQ(block.size(), lz4_sequence_bytes(1, 999'994) + lz4_sequence_bytes(5, 0)) << level;
  }
}

TEST(Lz4BlockTwins, JoinsOnlyWhatIsOneMatch) {
  const Bytes bytes(40, std::byte{'a'});
  const auto size = [&](const std::vector<Sequence>& sequences) {
    Bytes output(100);
    const EncodedBlock encoded = encode_lz4_block(bytes, sequences, output);
    expect_restored_by_both({bytes, 0}, std::span(output).first(encoded.bytes), "");
    return encoded.bytes;
  };
  EXPECT_EQ(size({{1, 10, 1}, {0, 10, 1}, {19, 0, 0}}),
            lz4_sequence_bytes(1, 20) + lz4_sequence_bytes(19, 0));
  EXPECT_EQ(size({{4, 10, 1}, {0, 10, 2}, {16, 0, 0}}),
            lz4_sequence_bytes(4, 10) + lz4_sequence_bytes(0, 10) + lz4_sequence_bytes(16, 0));
  EXPECT_EQ(size({{1, 10, 1}, {1, 10, 1}, {18, 0, 0}}),
            2 * lz4_sequence_bytes(1, 10) + lz4_sequence_bytes(18, 0));
}

// Lengths around which the format needs another byte.
TEST(Lz4BlockTwins, CodesEveryLength) {
  for (std::uint32_t literal_count = 1; literal_count < 600; literal_count += literal_count < 280 ? 1 : 101)
    for (const std::uint32_t match_length :
         {4u, 5u, 17u, 18u, 19u, 20u, 272u, 273u, 274u, 275u, 528u, 529u, 70'000u}) {
      Bytes bytes = random_bytes(literal_count, literal_count);
      bytes.resize(literal_count + match_length, bytes.back());
      const std::size_t tail = bytes.size();
      bytes.resize(tail + 12, std::byte{1});
      Bytes output(bound(bytes.size()));
      const EncodedBlock encoded = encode_lz4_block(
          bytes, std::vector<Sequence>{{literal_count, match_length, 1}, {12, 0, 0}}, output);
      ASSERT_EQ(encoded.status, Status::kOk);
      ASSERT_EQ(encoded.bytes, lz4_sequence_bytes(literal_count, match_length) + lz4_sequence_bytes(12, 0));
      expect_restored_by_both(
          {bytes, 0}, std::span(output).first(encoded.bytes),
          std::to_string(literal_count) + " literals, match of " + std::to_string(match_length));
      if (HasFatalFailure()) return;
    }
}

TEST(Lz4Levels, FollowTheTable) {
  const std::uint32_t depths[] = {1, 1, 4, 4, 4, 8, 8, 8, 16, 16, 16, 64};
  for (int level = kMinLevel; level <= kMaxLevel; ++level) {
    const Lz4Level row = lz4_level(level, 65536);
    const auto* chain = std::get_if<HashChainParameters>(&row.finder);
    ASSERT_NE(chain, nullptr) << level;
    EXPECT_EQ(chain->depth, depths[level - 1]) << level;
    EXPECT_EQ(chain->stitch_reach, level <= 2 ? 4u : level <= 11 ? 8u : 16u) << level;
    EXPECT_EQ(std::holds_alternative<LazyParse>(row.parse), level <= 2) << level;
    EXPECT_EQ(std::holds_alternative<OptimalParse<Lz4CostModel>>(row.parse), level > 2) << level;
    EXPECT_EQ(std::holds_alternative<HashPairsParameters>(lz4_level(level, kPageBytes).finder), level <= 2);
    EXPECT_TRUE(std::holds_alternative<HashChainParameters>(lz4_level(level, kPageBytes, 1).finder)) << level;
  }
}

}  // namespace
}  // namespace hemstitch
