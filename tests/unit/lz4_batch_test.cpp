// The LZ4 part of the batch interface as far as it works without a device, and the walk from block to block
// of a frame, which devices do with the same code.
#include <gtest/gtest.h>
#include <lz4.h>

#include <string>

#include "format/lz4/frame/lz4_frame.hpp"
#include "format/lz4/frame/lz4_frame_walk.hpp"
#include "hemstitch/batch.h"
#include "lz4f_oracle.hpp"
#include "shapes.hpp"
#include "skippable_frames.hpp"

namespace hemstitch {
namespace {

using namespace testing;

TEST(Lz4Batch, TheBoundIsLiblz4s) {
  for (const std::size_t bytes : {0, 1, 254, 255, 256, 4096, 65536, 1 << 20})
    EXPECT_EQ(hemstitch_lz4_compress_bound(bytes),
              static_cast<std::size_t>(LZ4_compressBound(static_cast<int>(bytes))));
}

TEST(Lz4Batch, HeadersAreReadOnTheHost) {
  const Bytes text = wordy_bytes(1'000'000);
  CompressOptions options;
  options.block_bytes = 64 << 10;
  options.content_bytes = text.size();
  const Bytes frame = compress(text, options);
  hemstitch_lz4_frame header{};
  ASSERT_EQ(hemstitch_lz4_frame_read_header(frame.data(), kMaxFrameHeaderBytes, &header), HEMSTITCH_OK);
  EXPECT_EQ(header.block_bytes, 64u << 10);
  EXPECT_EQ(header.linked_blocks, 0);
  EXPECT_EQ(header.block_checksums, 1);
  EXPECT_EQ(header.content_checksum, 0);
  EXPECT_EQ(header.content_bytes_known, 1);
  EXPECT_EQ(header.content_bytes, text.size());
  EXPECT_EQ(header.max_block_count, 17u);  // the last byte is apart
  EXPECT_EQ(header.header_bytes, 15u);

  options.linked_blocks = true;
  options.content_checksum = true;
  options.content_bytes.reset();
  Bytes linked;
  Compressor compressor(options, [&](std::span<const std::byte> piece) {
    linked.insert(linked.end(), piece.begin(), piece.end());
  });
  compressor.write(text);
  compressor.finish();
  ASSERT_EQ(hemstitch_lz4_frame_read_header(linked.data(), linked.size(), &header), HEMSTITCH_OK);
  EXPECT_EQ(header.linked_blocks, 1);
  EXPECT_EQ(header.content_checksum, 1);
  EXPECT_EQ(header.max_block_count, 0u);
  EXPECT_EQ(header.header_bytes, 7u);
}

TEST(Lz4Batch, WhatIsNoReadableHeaderIsAnError) {
  const Bytes text = wordy_bytes(1000), dictionary = wordy_bytes(1000, 2);
  const Bytes frame = compress(text);
  hemstitch_lz4_frame header{};
  const auto read = [&](const Bytes& bytes) {
    return hemstitch_lz4_frame_read_header(bytes.data(), bytes.size(), &header);
  };
  for (std::size_t bytes = 4; bytes < 7; ++bytes)
    EXPECT_EQ(hemstitch_lz4_frame_read_header(frame.data(), bytes, &header), HEMSTITCH_TRUNCATED) << bytes;
  Bytes damaged = frame;
  damaged[6] ^= std::byte{1};
  EXPECT_EQ(read(damaged), HEMSTITCH_HEADER_CHECKSUM_MISMATCH);
  EXPECT_EQ(read(text), HEMSTITCH_UNKNOWN_FORMAT);
  EXPECT_EQ(read(bytes_of("\x02\x21\x4c\x18\x05")), HEMSTITCH_UNSUPPORTED_FEATURE);  // legacy
  EXPECT_EQ(read(skippable_frame(12)), HEMSTITCH_UNSUPPORTED_FEATURE);
  CompressOptions options;
  options.dictionary = dictionary;
  EXPECT_EQ(read(compress(text, options)), HEMSTITCH_UNSUPPORTED_FEATURE);
  EXPECT_EQ(hemstitch_lz4_frame_read_header(nullptr, 19, &header), HEMSTITCH_INVALID_OPTION);
  EXPECT_EQ(hemstitch_lz4_frame_read_header(frame.data(), 19, nullptr), HEMSTITCH_INVALID_OPTION);
}

TEST(Lz4Batch, TheFrameBoundHoldsForNoise) {
  const Bytes noise = random_bytes(300'000);
  for (const bool checksums : {false, true}) {
    CompressOptions options;
    options.block_bytes = 64 << 10;
    options.block_checksums = checksums;
    options.content_bytes = noise.size();
    hemstitch_lz4_frame frame{};
    frame.block_bytes = 64 << 10;
    frame.block_checksums = checksums;
    std::uint64_t bound = 0;
    ASSERT_EQ(hemstitch_lz4_frame_bound(noise.size(), &frame, &bound), HEMSTITCH_OK);
    const std::size_t bytes = compress(noise, options).size();
    EXPECT_GE(bound, bytes);
    EXPECT_LE(bound, bytes + kMaxFrameHeaderBytes);
  }
}

TEST(Lz4Batch, ErrorsNameTheFieldThatIsWrong) {
  const auto names = [](hemstitch_status status, const char* field) {
    return status == HEMSTITCH_INVALID_OPTION &&
           std::string(hemstitch_last_error_message()).find(field) != std::string::npos;
  };
  std::size_t bytes = 0;
  std::uint64_t bound = 0;
  hemstitch_lz4_blocks blocks{};
  EXPECT_PRED2(names, hemstitch_lz4_compress_temp_bytes(nullptr, 1, &bytes), "blocks");
  EXPECT_PRED2(names, hemstitch_lz4_compress_temp_bytes(&blocks, 0, &bytes), "level");
  EXPECT_PRED2(names, hemstitch_lz4_compress_temp_bytes(&blocks, 13, &bytes), "level");
  EXPECT_PRED2(names, hemstitch_lz4_compress_temp_bytes(&blocks, 1, nullptr), "temp_bytes");
  blocks.max_history_bytes = 65537;
  EXPECT_PRED2(names, hemstitch_lz4_span_temp_bytes(&blocks, 1, &bytes), "max_history_bytes");
  blocks.max_history_bytes = 1;
  EXPECT_PRED2(names, hemstitch_lz4_pages_compress_temp_bytes(&blocks, 1, &bytes), "max_history_bytes");
  blocks.max_history_bytes = 0;
  blocks.max_block_bytes = 4097;
  EXPECT_PRED2(names, hemstitch_lz4_pages_compress_temp_bytes(&blocks, 1, &bytes), "max_block_bytes");
  blocks.max_block_bytes = std::size_t{1} << 31;
  EXPECT_PRED2(names, hemstitch_lz4_compress_temp_bytes(&blocks, 1, &bytes), "max_block_bytes");
  blocks.max_block_bytes = 100;
  blocks.count = 1;
  EXPECT_PRED2(
      names,
      hemstitch_lz4_compress_async(&blocks, 1, nullptr, nullptr, nullptr, nullptr, nullptr, 0, nullptr),
      "blocks");
  hemstitch_lz4_compressed compressed{};
  EXPECT_PRED2(names, hemstitch_lz4_restore_temp_bytes(&compressed, (std::size_t{1} << 30) + 1, &bytes),
               "max_output_bytes");
  compressed.max_block_bytes = (std::size_t{1} << 30) + 1;
  EXPECT_PRED2(names, hemstitch_lz4_sizes_temp_bytes(&compressed, 1, &bytes), "max_block_bytes");
  EXPECT_PRED2(names, hemstitch_lz4_checksums_async(nullptr, nullptr, 1, nullptr, nullptr), "spans");
  EXPECT_PRED2(
      names,
      hemstitch_lz4_pages_restore_async(nullptr, nullptr, 1, nullptr, nullptr, nullptr, nullptr, 0, nullptr),
      "kept");
  hemstitch_lz4_frame frame{};
  EXPECT_PRED2(names, hemstitch_lz4_frame_bound(1, &frame, &bound), "block_bytes");
  frame.block_bytes = 4 << 20;
  frame.content_checksum = 1;
  EXPECT_PRED2(names, hemstitch_lz4_frame_bound(1, &frame, &bound), "content_checksum");
  frame.content_checksum = 2;
  EXPECT_PRED2(names, hemstitch_lz4_frame_restore_temp_bytes(&frame, &bytes), "content_checksum");
  frame.content_checksum = 0;
  frame.header_bytes = 7;
  EXPECT_PRED2(names, hemstitch_lz4_frame_restore_temp_bytes(&frame, &bytes), "max_block_count");
  frame.max_block_count = 1;
  frame.linked_blocks = 2;
  EXPECT_PRED2(names, hemstitch_lz4_frame_restore_temp_bytes(&frame, &bytes), "linked_blocks");
}

TEST(Lz4Batch, WithoutADeviceTheReasonIsGiven) {
  std::size_t bytes = 0;
  hemstitch_lz4_blocks blocks{};
  hemstitch_lz4_compressed compressed{};
  hemstitch_lz4_span span{};
  hemstitch_lz4_frame frame{};
  frame.block_bytes = 64 << 10;
  frame.header_bytes = 7;
  frame.max_block_count = 1;
  std::uint64_t written = 0, offset = 0;
  hemstitch_status status{};
  span.offsets = &offset;
#if defined(HEMSTITCH_CUDA)
  if (hemstitch_lz4_compress_temp_bytes(&blocks, 1, &bytes) == HEMSTITCH_OK)
    GTEST_SKIP() << "there is a device here";
#endif
  const auto unavailable = [](hemstitch_status got) {
    return got == HEMSTITCH_DEVICE_UNAVAILABLE && !std::string(hemstitch_last_error_message()).empty();
  };
  EXPECT_PRED1(unavailable, hemstitch_lz4_compress_temp_bytes(&blocks, 1, &bytes));
  EXPECT_PRED1(unavailable, hemstitch_lz4_compress_async(&blocks, 1, nullptr, nullptr, nullptr, nullptr,
                                                         nullptr, 0, nullptr));
  EXPECT_PRED1(unavailable, hemstitch_lz4_span_temp_bytes(&blocks, 1, &bytes));
  EXPECT_PRED1(unavailable, hemstitch_lz4_span_async(&blocks, 1, &span, nullptr, nullptr, 0, nullptr));
  EXPECT_PRED1(unavailable, hemstitch_lz4_restore_temp_bytes(&compressed, 4096, &bytes));
  EXPECT_PRED1(unavailable, hemstitch_lz4_restore_async(&compressed, nullptr, nullptr, 4096, nullptr, nullptr,
                                                        nullptr, nullptr, 0, nullptr));
  EXPECT_PRED1(unavailable, hemstitch_lz4_sizes_temp_bytes(&compressed, 4096, &bytes));
  EXPECT_PRED1(unavailable,
               hemstitch_lz4_sizes_async(&compressed, 4096, nullptr, nullptr, nullptr, 0, nullptr));
  EXPECT_PRED1(unavailable, hemstitch_lz4_checksums_async(nullptr, nullptr, 0, nullptr, nullptr));
  EXPECT_PRED1(unavailable, hemstitch_lz4_pages_compress_temp_bytes(&blocks, 1, &bytes));
  EXPECT_PRED1(unavailable, hemstitch_lz4_pages_compress_async(&blocks, 1, nullptr, nullptr, nullptr, nullptr,
                                                               0, nullptr));
  EXPECT_PRED1(unavailable, hemstitch_lz4_pages_restore_temp_bytes(0, &bytes));
  EXPECT_PRED1(unavailable, hemstitch_lz4_pages_restore_async(nullptr, nullptr, 0, nullptr, nullptr, nullptr,
                                                              nullptr, 0, nullptr));
  EXPECT_PRED1(unavailable, hemstitch_lz4_frame_compress_temp_bytes(0, &frame, 1, &bytes));
  EXPECT_PRED1(unavailable, hemstitch_lz4_frame_compress_async(nullptr, 0, &frame, 1, nullptr, 0, &written,
                                                               &status, nullptr, 0, nullptr));
  EXPECT_PRED1(unavailable, hemstitch_lz4_frame_restore_temp_bytes(&frame, &bytes));
  EXPECT_PRED1(unavailable, hemstitch_lz4_frame_restore_async(&status, 4, &frame, nullptr, 0, &written,
                                                              &status, nullptr, 0, nullptr));
}

// ---- The walk ----

struct Walk {
  WalkedFrame end;
  std::vector<WalkedBlock> blocks;
};

Walk walk(const Bytes& frame, std::size_t frame_bytes, std::uint32_t max_blocks) {
  hemstitch_lz4_frame header{};
  EXPECT_EQ(hemstitch_lz4_frame_read_header(frame.data(), frame.size(), &header), HEMSTITCH_OK);
  // A copy of exactly these bytes, so that a sanitizer sees reads beyond them.
  const Bytes given(frame.begin(), frame.begin() + static_cast<std::ptrdiff_t>(frame_bytes));
  Walk walk;
  walk.end = walk_lz4_frame(given.data(), given.size(), header.header_bytes, header.block_bytes,
                            header.block_checksums != 0, max_blocks,
                            [&](std::uint32_t number, const WalkedBlock& block) {
                              EXPECT_EQ(number, walk.blocks.size());
                              walk.blocks.push_back(block);
                            });
  return walk;
}

TEST(Lz4FrameWalk, FindsEveryBlock) {
  const Bytes text = random_bytes(100'000) + wordy_bytes(600'000);
  for (const bool checksums : {false, true}) {
    CompressOptions options;
    options.block_bytes = 64 << 10;
    options.block_checksums = checksums;
    const Bytes frame = compress(text, options);
    const Walk walked = walk(frame, frame.size(), 100);
    EXPECT_EQ(walked.end.status, Status::kOk);
    const std::uint32_t count = checksums ? 12 : 11;  // the last byte is apart
    EXPECT_EQ(walked.end.block_count, count);
    ASSERT_EQ(walked.blocks.size(), count);
    std::size_t stored = 0;
    for (const WalkedBlock& block : walked.blocks) {
      stored += block.stored;
      if (checksums) {
        EXPECT_EQ(block.checksum, lz4_checksum(std::span(frame).subspan(block.at, block.bytes)));
      }
    }
    EXPECT_GT(stored, 0u);
    EXPECT_LT(stored, 11u);
    EXPECT_EQ(walk(frame, frame.size(), count).end.status, Status::kOk);
    EXPECT_EQ(walk(frame, frame.size(), count - 1).end.status, Status::kMemoryLimit);
    EXPECT_EQ(walk(frame, frame.size(), count - 1).blocks.size(), count - 1);
  }
}

TEST(Lz4FrameWalk, TruncationAtEveryByteIsFound) {
  CompressOptions options;
  options.block_bytes = 64 << 10;
  const Bytes frame = compress(runs_bytes(400'000, 1), options);
  for (std::size_t bytes = 15; bytes < frame.size(); ++bytes)
    ASSERT_EQ(walk(frame, bytes, 100).end.status, Status::kTruncated) << bytes;
  EXPECT_EQ(walk(frame, frame.size(), 100).end.status, Status::kOk);
}

TEST(Lz4FrameWalk, ABlockAboveTheBlockSizeIsCorrupt) {
  CompressOptions options;
  options.block_bytes = 64 << 10;
  Bytes frame = compress(wordy_bytes(200'000), options);
  store_le32(frame.data() + 15, (64 << 10) + 1);  // after a header with the size of the content
  EXPECT_EQ(walk(frame, frame.size(), 100).end.status, Status::kCorruptBlock);
}

}  // namespace
}  // namespace hemstitch
