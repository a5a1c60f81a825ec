// Finds which compressed files a device can restore, and where their blocks are; here they are restored block
// by block.
#include "search/compressed_texts.hpp"

#include <gtest/gtest.h>

#include "format/lz4/frame/lz4_frame.hpp"
#include "format/lz4/restore/lz4_restore_reference.hpp"
#include "gzip_members.hpp"
#include "lz4f_oracle.hpp"

namespace hemstitch {
namespace {

using testing::Bytes;
using testing::lz4f_compress;

LZ4F_preferences_t preferences(LZ4F_blockMode_t mode, bool checksums) {
  LZ4F_preferences_t preferences{};
  preferences.frameInfo.blockSizeID = LZ4F_max64KB;
  preferences.frameInfo.blockMode = mode;
  preferences.frameInfo.contentSize = checksums;
  preferences.frameInfo.contentChecksumFlag =
      checksums ? LZ4F_contentChecksumEnabled : LZ4F_noContentChecksum;
  preferences.frameInfo.blockChecksumFlag = checksums ? LZ4F_blockChecksumEnabled : LZ4F_noBlockChecksum;
  return preferences;
}

// Restores each block alone, as a device does, and checks everything that the frames promise.
Bytes restored(const Bytes& file, const FrameIndex& text) {
  Bytes all;
  for (const IndexedFrame& frame : text.frames) {
    Bytes content;
    for (const IndexedBlock& block : text.blocks_of(frame)) {
      const auto data = std::span(file).subspan(block.at, block.data_bytes);
      if (block.checksum) {
        EXPECT_EQ(lz4_checksum(data), *block.checksum);
      }
      Bytes out(data.begin(), data.end());
      if (!block.stored) {
        out.resize(frame.header.block_bytes);
        const auto result = restore_lz4_block_reference(data, {}, out);
        EXPECT_EQ(result.status, Status::kOk);
        out.resize(result.bytes);
      }
      content.insert(content.end(), out.begin(), out.end());
    }
    if (frame.header.content_bytes) {
      EXPECT_EQ(*frame.header.content_bytes, content.size());
    }
    if (frame.content_checksum) {
      EXPECT_EQ(lz4_checksum(content), *frame.content_checksum);
    }
    all.insert(all.end(), content.begin(), content.end());
  }
  return all;
}

TEST(CompressedTexts, IndependentBlocksOfAllFramesAreFound) {
  for (const std::size_t bytes : {0u, 1u, 1000u, 65536u, 65537u, 300'000u})
    for (const bool checksums : {false, true}) {
      const Bytes content = testing::mixed_bytes(bytes, 3);
      const Bytes frame = lz4f_compress(content, preferences(LZ4F_blockIndependent, checksums));
      const auto one = index_text(frame);
      ASSERT_TRUE(one) << bytes;
      EXPECT_EQ(restored(frame, *one), content);
      const Bytes twice = testing::operator+(frame, frame);
      const auto two = index_text(twice);
      ASSERT_TRUE(two) << bytes;
      EXPECT_EQ(restored(twice, *two), testing::operator+(content, content));
    }
}

TEST(CompressedTexts, LinkedBlocksAreLeftUnlessTheFirstAloneIsCompressed) {
  const Bytes one_block = testing::wordy_bytes(60'000), more = testing::wordy_bytes(70'000);
  const Bytes frame = lz4f_compress(one_block, preferences(LZ4F_blockLinked, true));
  const auto text = index_text(frame);
  ASSERT_TRUE(text);
  EXPECT_EQ(restored(frame, *text), one_block);
  EXPECT_FALSE(index_text(lz4f_compress(more, preferences(LZ4F_blockLinked, true))));
  // Stored blocks do not depend on others, for example a last byte that is apart.
  CompressOptions linked;
  linked.block_bytes = 64 << 10;
  linked.linked_blocks = true;
  for (const std::size_t bytes : {65535u, 65536u, 65537u, 66000u}) {
    const Bytes content = testing::wordy_bytes(bytes), ours = compress(content, linked);
    const auto found = index_text(ours);
    ASSERT_EQ(found.has_value(), bytes <= 65537u) << bytes;
    if (!found) continue;
    EXPECT_EQ(found->blocks.size(), 2u);
    EXPECT_EQ(restored(ours, *found), content);
  }
}

// A short file of one gzip member counts as one block; BGZF has blocks of its own.
TEST(CompressedTexts, ShortStreamsAreOneBlock) {
  const Bytes content = testing::wordy_bytes(50'000);
  const Bytes member = testing::gzip_member(content, {.name = "name", .header_checksum = true});
  const auto text = index_text(member);
  ASSERT_TRUE(text);
  ASSERT_EQ(text->blocks.size(), 1u);
  EXPECT_EQ(text->blocks[0].content_bytes, content.size());
  EXPECT_EQ(text->blocks[0].content_checksum, checksum_of(Checksum::kCrc32, content));
  const Bytes data = testing::zlib_stream(content);
  EXPECT_TRUE(std::ranges::equal(text->blocks[0].data(member), data));
  EXPECT_EQ(index_text(testing::bgzf_file(content, 10'000))->blocks.size(), 5u);
  // A wrong header checksum; more content than one thread of a device should restore; more content than so
  // little data can have.
  EXPECT_FALSE(index_text(testing::changed_at(member, 12)));
  EXPECT_FALSE(index_text(testing::gzip_member(testing::equal_bytes((1 << 20) + 1))));
  EXPECT_TRUE(index_text(testing::gzip_member(testing::random_bytes(1 << 20))));
  EXPECT_FALSE(index_text(testing::gzip_member(testing::random_bytes((1 << 20) + 1))));
  const Bytes empty = testing::gzip_member({});
  EXPECT_FALSE(index_text(testing::changed_at(empty, empty.size() - 2)));
  TextRestorer restorer(std::size_t{4} << 20);
  EXPECT_TRUE(std::ranges::equal(restorer.restore(member).value(), content));
  EXPECT_FALSE(restorer.restore(testing::changed_at(member, member.size() - 8)));
  EXPECT_FALSE(restorer.restore(testing::changed_at(member, member.size() - 4)));
  EXPECT_FALSE(restorer.restore(testing::operator+(member, member)));
}

TEST(CompressedTexts, EverythingElseIsLeft) {
  const Bytes frame = lz4f_compress(testing::wordy_bytes(100'000), preferences(LZ4F_blockIndependent, true));
  for (std::size_t bytes = 0; bytes < frame.size(); bytes += bytes < 40 ? 1 : 997)
    EXPECT_FALSE(index_text(std::span(frame).first(bytes))) << bytes;
  EXPECT_FALSE(index_text(testing::operator+(frame, testing::bytes_of("behind"))));
  Bytes header = frame;
  header[5] ^= std::byte{0x10};
  EXPECT_FALSE(index_text(header));
  EXPECT_FALSE(index_text(testing::operator+(testing::bytes_of("\x50\x2A\x4D\x18"), Bytes(4))));  // skippable
  EXPECT_FALSE(index_text(testing::bytes_of("\x02\x21\x4C\x18")));                                // legacy
}

TEST(TextRestorer, RestoresOneFileAfterAnother) {
  TextRestorer restorer(std::size_t{4} << 20);
  for (const std::size_t bytes : {300'000u, 0u, 1u, 65536u, 65537u, 1000u, 2'000'000u})
    for (const bool checksums : {false, true})
      for (const Bytes& content : {testing::mixed_bytes(bytes, 3), testing::random_bytes(bytes)}) {
        const Bytes frame = lz4f_compress(content, preferences(LZ4F_blockIndependent, checksums));
        const auto one = restorer.restore(frame);
        ASSERT_TRUE(one) << bytes;
        EXPECT_EQ(Bytes(one->begin(), one->end()), content);
        const auto two = restorer.restore(testing::operator+(frame, frame));
        ASSERT_TRUE(two) << bytes;
        EXPECT_EQ(Bytes(two->begin(), two->end()), testing::operator+(content, content));
      }
  EXPECT_FALSE(restorer.restore(lz4f_compress(Bytes(5'000'000), preferences(LZ4F_blockIndependent, true))));
}

// Wherever a byte is wrong, a checksum or a size reveals it.
TEST(TextRestorer, LeavesWhatIsDamaged) {
  TextRestorer restorer(std::size_t{4} << 20);
  const Bytes content = testing::operator+(testing::wordy_bytes(70'000), testing::random_bytes(70'000));
  const Bytes frame = lz4f_compress(content, preferences(LZ4F_blockIndependent, true));
  for (std::size_t at = 0; at < frame.size(); at += at < 40 ? 1 : 997) {
    Bytes damaged = frame;
    damaged[at] ^= std::byte{0x04};
    EXPECT_FALSE(restorer.restore(damaged)) << at;
    EXPECT_FALSE(restorer.restore(std::span(frame).first(at))) << at;
  }
  // Without checksums of blocks and content, anything may be restored, but only within the memory.
  const Bytes unchecked = lz4f_compress(content, preferences(LZ4F_blockIndependent, false));
  for (std::size_t at = 0; at < unchecked.size(); at += 97) {
    Bytes damaged = unchecked;
    damaged[at] ^= std::byte{0xFF};
    const auto restored = restorer.restore(damaged);
    EXPECT_LE(restored ? restored->size() : 0, 3u * 65536) << at;
  }
}

}  // namespace
}  // namespace hemstitch
