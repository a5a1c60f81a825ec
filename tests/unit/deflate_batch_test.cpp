// The DEFLATE part of the batch interface, as far as it goes without a device.
#include <gtest/gtest.h>

#include <cstdint>
#include <string>

#include "format/deflate/block/deflate_stored.hpp"
#include "hemstitch/batch.h"

namespace hemstitch {
namespace {

TEST(DeflateBatch, BoundsAreTheFormats) {
  EXPECT_EQ(hemstitch_deflate_compress_bound(HEMSTITCH_DEFLATE_RAW, 1000), deflate_data_room(1000));
  EXPECT_EQ(hemstitch_deflate_compress_bound(HEMSTITCH_DEFLATE_ZLIB, 1000), deflate_data_room(1000) + 6);
  EXPECT_EQ(hemstitch_deflate_compress_bound(HEMSTITCH_DEFLATE_GZIP, 1 << 20),
            deflate_data_room(1 << 20) + 18);
  EXPECT_EQ(hemstitch_deflate_compress_bound(HEMSTITCH_DEFLATE_BGZF, 65280), deflate_data_room(65280) + 26);
  EXPECT_LE(hemstitch_deflate_compress_bound(HEMSTITCH_DEFLATE_BGZF, 65280), std::size_t{65536});
  EXPECT_EQ(hemstitch_deflate_compress_bound(HEMSTITCH_DEFLATE_BGZF, 65281), SIZE_MAX);
  EXPECT_EQ(hemstitch_deflate_compress_bound(HEMSTITCH_DEFLATE_GZIP, (1 << 20) + 1), SIZE_MAX);
  EXPECT_EQ(hemstitch_deflate_compress_bound(4, 1), SIZE_MAX);
}

TEST(DeflateBatch, ErrorsNameTheFieldThatIsWrong) {
  const auto names = [](hemstitch_status status, const char* field) {
    return status == HEMSTITCH_INVALID_OPTION &&
           std::string(hemstitch_last_error_message()).find(field) != std::string::npos;
  };
  std::size_t bytes = 0;
  hemstitch_deflate_blocks blocks{};
  const auto temp_bytes = [&](std::int32_t format, int level) {
    return hemstitch_deflate_compress_temp_bytes(&blocks, format, level, &bytes);
  };
  EXPECT_PRED2(names, hemstitch_deflate_compress_temp_bytes(nullptr, 0, 1, &bytes), "blocks");
  EXPECT_PRED2(names, hemstitch_deflate_compress_temp_bytes(&blocks, 0, 1, nullptr), "temp_bytes");
  EXPECT_PRED2(names, temp_bytes(-1, 1), "format");
  EXPECT_PRED2(names, temp_bytes(4, 1), "format");
  EXPECT_PRED2(names, temp_bytes(HEMSTITCH_DEFLATE_GZIP, 0), "level");
  EXPECT_PRED2(names, temp_bytes(HEMSTITCH_DEFLATE_GZIP, 13), "level");
  blocks.max_block_bytes = 65281;
  EXPECT_PRED2(names, temp_bytes(HEMSTITCH_DEFLATE_BGZF, 1), "max_block_bytes");
  blocks.max_block_bytes = (1 << 20) + 1;
  EXPECT_PRED2(names, temp_bytes(HEMSTITCH_DEFLATE_RAW, 1), "max_block_bytes");
  blocks.max_block_bytes = 100;
  blocks.max_history_bytes = 1;
  EXPECT_PRED2(names, temp_bytes(HEMSTITCH_DEFLATE_ZLIB, 1), "max_history_bytes");
  blocks.max_history_bytes = 32769;
  EXPECT_PRED2(names, temp_bytes(HEMSTITCH_DEFLATE_RAW, 1), "max_history_bytes");
  blocks.max_history_bytes = 0;
  blocks.count = 1;
  EXPECT_PRED2(names,
               hemstitch_deflate_compress_async(&blocks, 0, 1, nullptr, nullptr, nullptr, nullptr, nullptr, 0,
                                                nullptr),
               "blocks");
  hemstitch_deflate_streams streams{};
  EXPECT_PRED2(names, hemstitch_deflate_restore_temp_bytes(nullptr, 0, 1, &bytes), "streams");
  EXPECT_PRED2(names, hemstitch_deflate_restore_temp_bytes(&streams, 0, 1, nullptr), "temp_bytes");
  EXPECT_PRED2(names, hemstitch_deflate_restore_temp_bytes(&streams, 4, 1, &bytes), "format");
  EXPECT_PRED2(names,
               hemstitch_deflate_restore_async(&streams, -1, nullptr, nullptr, 1, nullptr, nullptr, nullptr,
                                               nullptr, 0, nullptr),
               "format");
  streams.count = 1;
  EXPECT_PRED2(names,
               hemstitch_deflate_restore_async(&streams, 0, nullptr, nullptr, 1, nullptr, nullptr, nullptr,
                                               nullptr, 0, nullptr),
               "streams");
  std::size_t stream_temp_bytes = 0;
  std::uint64_t stream_bytes = 1;
  EXPECT_PRED2(names, hemstitch_deflate_stream_temp_bytes(1, 1, 4, &stream_temp_bytes), "format");
  EXPECT_PRED2(names, hemstitch_deflate_stream_temp_bytes(1, 1, HEMSTITCH_DEFLATE_BGZF, &stream_temp_bytes),
               "BGZF");
  EXPECT_PRED2(names, hemstitch_deflate_stream_temp_bytes(1, 1, 0, nullptr), "temp_bytes");
  EXPECT_PRED2(names,
               hemstitch_deflate_stream_restore(nullptr, 0, 0, nullptr, 0, nullptr, nullptr, 0, nullptr),
               "output_bytes");
  EXPECT_PRED2(
      names, hemstitch_deflate_stream_restore(nullptr, 1, 0, nullptr, 0, &stream_bytes, nullptr, 0, nullptr),
      "data");
  EXPECT_EQ(stream_bytes, 0u);
  EXPECT_PRED2(names, hemstitch_crc32_async(nullptr, nullptr, 1, nullptr, nullptr), "spans");
  EXPECT_PRED2(names, hemstitch_adler32_async(nullptr, nullptr, 1, nullptr, nullptr), "spans");
}

TEST(DeflateBatch, WithoutADeviceTheReasonIsGiven) {
  std::size_t bytes = 0;
  hemstitch_deflate_blocks blocks{};
#if defined(HEMSTITCH_CUDA)
  if (hemstitch_deflate_compress_temp_bytes(&blocks, 0, 1, &bytes) == HEMSTITCH_OK)
    GTEST_SKIP() << "there is a device here";
#endif
  const auto unavailable = [](hemstitch_status got) {
    return got == HEMSTITCH_DEVICE_UNAVAILABLE && !std::string(hemstitch_last_error_message()).empty();
  };
  EXPECT_PRED1(unavailable, hemstitch_deflate_compress_temp_bytes(&blocks, 0, 1, &bytes));
  EXPECT_PRED1(unavailable, hemstitch_deflate_compress_async(&blocks, 0, 1, nullptr, nullptr, nullptr,
                                                             nullptr, nullptr, 0, nullptr));
  const hemstitch_deflate_streams streams{};
  EXPECT_PRED1(unavailable,
               hemstitch_deflate_restore_temp_bytes(&streams, HEMSTITCH_DEFLATE_ZLIB, 1, &bytes));
  EXPECT_PRED1(unavailable,
               hemstitch_deflate_restore_async(&streams, HEMSTITCH_DEFLATE_ZLIB, nullptr, nullptr, 1, nullptr,
                                               nullptr, nullptr, nullptr, 0, nullptr));
  std::uint64_t stream_bytes = 1;
  EXPECT_PRED1(unavailable, hemstitch_deflate_stream_temp_bytes(1, 1, HEMSTITCH_DEFLATE_GZIP, &bytes));
  EXPECT_PRED1(unavailable, hemstitch_deflate_stream_restore(nullptr, 0, HEMSTITCH_DEFLATE_GZIP, nullptr, 0,
                                                             &stream_bytes, nullptr, 0, nullptr));
  EXPECT_PRED1(unavailable, hemstitch_crc32_async(nullptr, nullptr, 0, nullptr, nullptr));
  EXPECT_PRED1(unavailable, hemstitch_adler32_async(nullptr, nullptr, 0, nullptr, nullptr));
}

}  // namespace
}  // namespace hemstitch
