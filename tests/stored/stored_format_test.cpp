// A format that was added to the table works everywhere that LZ4 works, although no code outside knows its
// name.
#include "stored_format.hpp"

#include <gtest/gtest.h>

#include "collect_sink.hpp"
#include "engine/registry.hpp"
#include "format/formats.hpp"
#include "format/frame_index.hpp"
#include "format/identify.hpp"
#include "pipeline/frame_batch.hpp"
#include "pipeline/stream.hpp"
#include "search/compressed_texts.hpp"
#include "shapes.hpp"
#include "skippable_frames.hpp"
#include "threads.hpp"

namespace hemstitch::testing {
namespace {

class StoredFormatTest : public ::testing::Test {
 protected:
  static void SetUpTestSuite() {
    FormatTable::instance().add(
        {.format = std::make_unique<StoredFormat>(), .reference = std::make_unique<StoredCodec>()});
  }

  static CompressOptions writing() {
    CompressOptions options;
    options.format = kStored;
    options.backend = "reference";
    options.block_bytes = kStoredBlockSizes[0];
    options.threads = 2;
    return options;
  }
  static RestoreOptions reading() {
    RestoreOptions options;
    options.backend = "reference";
    options.threads = 2;
    return options;
  }
  static Status status_of_restoring(std::span<const std::byte> frame) {
    try {
      restore(frame, reading());
      return Status::kOk;
    } catch (const Error& error) {
      return error.status();
    }
  }
};

TEST_F_WITH_THREADS(StoredFormatTest, GoesThroughTheStreams) {
  for (const std::size_t bytes : {0u, 1u, 65536u, 65537u, 3'000'000u}) {
    const Bytes content = mixed_bytes(bytes);
    MemorySource source(content);
    CollectSink frame;
    const StreamReport written = compress_stream(source, frame, writing());
    const std::size_t blocks = (bytes + 65535) / 65536;
    EXPECT_EQ(frame.content.size(), 16 + 4 * blocks + bytes + 8);
    EXPECT_EQ(written.block_count, blocks);

    MemorySource back(frame.content);
    CollectSink restored;
    const StreamReport read = restore_stream(back, restored, reading());
    EXPECT_EQ(restored.content, content);
    EXPECT_EQ(read.block_count, blocks);
    EXPECT_FALSE(read.trailing_garbage_at);
  }
}

TEST_F(StoredFormatTest, IsKnownByItsFirstBytesAndItsName) {
  const Bytes frame = compress(mixed_bytes(100), writing());
  EXPECT_EQ(identify_data(frame).kind, DataKind::kFrame);
  EXPECT_EQ(FormatTable::instance().of_name("stored")->suffix(), ".stored");
  EXPECT_EQ(FormatTable::instance().titles_told_by_content(), "LZ4, gzip, Zstandard or Stored");
  EXPECT_EQ(FormatTable::instance().suffixes(), ".lz4, .gz, .zz, .zst or .stored");
  const FormatName last = format_names().back();
  EXPECT_EQ(last.format, kStored);
  EXPECT_EQ(last.name, "stored");
  EXPECT_EQ(last.suffix, ".stored");
  const Bytes nothing(20);
  EXPECT_EQ(status_of_restoring(nothing), Status::kUnknownFormat);
}

TEST_F(StoredFormatTest, IsListed) {
  const Bytes content = mixed_bytes(200'000), frame = compress(content, writing());
  const Bytes two = [&] {
    Bytes joined = frame;
    joined.insert(joined.end(), frame.begin(), frame.end());
    joined.push_back(std::byte{1});
    return joined;
  }();
  MemorySource source(two);
  const FrameIndex index = index_frames(source);
  ASSERT_EQ(index.frames.size(), 2u);
  EXPECT_EQ(index.frames[1].at, frame.size());
  EXPECT_EQ(index.frames[1].bytes, frame.size());
  EXPECT_EQ(index.frames[1].block_count, 4u);
  EXPECT_EQ(index.frames[1].header.kind, "stored");
  EXPECT_EQ(index.content_bytes(), 2 * content.size());
  EXPECT_EQ(index.trailing_garbage_at, 2 * frame.size());
}

TEST_F(StoredFormatTest, SkippableFramesMayComeFirst) {
  const Bytes content = mixed_bytes(200'000);
  const Bytes file = skippable_frame(5) + skippable_frame(0) + compress(content, writing());
  EXPECT_EQ(restore(file, reading()), content);
  EXPECT_EQ(status_of_restoring(skippable_frame(5)), Status::kOk);
  MemorySource source(file);
  const FrameIndex index = index_frames(source);
  ASSERT_EQ(index.frames.size(), 3u);
  EXPECT_EQ(index.format, &FormatTable::instance().of(kStored));
  EXPECT_TRUE(index.frames[1].skippable);
  EXPECT_EQ(index.frames[1].at, 13u);
  EXPECT_EQ(index.frames[2].at, 21u);
  EXPECT_EQ(index.frames[2].bytes, file.size() - 21);
}

TEST_F(StoredFormatTest, RangesAreRestored) {
  const Bytes content = mixed_bytes(500'000);
  CompressOptions without_size = writing();
  CollectSink pushed;
  Compressor compressor(without_size, [&](std::span<const std::byte> piece) { pushed.write(piece); });
  compressor.write(content);
  compressor.finish();
  for (const Bytes& frame : {compress(content, writing()), pushed.content})
    for (const auto& [begin, end] :
         {std::pair{0, 10}, {65'530, 65'540}, {300'000, 499'999}, {499'999, 500'000}}) {
      MemorySource source(frame);
      CollectSink part;
      restore_range(source, part, begin, end, reading());
      EXPECT_EQ(part.content, Bytes(content.begin() + begin, content.begin() + end));
    }
}

TEST_F(StoredFormatTest, ManyInputsAreFramesOfTheirOwn) {
  std::vector<Bytes> contents{mixed_bytes(10), {}, mixed_bytes(100'000), mixed_bytes(65'536)};
  const std::vector<std::span<const std::byte>> inputs(contents.begin(), contents.end());
  FrameCompressor compressor(writing());
  LargeBuffer output = compressor.make_output();
  const auto frames = compressor.compress(inputs, output);
  FrameRestorer restorer(reading());
  LargeBuffer room = restorer.make_output();
  const auto restored = restorer.restore(frames, room);
  ASSERT_EQ(restored.size(), contents.size());
  for (std::size_t i = 0; i < contents.size(); ++i) {
    ASSERT_TRUE(restored[i].content);
    EXPECT_EQ(Bytes(restored[i].content->begin(), restored[i].content->end()), contents[i]);
  }
}

TEST_F(StoredFormatTest, EveryTruncatedFrameIsTold) {
  const Bytes frame = compress(mixed_bytes(70'000), writing());
  for (std::size_t bytes = 4; bytes < frame.size();
       bytes += bytes < 40 || bytes + 40 > frame.size() ? 1 : 997)
    EXPECT_EQ(status_of_restoring(std::span(frame).first(bytes)), Status::kTruncated) << bytes;
}

TEST_F(StoredFormatTest, EveryDamagedByteIsToldOrMeansTheSame) {
  const Bytes content = mixed_bytes(70'000), frame = compress(content, writing());
  for (std::size_t at = 0; at < frame.size(); at += at < 40 || at + 40 > frame.size() ? 1 : 997)
    for (const int bit : {0, 3, 7}) {
      Bytes damaged = frame;
      damaged[at] ^= std::byte{1} << bit;
      try {
        EXPECT_EQ(restore(damaged, reading()), content) << "byte " << at;
        EXPECT_GE(at, 4u);
        EXPECT_LT(at, 8u) << "of the frame, the block size alone may be another";
      } catch (const Error& error) {
        const StatusFamily family = status_family(error.status());
        EXPECT_TRUE(family == StatusFamily::kFormat || family == StatusFamily::kCorrupt) << error.what();
      }
    }
}

TEST_F(StoredFormatTest, BackendsWithoutACodecRefuseIt) {
  CompressOptions by_cpu = writing();
  by_cpu.backend = "cpu";
  EXPECT_THROW(compress({}, by_cpu), Error);
  const Bytes frame = compress(mixed_bytes(100), writing());
  EXPECT_THROW(restore(frame), Error);
  EXPECT_FALSE(TextRestorer(1 << 20).restore(frame));
  CompressOptions large_blocks = writing();
  large_blocks.block_bytes = 4 << 20;
  EXPECT_THROW(compress({}, large_blocks), Error);
}

TEST(Checksums, AreThoseOfTheirDefinitionsAndCombine) {
  const Bytes digits = [] {
    Bytes bytes;
    for (const char digit : std::string_view("123456789")) bytes.push_back(static_cast<std::byte>(digit));
    return bytes;
  }();
  EXPECT_EQ(checksum_of(Checksum::kCrc32, digits), 0xCBF43926u);
  EXPECT_EQ(checksum_of(Checksum::kAdler32, digits), 0x091E01DEu);
  EXPECT_EQ(checksum_of(Checksum::kXxh32, digits), 0x937BAD67u);
  const Bytes content = mixed_bytes(300'000);
  for (const Checksum kind : {Checksum::kXxh32, Checksum::kCrc32, Checksum::kAdler32}) {
    const std::uint32_t whole = checksum_of(kind, content);
    RunningChecksum running(kind);
    for (const std::size_t at : {0u, 1u, 5552u, 5553u, 299'999u}) {
      const auto first = std::span(content).first(at), second = std::span(content).subspan(at);
      running.reset();
      running.update(first);
      running.update(second);
      EXPECT_EQ(running.digest(), whole);
      if (!checksums_combine(kind)) continue;
      EXPECT_EQ(combined_checksum(kind, checksum_of(kind, first), checksum_of(kind, second), second.size()),
                whole);
    }
  }
}

}  // namespace
}  // namespace hemstitch::testing
