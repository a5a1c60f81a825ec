// DEFLATE from the twins; zlib's inflate judges every stream.
#include <gtest/gtest.h>

#include <map>

#include "format/deflate/compress/deflate_chunk.hpp"
#include "format/deflate/compress/deflate_compress_reference.hpp"
#include "format/deflate/compress/pack/deflate_encode.hpp"
#include "guarded_buffer.hpp"
#include "shapes.hpp"
#include "zlib_oracle.hpp"

namespace hemstitch::testing {
namespace {

constexpr int kLevels[] = {1, 3, 6, 9, 12};  // the levels between have the same definitions

Bytes compressed(const FinderInput& input, int level, DeflateEnd end) {
  Bytes output(deflate_data_room(input.block_bytes()));
  const EncodedBlock encoded = compress_deflate_block_reference(input, deflate_level(level), end, output);
  EXPECT_EQ(encoded.status, Status::kOk);
  output.resize(encoded.bytes);
  return output;
}

// Both kinds of end of a block, restored by zlib.
void expect_restores(const FinderInput& input, int level, const std::string& name) {
  const auto history = input.data.first(input.history_bytes);
  const auto content = input.data.subspan(input.history_bytes);
  const Bytes last = compressed(input, level, DeflateEnd::kFinal);
  const auto whole = inflated_by_zlib(last, ZlibKind::kDeflate, history);
  ASSERT_TRUE(whole && std::ranges::equal(*whole, content)) << name << ", level " << level;

  // After a flush another stream may follow, here the smallest one.
  Bytes joined = compressed(input, level, DeflateEnd::kFlush);
  const Bytes nothing = compressed({}, level, DeflateEnd::kFinal);
  joined.insert(joined.end(), nothing.begin(), nothing.end());
  const auto flushed = inflated_by_zlib(joined, ZlibKind::kDeflate, history);
  ASSERT_TRUE(flushed && std::ranges::equal(*flushed, content)) << name << ", flushed, level " << level;
}

TEST(DeflateCompress, EveryShapeRestoresAtEveryLevel) {
  for (const Shape& shape : boundary_shapes(4097))
    for (const int level : kLevels) expect_restores({shape.bytes, 0}, level, shape.name);
}

TEST(DeflateCompress, EveryShapeRestoresAroundTheSizeOfAChunk) {
  for (const std::size_t count : {65280, 65535, 65536, 65537, 131073})
    for (const Shape& shape : shapes_of(count)) {
      const int level = kLevels[(count + shape.name.size()) % std::size(kLevels)];
      expect_restores({shape.bytes, 0}, level, shape.name);
    }
}

TEST(DeflateCompress, BlocksAsLargeAsTheyMayBeRestore) {
  expect_restores({mixed_bytes((1 << 20) - 1, 3), 0}, 1, "mixed");
  expect_restores({mixed_bytes(1 << 20, 4), 0}, 6, "mixed");
  expect_restores({mixed_bytes((1 << 20) + 1, 3), 0}, 1, "mixed");
  expect_restores({copied_bytes(1 << 20, 3), 0}, 9, "copies");
  expect_restores({wordy_bytes(300'000, 3), 0}, 12, "words");
}

TEST(DeflateCompress, MatchesReachIntoTheHistory) {
  for (const FinderCase& finder_case : finder_cases(5000))
    for (const int level : kLevels) expect_restores(finder_case.input(), level, finder_case.name);
  // The greatest distance, and one byte more.
  for (const std::size_t distance : {32767, 32768, 32769}) {
    Bytes data = random_bytes(distance, 5);
    const Bytes again(data.begin(), data.begin() + 200);
    data = data + again;
    for (const int level : kLevels) {
      const FinderInput input{data, distance};
      // For zlib, only the last 32 KB are history; our own code uses none before them.
      const Bytes block = compressed(input, level, DeflateEnd::kFinal);
      const auto history = std::span<const std::byte>(data).first(distance);
      EXPECT_EQ(
          inflated_by_zlib(block, ZlibKind::kDeflate, history.last(std::min<std::size_t>(distance, 32768))),
          again);
      EXPECT_EQ(block.size() < 20, distance <= 32768) << distance << " bytes back, level " << level;
    }
  }
}

TEST(DeflateCompress, BlocksOfAStreamFollowEachOther) {
  constexpr std::size_t kBlockBytes = 100'000;
  const Bytes content = mixed_bytes(1'000'000, 11);
  for (const int level : {1, 6}) {
    Bytes stream;
    for (std::size_t begin = 0; begin < content.size(); begin += kBlockBytes) {
      const std::size_t history = std::min<std::size_t>(begin, kDeflateWindowBytes);
      const std::size_t bytes = std::min(kBlockBytes, content.size() - begin);
      const FinderInput input{std::span(content).subspan(begin - history, history + bytes), history};
      const bool last = begin + bytes == content.size();
      stream = stream + compressed(input, level, last ? DeflateEnd::kFinal : DeflateEnd::kFlush);
    }
    EXPECT_EQ(inflated_by_zlib(stream, ZlibKind::kDeflate), content);
  }
}

TEST(DeflateCompress, NoContentIsAnEmptyBlock) {
  for (const int level : kLevels) {
    EXPECT_EQ(compressed({}, level, DeflateEnd::kFinal), (Bytes{std::byte{3}, std::byte{0}}));
    EXPECT_EQ(compressed({}, level, DeflateEnd::kFlush),
              (Bytes{std::byte{0}, std::byte{0}, std::byte{0}, std::byte{0xFF}, std::byte{0xFF}}));
  }
}

TEST(DeflateCompress, NoContentTakesMoreThanIsSaid) {
  const auto expect_fits = [](const Bytes& content, std::initializer_list<int> levels) {
    for (const DeflateEnd end : {DeflateEnd::kFlush, DeflateEnd::kFinal})
      for (const int level : levels) {
        EXPECT_LE(compressed({content, 0}, level, end).size(), deflate_data_room(content.size()));
      }
  };
  for (const std::size_t count : {1, 2, 65535, 65536, 65537, 131072})
    expect_fits(random_bytes(count, 7), {1, 6, 12});
  // Stored chunks follow chunks that end at any bit.
  for (std::uint32_t seed = 0; seed < 8; ++seed)
    expect_fits(wordy_bytes(65536, seed) + random_bytes(65536, seed), {1});
  expect_fits(wordy_bytes(65536, 8) + random_bytes(65536, 8) + wordy_bytes(65536, 9) + random_bytes(65536, 9),
              {6, 12});
  // Stored, the largest size: 10 bytes for each full chunk, and the empty block at the end.
  const Bytes noise = random_bytes(10 * kDeflateChunkBytes);
  EXPECT_EQ(compressed({noise, 0}, 6, DeflateEnd::kFlush).size(), noise.size() + 105);
}

TEST(DeflateCompress, WritesNothingBehindItsRoom) {
  for (const Bytes& content : {wordy_bytes(3000, 1), random_bytes(3000, 1), wordy_bytes(70'000, 2), Bytes{}})
    for (const DeflateEnd end : {DeflateEnd::kFlush, DeflateEnd::kFinal}) {
      const FinderInput input{content, 0};
      const Bytes whole = compressed(input, 6, end);
      GuardedBuffer exact(whole.size());
      EXPECT_EQ(compress_deflate_block_reference(input, deflate_level(6), end, exact.bytes()).status,
                Status::kOk);
      EXPECT_TRUE(std::ranges::equal(whole, exact.bytes()));
      for (const std::size_t missing : {std::size_t{1}, std::size_t{2}, whole.size() / 2, whole.size()}) {
        if (missing == 0 || missing > whole.size()) continue;
        GuardedBuffer small(whole.size() - missing);
        EXPECT_EQ(compress_deflate_block_reference(input, deflate_level(6), end, small.bytes()).status,
                  Status::kOutputTooSmall);
      }
    }
}

// How often each type of block and each length of a match occurs.
struct Census {
  std::map<DeflateBlockType, int> types;
  std::map<unsigned, int> match_lengths;
  std::uint32_t largest_offset = 0;
  std::size_t parts = 0;
};

Census census_of(const FinderInput& input, int level) {
  const DeflateLevel how = deflate_level(level);
  const MatchRecords records = find_hash_chain(input, how.finder);
  const NearOffsets near = find_near_three(input, how.near);
  const auto content = input.data.subspan(input.history_bytes);
  const DeflateChunk chunk = make_deflate_chunk(content, records, near, how);
  Census census;
  census.parts = chunk.parts.size();
  for (const DeflateChunkPart& part : chunk.parts) ++census.types[part.block.type];
  for (const DeflateToken& token : chunk.tokens) {
    ++census.match_lengths[token.match_length];
    if (token.match_length != 0)
      census.largest_offset = std::max<std::uint32_t>(census.largest_offset, token.value);
  }
  return census;
}

TEST(DeflateChunk, HasWhatTheFormatKnows) {
  const Census runs = census_of({equal_bytes(65536), 0}, 6);
  EXPECT_GE(runs.match_lengths.at(258), 250);
  EXPECT_EQ(runs.types.at(DeflateBlockType::kDynamic), 1);
  EXPECT_EQ(census_of({random_bytes(65536), 0}, 6).types.at(DeflateBlockType::kStored), 1);
  EXPECT_EQ(census_of({bytes_of("hello hello"), 0}, 6).types.at(DeflateBlockType::kFixed), 1);
  EXPECT_EQ(census_of({periodic_bytes(65536, 32768), 0}, 6).largest_offset, 32768u);
  EXPECT_GT(census_of({wordy_bytes(60'000), 0}, 6).match_lengths.at(3), 0);
}

TEST(DeflateChunk, CodesOf15BitsRestore) {
  // Literals whose frequencies are Fibonacci numbers, in an order without matches.
  Bytes content;
  std::uint32_t count = 1, before = 1;
  std::vector<std::uint32_t> counts;
  while (counts.size() < 20) {
    counts.push_back(count);
    std::swap(count, before);
    count += before;
  }
  std::mt19937 random(1);
  for (std::size_t symbol = 0; symbol < counts.size(); ++symbol)
    content.insert(content.end(), counts[symbol], static_cast<std::byte>(symbol));
  for (std::size_t i = content.size(); i > 1; --i) std::swap(content[i - 1], content[random() % i]);
  content.resize(std::min<std::size_t>(content.size(), kDeflateChunkBytes));
  // No matches are found, so there are only literals.
  const DeflateLevel level = deflate_level(6);
  const DeflateChunk chunk =
      make_deflate_chunk(content, MatchRecords(content.size(), 0), NearOffsets(content.size(), 0), level);
  ASSERT_EQ(chunk.parts.size(), 1u);
  EXPECT_EQ(chunk.parts[0].block.type, DeflateBlockType::kDynamic);
  EXPECT_EQ(*std::ranges::max_element(chunk.parts[0].block.lengths.litlen), 15);
  Bytes output(deflate_data_room(content.size()));
  DeflateBitWriter writer(output);
  put_deflate_block(chunk.parts[0].block, chunk.tokens, content, true, writer);
  writer.pad_to_byte();
  // The size was computed before.
  EXPECT_EQ(writer.bytes(), (chunk.parts[0].block.bits + 7) / 8);
  EXPECT_EQ(inflated_by_zlib(std::span(output).first(writer.bytes()), ZlibKind::kDeflate), content);
}

TEST(DeflateChunk, IsSplitWhereItsContentChanges) {
  const Bytes halves = random_bytes(32768, 1, 16) + wordy_bytes(32768, 2);
  EXPECT_GE(census_of({halves, 0}, 12).parts, 2u);
  EXPECT_LT(compressed({halves, 0}, 12, DeflateEnd::kFinal).size(),
            compressed({halves, 0}, 9, DeflateEnd::kFinal).size());
  EXPECT_EQ(census_of({halves, 0}, 9).parts, 1u);
  EXPECT_EQ(census_of({equal_bytes(65536), 0}, 12).parts, 1u);
}

TEST(DeflateChunk, DependsOnNothingOfOtherChunks) {
  // Other content before it that the windows do not reach must not change the chunk.
  const Bytes tail = wordy_bytes(32768 + 65536, 5);
  const FinderInput a{tail, 32768};
  const Bytes expected = compressed(a, 6, DeflateEnd::kFinal);
  const Bytes longer = random_bytes(65536, 9) + random_bytes(32768, 9) + tail;
  const FinderInput b{std::span<const std::byte>(longer).subspan(98304 - 32768), 65536};
  EXPECT_EQ(compressed(b, 6, DeflateEnd::kFinal), expected);
}

}  // namespace
}  // namespace hemstitch::testing
