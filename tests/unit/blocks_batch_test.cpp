// The batch interface by format, as far as it works without a device.
#include <gtest/gtest.h>

#include <cstdint>
#include <cstring>
#include <string>

#include "hemstitch/batch.hpp"

namespace hemstitch {
namespace {

constexpr hemstitch_format kBatchFormats[] = {HEMSTITCH_FORMAT_LZ4,     HEMSTITCH_FORMAT_GZIP,
                                              HEMSTITCH_FORMAT_BGZF,    HEMSTITCH_FORMAT_ZLIB,
                                              HEMSTITCH_FORMAT_DEFLATE, HEMSTITCH_FORMAT_ZSTD};

// Any number may be in an enumeration of C.
hemstitch_format format_with(int number) {
  hemstitch_format format{};
  std::memcpy(&format, &number, sizeof number);
  return format;
}

bool names(hemstitch_status status, const char* field) {
  return status == HEMSTITCH_INVALID_OPTION &&
         std::string(hemstitch_last_error_message()).find(field) != std::string::npos;
}

TEST(BlocksBatch, BoundsAreThoseOfTheNamesForOneFormat) {
  for (const std::size_t bytes : {0, 1, 255, 65280, 65281, 1 << 20, (1 << 20) + 1}) {
    EXPECT_EQ(hemstitch_blocks_compress_bound(HEMSTITCH_FORMAT_LZ4, bytes),
              hemstitch_lz4_compress_bound(bytes));
    EXPECT_EQ(hemstitch_blocks_compress_bound(HEMSTITCH_FORMAT_DEFLATE, bytes),
              hemstitch_deflate_compress_bound(HEMSTITCH_DEFLATE_RAW, bytes));
    EXPECT_EQ(hemstitch_blocks_compress_bound(HEMSTITCH_FORMAT_ZLIB, bytes),
              hemstitch_deflate_compress_bound(HEMSTITCH_DEFLATE_ZLIB, bytes));
    EXPECT_EQ(hemstitch_blocks_compress_bound(HEMSTITCH_FORMAT_GZIP, bytes),
              hemstitch_deflate_compress_bound(HEMSTITCH_DEFLATE_GZIP, bytes));
    EXPECT_EQ(hemstitch_blocks_compress_bound(HEMSTITCH_FORMAT_BGZF, bytes),
              hemstitch_deflate_compress_bound(HEMSTITCH_DEFLATE_BGZF, bytes));
  }
  EXPECT_EQ(batch::blocks_compress_bound(Format::kLz4, SIZE_MAX - 16), SIZE_MAX);
  EXPECT_EQ(batch::blocks_compress_bound(Format::kBgzf, 65281), SIZE_MAX);
  EXPECT_EQ(hemstitch_blocks_compress_bound(HEMSTITCH_FORMAT_DEFAULT, 1), SIZE_MAX);
  EXPECT_EQ(hemstitch_blocks_compress_bound(format_with(99), 1), SIZE_MAX);
}

TEST(BlocksBatch, AnotherFormatIsToldWhichOnesWork) {
  const hemstitch_blocks blocks{};
  const hemstitch_compressed_blocks compressed{};
  std::size_t bytes = 0;
  std::uint64_t content_bytes = 0;
  for (const int number : {0, -1, 99}) {
    const hemstitch_format format = format_with(number);
    const std::string blocks_work = "format is " + std::to_string(number) +
                                    ", it can be LZ4 (1), gzip (2), BGZF (3), zlib (4), raw DEFLATE (5), "
                                    "Zstandard (6)";
    const std::string streams_work = "format is " + std::to_string(number) +
                                     ", it can be gzip (2), zlib (4), raw DEFLATE (5), Zstandard (6)";
    EXPECT_PRED2(names, hemstitch_blocks_compress_temp_bytes(format, &blocks, 1, &bytes),
                 blocks_work.c_str());
    EXPECT_PRED2(names,
                 hemstitch_blocks_compress_async(format, &blocks, 1, nullptr, nullptr, nullptr, nullptr,
                                                 nullptr, 0, nullptr),
                 blocks_work.c_str());
    EXPECT_PRED2(names, hemstitch_blocks_restore_temp_bytes(format, &compressed, 1, &bytes),
                 blocks_work.c_str());
    EXPECT_PRED2(names,
                 hemstitch_blocks_restore_async(format, &compressed, nullptr, nullptr, 1, nullptr, nullptr,
                                                nullptr, nullptr, 0, nullptr),
                 blocks_work.c_str());
    EXPECT_PRED2(names, hemstitch_checksums_async(format, nullptr, nullptr, 0, nullptr, nullptr),
                 blocks_work.c_str());
    EXPECT_PRED2(names, hemstitch_long_stream_temp_bytes(format, 1, 1, &bytes), streams_work.c_str());
    EXPECT_PRED2(
        names,
        hemstitch_long_stream_restore(format, nullptr, 0, nullptr, 0, &content_bytes, nullptr, 0, nullptr),
        streams_work.c_str());
  }
  for (const hemstitch_format format : {HEMSTITCH_FORMAT_LZ4, HEMSTITCH_FORMAT_BGZF})
    EXPECT_PRED2(names, hemstitch_long_stream_temp_bytes(format, 1, 1, &bytes),
                 "it can be gzip (2), zlib (4), raw DEFLATE (5), Zstandard (6)");
}

TEST(BlocksBatch, ChunksOfZstandardAreFramesWithRoomForRawBlocks) {
  constexpr std::size_t kHeader = 9, kBlockHeader = 3, kBlockBytes = 65'536, kMost = 16 << 20;
  for (const auto& [bytes, blocks] : {std::pair<std::size_t, std::size_t>{0, 1},
                                      {1, 1},
                                      {kBlockBytes, 1},
                                      {kBlockBytes + 1, 2},
                                      {kMost, kMost / kBlockBytes}})
    EXPECT_EQ(hemstitch_blocks_compress_bound(HEMSTITCH_FORMAT_ZSTD, bytes),
              kHeader + bytes + blocks * kBlockHeader);
  EXPECT_EQ(hemstitch_blocks_compress_bound(HEMSTITCH_FORMAT_ZSTD, kMost + 1), SIZE_MAX);
}

TEST(BlocksBatch, ErrorsNameThePointerThatIsNull) {
  std::size_t bytes = 0;
  std::uint64_t content_bytes = 1;
  const void* const pointer = nullptr;
  void* const room = nullptr;
  hemstitch_status status{};
  std::uint32_t checksum = 0;
  for (const hemstitch_format format : kBatchFormats) {
    hemstitch_blocks blocks{};
    const auto compress = [&](const hemstitch_blocks* given, void* const* outputs, std::size_t* output_bytes,
                              hemstitch_status* statuses) {
      return hemstitch_blocks_compress_async(format, given, 1, outputs, nullptr, output_bytes, statuses,
                                             nullptr, 0, nullptr);
    };
    EXPECT_PRED2(names, hemstitch_blocks_compress_temp_bytes(format, nullptr, 1, &bytes), "blocks");
    EXPECT_PRED2(names, hemstitch_blocks_compress_temp_bytes(format, &blocks, 1, nullptr), "temp_bytes");
    EXPECT_PRED2(names, compress(nullptr, &room, &bytes, &status), "blocks");
    blocks.count = 1;
    EXPECT_PRED2(names, compress(&blocks, &room, &bytes, &status), "blocks");
    blocks.blocks = &pointer;
    EXPECT_PRED2(names, compress(&blocks, &room, &bytes, &status), "block_bytes");
    blocks.block_bytes = &bytes;
    EXPECT_PRED2(names, compress(&blocks, nullptr, &bytes, &status), "outputs");
    EXPECT_PRED2(names, compress(&blocks, &room, nullptr, &status), "output_bytes");
    EXPECT_PRED2(names, compress(&blocks, &room, &bytes, nullptr), "statuses");

    hemstitch_compressed_blocks compressed{};
    const auto restore = [&](const hemstitch_compressed_blocks* given, const std::size_t* capacities,
                             std::size_t* output_bytes, hemstitch_status* statuses) {
      return hemstitch_blocks_restore_async(format, given, nullptr, capacities, 1, nullptr, output_bytes,
                                            statuses, nullptr, 0, nullptr);
    };
    EXPECT_PRED2(names, hemstitch_blocks_restore_temp_bytes(format, nullptr, 1, &bytes), "compressed");
    EXPECT_PRED2(names, hemstitch_blocks_restore_temp_bytes(format, &compressed, 1, nullptr), "temp_bytes");
    EXPECT_PRED2(names, restore(nullptr, &bytes, &bytes, &status), "compressed");
    compressed.count = 1;
    EXPECT_PRED2(names, restore(&compressed, &bytes, &bytes, &status), "blocks");
    compressed.blocks = &pointer;
    EXPECT_PRED2(names, restore(&compressed, &bytes, &bytes, &status), "block_bytes");
    compressed.block_bytes = &bytes;
    EXPECT_PRED2(names, restore(&compressed, nullptr, &bytes, &status), "capacities");
    EXPECT_PRED2(names, restore(&compressed, &bytes, nullptr, &status), "output_bytes");
    EXPECT_PRED2(names, restore(&compressed, &bytes, &bytes, nullptr), "statuses");

    EXPECT_PRED2(names, hemstitch_checksums_async(format, nullptr, &bytes, 1, &checksum, nullptr), "spans");
    EXPECT_PRED2(names, hemstitch_checksums_async(format, &pointer, nullptr, 1, &checksum, nullptr),
                 "span_bytes");
    EXPECT_PRED2(names, hemstitch_checksums_async(format, &pointer, &bytes, 1, nullptr, nullptr),
                 "checksums");
  }
  const hemstitch_format gzip = HEMSTITCH_FORMAT_GZIP;
  EXPECT_PRED2(names, hemstitch_long_stream_temp_bytes(gzip, 1, 1, nullptr), "temp_bytes");
  EXPECT_PRED2(names,
               hemstitch_long_stream_restore(gzip, nullptr, 0, nullptr, 0, nullptr, nullptr, 0, nullptr),
               "output_bytes");
  EXPECT_PRED2(
      names, hemstitch_long_stream_restore(gzip, nullptr, 1, nullptr, 0, &content_bytes, nullptr, 0, nullptr),
      "data");
  EXPECT_EQ(content_bytes, 0u);
  EXPECT_PRED2(names,
               hemstitch_long_stream_restore(gzip, &room, 1, nullptr, 1, &content_bytes, nullptr, 0, nullptr),
               "output");
}

TEST(BlocksBatch, EachFormatHasItsLimits) {
  std::size_t bytes = 0;
  const auto compress = [&](hemstitch_format format, std::size_t max_block_bytes,
                            std::uint32_t max_history_bytes) {
    hemstitch_blocks blocks{};
    blocks.max_block_bytes = max_block_bytes;
    blocks.max_history_bytes = max_history_bytes;
    return hemstitch_blocks_compress_temp_bytes(format, &blocks, 1, &bytes);
  };
  struct Limits {
    hemstitch_format format;
    std::size_t most_block_bytes;
    std::uint32_t most_history_bytes;
    int least_level = 1, most_level = 12;
  };
  for (const Limits& limits : {Limits{HEMSTITCH_FORMAT_LZ4, 0x7E000000, 65536},
                               {HEMSTITCH_FORMAT_GZIP, 1 << 20, 0},
                               {HEMSTITCH_FORMAT_BGZF, 65280, 0},
                               {HEMSTITCH_FORMAT_ZLIB, 1 << 20, 0},
                               {HEMSTITCH_FORMAT_DEFLATE, 1 << 20, 32768},
                               {HEMSTITCH_FORMAT_ZSTD, 16 << 20, 0, -7, 22}}) {
    EXPECT_NE(compress(limits.format, limits.most_block_bytes, limits.most_history_bytes),
              HEMSTITCH_INVALID_OPTION)
        << limits.format;
    EXPECT_PRED2(names, compress(limits.format, limits.most_block_bytes + 1, 0), "max_block_bytes");
    EXPECT_PRED2(names, compress(limits.format, 1, limits.most_history_bytes + 1), "max_history_bytes");
    const hemstitch_blocks blocks{};
    for (const int level : {limits.least_level - 1, limits.most_level + 1})
      EXPECT_PRED2(names, hemstitch_blocks_compress_temp_bytes(limits.format, &blocks, level, &bytes),
                   "level");
  }
  hemstitch_compressed_blocks compressed{};
  constexpr std::size_t kTooMuch = (std::size_t{1} << 30) + 1;
  EXPECT_PRED2(names,
               hemstitch_blocks_restore_temp_bytes(HEMSTITCH_FORMAT_LZ4, &compressed, kTooMuch, &bytes),
               "max_output_bytes");
  compressed.max_block_bytes = kTooMuch;
  EXPECT_PRED2(names, hemstitch_blocks_restore_temp_bytes(HEMSTITCH_FORMAT_LZ4, &compressed, 1, &bytes),
               "max_block_bytes");
  EXPECT_NE(hemstitch_blocks_restore_temp_bytes(HEMSTITCH_FORMAT_GZIP, &compressed, kTooMuch, &bytes),
            HEMSTITCH_INVALID_OPTION);
  EXPECT_PRED2(names,
               hemstitch_checksums_async(HEMSTITCH_FORMAT_DEFLATE, nullptr, nullptr, 0, nullptr, nullptr),
               "raw DEFLATE has no checksum");
}

TEST(BlocksBatch, WithoutADeviceTheReasonIsGiven) {
  const hemstitch_blocks blocks{};
  const hemstitch_compressed_blocks compressed{};
  std::size_t bytes = 0;
  std::uint64_t content_bytes = 1;
#if defined(HEMSTITCH_CUDA)
  if (hemstitch_blocks_compress_temp_bytes(HEMSTITCH_FORMAT_LZ4, &blocks, 1, &bytes) == HEMSTITCH_OK)
    GTEST_SKIP() << "there is a device here";
#endif
  const auto unavailable = [](hemstitch_status got) {
    return got == HEMSTITCH_DEVICE_UNAVAILABLE && !std::string(hemstitch_last_error_message()).empty();
  };
  for (const hemstitch_format format : kBatchFormats) {
    EXPECT_PRED1(unavailable, hemstitch_blocks_compress_temp_bytes(format, &blocks, 1, &bytes));
    EXPECT_PRED1(unavailable, hemstitch_blocks_compress_async(format, &blocks, 1, nullptr, nullptr, nullptr,
                                                              nullptr, nullptr, 0, nullptr));
    EXPECT_PRED1(unavailable, hemstitch_blocks_restore_temp_bytes(format, &compressed, 1, &bytes));
    EXPECT_PRED1(unavailable, hemstitch_blocks_restore_async(format, &compressed, nullptr, nullptr, 1,
                                                             nullptr, nullptr, nullptr, nullptr, 0, nullptr));
    if (format != HEMSTITCH_FORMAT_DEFLATE) {
      EXPECT_PRED1(unavailable, hemstitch_checksums_async(format, nullptr, nullptr, 0, nullptr, nullptr));
    }
    if (format == HEMSTITCH_FORMAT_LZ4 || format == HEMSTITCH_FORMAT_BGZF || format == HEMSTITCH_FORMAT_ZSTD)
      continue;
    EXPECT_PRED1(unavailable, hemstitch_long_stream_temp_bytes(format, 1, 1, &bytes));
    EXPECT_PRED1(unavailable, hemstitch_long_stream_restore(format, nullptr, 0, nullptr, 0, &content_bytes,
                                                            nullptr, 0, nullptr));
  }
}

// The C++ spans are held against each other before the C functions see them.
TEST(BlocksBatch, SpansOfOtherLengthsAreErrors) {
  const void* const pointer = nullptr;
  void* const room = nullptr;
  std::size_t bytes[2] = {};
  hemstitch_status status{};
  const auto refusal = [](const auto& call) -> std::string {
    try {
      call();
    } catch (const Error& error) {
      return error.what();
    }
    return "nothing";
  };
  const auto contains = [](const std::string& text, const char* part) {
    return text.find(part) != std::string::npos;
  };
  const batch::Blocks blocks{.blocks = {&pointer, 1}, .block_bytes = {bytes, 1}};
  const batch::Compressed compressed{.blocks = {&pointer, 1}, .block_bytes = {bytes, 1}};
  EXPECT_PRED2(contains, refusal([&] {
                 batch::blocks_compress(
                     Format::kGzip, blocks, 1,
                     {.outputs = {&room, 1}, .output_bytes = bytes, .statuses = {&status, 1}}, {}, nullptr);
               }),
               "output_bytes has 2 elements");
  EXPECT_PRED2(
      contains, refusal([&] {
        batch::blocks_restore(
            Format::kGzip, compressed,
            {.outputs = {}, .capacities = bytes, .output_bytes = {bytes, 1}, .statuses = {&status, 1}}, 1, {},
            {}, nullptr);
      }),
      "capacities has 2 elements");
  EXPECT_PRED2(
      contains, refusal([&] {
        batch::lz4_restore(
            compressed,
            {.outputs = {}, .capacities = {bytes, 1}, .output_bytes = {bytes, 1}, .statuses = {&status, 1}},
            1, {}, {}, nullptr);
      }),
      "outputs has 0 elements");
}

}  // namespace
}  // namespace hemstitch
