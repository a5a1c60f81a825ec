// Blocks of Zstandard restored each by itself, to symbols, which are resolved in the end: the twin of the kernels for one frame.
#include "format/zstd/stream/zstd_symbols.hpp"

#include <gtest/gtest.h>

#include "format/zstd/stream/zstd_block_places.hpp"
#include "format/zstd/stream/zstd_words.hpp"
#include "valid_data/valid_data.hpp"
#include "zstd_frames.hpp"

namespace hemstitch::testing {
namespace {

// The content of all blocks up to the first that is damaged. Of the first `history_bytes`, only bytes are known at the end.
Bytes restored_by_symbols(std::span<const std::byte> frame, std::size_t history_bytes = 0) {
  const std::size_t rest_bytes = zstd_header_rest_bytes(frame[4]);
  const std::uint64_t window_bytes = read_zstd_header(frame.subspan(4, rest_bytes))->window_bytes;
  const auto most_bytes =
      static_cast<std::size_t>(std::min<std::uint64_t>(window_bytes, kZstdMostBlockBytes));
  // Around data, decoders may read.
  Bytes data(kZstdReadBeyond);
  data.insert(data.end(), frame.begin() + static_cast<std::ptrdiff_t>(4 + rest_bytes), frame.end());
  const std::size_t data_bytes = data.size() - kZstdReadBeyond;
  data.resize(data.size() + kZstdReadBeyond);
  const auto blocks = std::span<const std::byte>(data).subspan(kZstdReadBeyond, data_bytes);
  ZstdWalk walk(most_bytes);
  ZstdBlockDecoder decoder;
  ZstdOffsets offsets;
  std::vector<std::uint32_t> symbols;
  for (const std::uint32_t at : find_zstd_blocks(blocks, ~std::size_t{0}).at) {
    const ZstdBlockHeader header = read_zstd_block_header(blocks.data() + at);
    const ZstdWalkedBlock block =
        walk.walk(header, blocks.subspan(at + kZstdBlockHeaderBytes, header.data_bytes()));
    Bytes literals(block.literals.count + kZstdReadBeyond);
    std::vector<ZstdShortSequence> sequences(std::min(block.sequences, kZstdMostSequences) +
                                             kZstdSplitSequences);
    const ZstdDecodedBlock decoded = decoder.decode(block, most_bytes, literals.data(), sequences.data());
    if (decoded.damaged) break;
    const auto begin = static_cast<std::uint32_t>(symbols.size());
    symbols.resize(begin + decoded.content_bytes);
    if (!copy_zstd_symbols(decoded, header.type, offsets, begin, window_bytes, symbols.data() + begin)) {
      symbols.resize(begin);
      break;
    }
    for (const std::uint32_t symbol : std::span(symbols).subspan(begin)) {
      EXPECT_LT(symbol & ~kZstdMark, (symbol & kZstdMark) != 0 ? begin : 256);
    }
    ZstdOffsets after;
    for (std::size_t i = 0; i < 3; ++i)
      after.offsets[i] = static_cast<std::uint32_t>(offsets.resolved(decoded.offsets.offsets[i]));
    offsets = after;
  }
  Bytes content(symbols.size());
  history_bytes = std::min(history_bytes, symbols.size());
  resolve_zstd_symbols(std::span(symbols).first(history_bytes), {}, content.data());
  resolve_zstd_symbols(std::span(symbols).subspan(history_bytes), std::span(content).first(history_bytes),
                       content.data() + history_bytes);
  return content;
}

TEST(ZstdSymbols, GiveTheContent) {
  const Bytes content =
      joined({wordy_bytes(200'000), random_bytes(150'000), runs_bytes(90'000, 3), wordy_bytes(100'000)});
  for (const int level : {1, 3, 19})
    for (const int window_log : {0, 10, 16}) {
      const Bytes frame = written_by_libzstd(content, {.level = level, .window_log = window_log});
      EXPECT_TRUE(restored_by_symbols(frame) == content) << level << " " << window_log;
      EXPECT_TRUE(restored_by_symbols(frame, 123'457) == content) << level << " " << window_log;
    }
}

TEST(ZstdSymbols, FramesThatNoEncoderWrites) {
  for (std::uint64_t seed = 0; seed < 2000; ++seed) {
    const ValidData made = valid_zstd_frame(seed, 3000);
    if (made.dictionary.empty()) {
      EXPECT_TRUE(restored_by_symbols(made.data) == made.content) << seed;
    }
  }
}

TEST(ZstdSymbols, AnOffsetBeforeTheFrameIsRefused) {
  for (const std::uint32_t offset : {100u, 101u}) {
    const ZstdSequence match{.literals = 0, .match = 5, .offset_value = offset + kZstdRepeatCount};
    HandMadeFrame frame;
    frame.raw(random_bytes(100));
    frame.compressed(joined({plain_literals({}, 1), sequences_section(std::span(&match, 1))}));
    EXPECT_EQ(restored_by_symbols(frame.end()).size(), offset == 100 ? 105 : 100);
  }
}

TEST(ZstdBlockPlaces, WholeBlocksUpToTheLast) {
  HandMadeFrame made;
  made.raw(random_bytes(10)).rle(1, 500).raw({});
  const Bytes frame = made.end();
  Bytes blocks(frame.begin() + static_cast<std::ptrdiff_t>(4 + zstd_header_rest_bytes(frame[4])),
               frame.end());
  const std::size_t bytes = blocks.size();
  blocks.push_back(std::byte{1});
  const ZstdBlockPlaces all = find_zstd_blocks(blocks, 100);
  EXPECT_EQ(all.at, (std::vector<std::uint32_t>{0, 13, 17}));
  EXPECT_EQ(all.data_bytes, bytes);
  EXPECT_TRUE(all.has_last);
  const ZstdBlockPlaces two = find_zstd_blocks(blocks, 2);
  EXPECT_EQ(two.at.size(), 2);
  EXPECT_EQ(two.data_bytes, 17);
  EXPECT_FALSE(two.has_last);
  EXPECT_EQ(find_zstd_blocks(std::span(blocks).first(16), 100).at.size(), 1);
  EXPECT_TRUE(find_zstd_blocks(numbers({6, 0, 0}), 100).at.empty());
}

}  // namespace
}  // namespace hemstitch::testing
