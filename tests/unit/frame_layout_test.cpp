// The layout of our frames. Readers must find what follows a frame; above all the `lz4` tool of version
// 1.9.4, which takes 4 bytes too many unless the last byte is apart.
#include <gtest/gtest.h>
#include <lz4.h>

#include "format/frame_index.hpp"
#include "format/lz4/frame/lz4_frame.hpp"
#include "format/lz4/frame/lz4_frame_layout.hpp"
#include "lz4f_oracle.hpp"
#include "pipeline/frame_batch.hpp"
#include "pipeline/stream.hpp"
#include "shapes.hpp"

namespace hemstitch::testing {
namespace {

constexpr std::size_t kKB = 1024;

TEST(Lz4FrameLayout, IsTheWholeContentInFullBlocks) {
  for (const std::uint64_t block_bytes : {64 * kKB, 256 * kKB})
    for (const std::uint64_t content_bytes :
         {std::uint64_t{0}, std::uint64_t{1}, kMostUnsplitBytes, kMostUnsplitBytes + 1, block_bytes - 1,
          block_bytes, block_bytes + 1, 2 * block_bytes, 2 * block_bytes + 1, 2 * block_bytes + 2,
          7 * block_bytes - 1})
      for (const bool block_checksums : {false, true})
        for (const bool content_checksum : {false, true}) {
          const FrameLayout layout =
              lz4_frame_layout(content_bytes, block_bytes, block_checksums, content_checksum);
          EXPECT_EQ(layout.last_byte_apart, block_checksums && !content_checksum && content_bytes > 60 * kKB);
          std::uint64_t at = 0;
          for (std::uint64_t i = 0; i < layout.block_count(); ++i) {
            const auto block = layout.block(i);
            EXPECT_EQ(block.at, at);
            at += block.bytes;
            if (i + 1 < layout.body_block_count()) {
              EXPECT_EQ(block.bytes, block_bytes);
            }
            EXPECT_GT(block.bytes, 0u);
            EXPECT_LE(block.bytes, block_bytes);
          }
          EXPECT_EQ(at, content_bytes);
          if (layout.last_byte_apart) {
            EXPECT_EQ(layout.block(layout.block_count() - 1).bytes, 1u);
          }
        }
}

// Sizes around the ends of up to three full blocks.
std::vector<std::size_t> telling_sizes(std::size_t block_bytes) {
  std::vector<std::size_t> sizes{0, 1, 1000, kMostUnsplitBytes, kMostUnsplitBytes + 1};
  for (std::size_t blocks = 1; blocks <= 3; ++blocks)
    for (const std::size_t more : {-2, -1, 0, 1, 2, 30'000}) sizes.push_back(blocks * block_bytes + more);
  return sizes;
}

// Contains some noise, so that blocks are neither tiny nor stored.
Bytes content_of(std::size_t bytes) {
  Bytes content = wordy_bytes(bytes, 3);
  const Bytes noise = random_bytes(bytes / 3, 5);
  std::copy(noise.begin(), noise.end(), content.begin());
  return content;
}

Bytes pushed(const Bytes& content, const CompressOptions& options) {
  Bytes frame;
  Compressor compressor(options, [&](std::span<const std::byte> bytes) {
    frame.insert(frame.end(), bytes.begin(), bytes.end());
  });
  compressor.write(content);
  compressor.finish();
  return frame;
}

std::vector<IndexedFrame> frames_of(const Bytes& data) {
  MemorySource source(data);
  return index_frames(source).frames;
}

class WaysToWrite : public ::testing::TestWithParam<const char*> {
 protected:
  Bytes dictionary_;

  CompressOptions options() {
    CompressOptions options;
    options.block_bytes = 64 * kKB;
    const std::string way = GetParam();
    options.linked_blocks = way.find("linked") != way.npos;
    options.content_checksum = way.find("content checksum") != way.npos;
    options.block_checksums = way.find("no block checksums") == way.npos;
    if (way.find("large") != way.npos) options.block_bytes = 256 * kKB;
    if (way.find("dictionary") != way.npos) dictionary_ = wordy_bytes(64 * kKB, 7);
    if (way.find("reference") != way.npos) options.backend = "reference";
    options.dictionary = dictionary_;
    options.threads = 2;
    return options;
  }
};

INSTANTIATE_TEST_SUITE_P(, WaysToWrite,
                         ::testing::Values("plain", "large", "linked", "dictionary", "dictionary, linked",
                                           "content checksum", "no block checksums", "reference, linked"),
                         [](const auto& way) {
                           std::string name;
                           for (const char* c = way.param; *c != 0; ++c)
                             if (*c != ',') name += *c == ' ' ? '_' : *c;
                           return name;
                         });

TEST_P(WaysToWrite, FramesAreLeftWhereTheyEnd) {
  const CompressOptions options = this->options();
  const Bytes other = wordy_bytes(3000, 9), other_frame = lz4f_compress(other);
  FrameCompressor batch(options);
  LargeBuffer room = batch.make_output();
  for (const std::size_t bytes : telling_sizes(options.block_bytes)) {
    const Bytes content = content_of(bytes);
    const Bytes frame = compress(content, options), unsized = pushed(content, options);
    std::vector<Bytes> written{frame, unsized};
    if (batch.input_cost(bytes) <= batch.input_bytes()) {
      const std::span<const std::byte> input(content);
      const auto batched = batch.compress({&input, 1}, room);
      written.emplace_back(batched[0].begin(), batched[0].end());
    }

    const FrameLayout layout =
        lz4_frame_layout(bytes, options.block_bytes, options.block_checksums, options.content_checksum);
    for (const Bytes& one : written) {
      EXPECT_EQ(lz4f_restore_as_asked(one + other_frame, dictionary_), content + other) << bytes;
      EXPECT_EQ(lz4f_restore_as_asked(one + one + other_frame, dictionary_), content + content + other)
          << bytes;
      EXPECT_EQ(lz4f_restore(one + other_frame, dictionary_), content + other) << bytes;
      RestoreOptions restoring;
      restoring.dictionary = dictionary_;
      EXPECT_EQ(restore(one + other_frame, restoring), content + other) << bytes;
      const auto frames = frames_of(one);
      ASSERT_EQ(frames.size(), 1u);
      EXPECT_EQ(frames[0].block_count, layout.block_count()) << bytes;
      EXPECT_EQ(frames[0].content_bytes, bytes);
    }
    // Whether the size is known may only change the header.
    const auto behind_header = [](const Bytes& data, std::size_t header_bytes) {
      return Bytes(data.begin() + static_cast<std::ptrdiff_t>(header_bytes), data.end());
    };
    const std::size_t header_bytes = dictionary_.empty() ? 7 : 11;
    EXPECT_EQ(behind_header(frame, header_bytes + 8), behind_header(unsized, header_bytes)) << bytes;
  }
}

// Why the last byte is apart. If this fails, liblz4 is a version that no longer needs it, which does no harm.
TEST(LastByteApart, IsWhatLiblz4Needs) {
  if (LZ4_versionNumber() != 10904) GTEST_SKIP() << "skipped: this is not liblz4 1.9.4";
  LZ4F_preferences_t preferences{};
  preferences.frameInfo.blockMode = LZ4F_blockIndependent;
  preferences.frameInfo.blockChecksumFlag = LZ4F_blockChecksumEnabled;
  const Bytes content = content_of(300'000), frame = lz4f_compress(content, preferences),
              other = lz4f_compress(content);
  EXPECT_EQ(lz4f_restore(frame + other), content + content);
  EXPECT_NE(lz4f_restore_as_asked(frame + other), content + content);
  preferences.frameInfo.contentChecksumFlag = LZ4F_contentChecksumEnabled;
  EXPECT_EQ(lz4f_restore_as_asked(lz4f_compress(content, preferences) + other), content + content);
  // The largest frame without it: a much longer one does not fit into one block.
  const Bytes noise = random_bytes(kMostUnsplitBytes - 100) + equal_bytes(100);
  EXPECT_EQ(frames_of(compress(noise))[0].block_count, 1u);
  EXPECT_EQ(lz4f_restore_as_asked(compress(noise) + other), noise + content);
}

// The layout must not depend on pieces, batches or memory.
TEST(LastByteApart, IsHeldBackByStreams) {
  for (const bool linked : {false, true})
    for (const std::size_t bytes : telling_sizes(64 * kKB)) {
      const Bytes content = content_of(bytes);
      CompressOptions options;
      options.block_bytes = 64 * kKB;
      options.linked_blocks = linked;
      const Bytes expected = pushed(content, options);
      for (const unsigned threads : {1u, 3u})
        for (const std::uint64_t memory : {std::uint64_t{0}, std::uint64_t{4 * 64 * kKB}}) {
          options.threads = threads;
          options.memory_limit_bytes = memory;
          Bytes frame;
          Compressor compressor(options, [&](std::span<const std::byte> piece) {
            frame.insert(frame.end(), piece.begin(), piece.end());
          });
          for (std::size_t at = 0; at < bytes; at += 4097)
            compressor.write(std::span(content).subspan(at, std::min<std::size_t>(4097, bytes - at)));
          compressor.finish();
          ASSERT_EQ(frame, expected) << bytes;
        }
    }
}

}  // namespace
}  // namespace hemstitch::testing
