// The C interface: statuses, exact room, messages.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "hemstitch/batch.h"
#include "hemstitch/hemstitch.h"
#include "hemstitch/hemstitch.hpp"
#include "hemstitch/memory.h"
#include "lz4f_oracle.hpp"
#include "shapes.hpp"
#include "threads.hpp"

namespace hemstitch::testing {
namespace {

Bytes compress_c(const Bytes& content, int level = 0) {
  Bytes frame(hemstitch_compress_bound(content.size()));
  std::size_t bytes = 0;
  EXPECT_EQ(hemstitch_compress(content.data(), content.size(), level, frame.data(), frame.size(), &bytes),
            HEMSTITCH_OK)
      << hemstitch_last_error_message();
  frame.resize(bytes);
  return frame;
}

hemstitch_compress_options compress_options() {
  hemstitch_compress_options options{};
  options.size = sizeof options;
  return options;
}

hemstitch_restore_options restore_options() {
  hemstitch_restore_options options{};
  options.size = sizeof options;
  return options;
}

TEST_WITH_THREADS(CInterface, RoundTripsWithinTheBound) {
  for (const std::size_t bytes : {0, 1, 1000, 262144, 262145, 1000000})
    for (const Bytes& content : {random_bytes(bytes), wordy_bytes(bytes)}) {
      const Bytes frame = compress_c(content);
      EXPECT_EQ(lz4f_restore(frame), content);
      std::uint64_t restored_bytes = 1;
      ASSERT_EQ(hemstitch_restored_size(frame.data(), frame.size(), &restored_bytes), HEMSTITCH_OK);
      EXPECT_EQ(restored_bytes, content.size());
      Bytes restored(content.size());
      std::size_t written = 1;
      ASSERT_EQ(hemstitch_restore(frame.data(), frame.size(), restored.data(), restored.size(), &written),
                HEMSTITCH_OK);
      EXPECT_EQ(restored, content);
      EXPECT_EQ(written, content.size());
    }
}

TEST_WITH_THREADS(CInterface, EveryFormatStaysWithinItsBound) {
  for (const hemstitch_format format :
       {HEMSTITCH_FORMAT_LZ4, HEMSTITCH_FORMAT_GZIP, HEMSTITCH_FORMAT_BGZF, HEMSTITCH_FORMAT_ZLIB,
        HEMSTITCH_FORMAT_DEFLATE, HEMSTITCH_FORMAT_ZSTD}) {
    hemstitch_compress_options compressing = compress_options();
    hemstitch_restore_options restoring = restore_options();
    compressing.format = restoring.format = format;
    for (const std::size_t bytes : {0, 1, 65279, 65280, 65281, 1048576, 1048577, 3000000})
      for (const Bytes& content : {random_bytes(bytes), wordy_bytes(bytes)})
        for (const int level : {0, 1}) {
          Bytes frame(hemstitch_compress_bound_of(format, bytes));
          std::size_t frame_bytes = 0;
          compressing.level = level;
          ASSERT_EQ(hemstitch_compress_with(&compressing, content.data(), bytes, frame.data(), frame.size(),
                                            &frame_bytes),
                    HEMSTITCH_OK)
              << hemstitch_last_error_message();
          Bytes restored(bytes);
          std::size_t restored_bytes = 0;
          ASSERT_EQ(hemstitch_restore_with(&restoring, frame.data(), frame_bytes, restored.data(), bytes,
                                           &restored_bytes),
                    HEMSTITCH_OK)
              << hemstitch_last_error_message();
          ASSERT_EQ(restored, content);
        }
  }
  hemstitch_format unknown{};
  const int number = 77;
  std::memcpy(&unknown, &number, sizeof unknown);
  EXPECT_EQ(hemstitch_compress_bound_of(unknown, 1), UINT64_MAX);
}

TEST(CInterface, TheBoundIsMetAndSaturates) {
  // Nothing shrinks, and the last byte is apart: the largest possible frame, without a dictionary's id and a
  // content checksum.
  for (const std::size_t bytes : {61441, 262144, 262145, 262146, 524288, 524289})
    EXPECT_EQ(compress_c(random_bytes(bytes)).size() + 4 + 4, hemstitch_compress_bound(bytes)) << bytes;
  std::uint64_t last = 0;
  for (const std::uint64_t less : {std::uint64_t{1} << 63, std::uint64_t{1} << 50, std::uint64_t{1} << 49,
                                   std::uint64_t{100}, std::uint64_t{1}, std::uint64_t{0}}) {
    const std::uint64_t bound = hemstitch_compress_bound(UINT64_MAX - less);
    EXPECT_GE(bound, UINT64_MAX - less);
    EXPECT_GE(bound, last);
    last = bound;
  }
  EXPECT_LT(hemstitch_compress_bound(UINT64_MAX / 2), UINT64_MAX);
  EXPECT_EQ(hemstitch_compress_bound(UINT64_MAX), UINT64_MAX);
  EXPECT_EQ(hemstitch_lz4_compress_bound(1000), 1019u);
  EXPECT_EQ(hemstitch_lz4_compress_bound(SIZE_MAX), SIZE_MAX);
}

// Other formats are recognized by their first bytes, as in the tool.
TEST(CInterface, DataOfOtherToolsIsTold) {
  for (const auto& [data, tool] : {std::pair{bytes_of("\x27\xB5\x2F\xFD and more"), "zstd -d"},
                                   {bytes_of("\xFD"
                                             "7zXZ and more"),
                                    "xz -d"},
                                   {bytes_of("BZh9 and more"), "bzip2 -d"}}) {
    std::uint64_t restored_bytes = 0;
    std::size_t bytes = 0;
    Bytes restored(1000);
    EXPECT_EQ(hemstitch_restored_size(data.data(), data.size(), &restored_bytes), HEMSTITCH_FOREIGN_FORMAT)
        << tool;
    EXPECT_EQ(hemstitch_restore(data.data(), data.size(), restored.data(), restored.size(), &bytes),
              HEMSTITCH_FOREIGN_FORMAT);
    EXPECT_NE(std::string(hemstitch_last_error_message()).find(tool), std::string::npos)
        << hemstitch_last_error_message();
    hemstitch_lz4_frame header{};
    EXPECT_EQ(hemstitch_lz4_frame_read_header(data.data(), data.size(), &header), HEMSTITCH_FOREIGN_FORMAT);
    Decompressor decompressor({}, [](std::span<const std::byte>) {});
    try {
      decompressor.write(data);
      FAIL();
    } catch (const Error& error) {
      EXPECT_EQ(error.status(), Status::kForeignFormat);
    }
  }
}

TEST(CInterface, OneByteShortIsTooSmall) {
  const Bytes content = wordy_bytes(100000);
  const Bytes frame = compress_c(content, 9);
  Bytes room(frame.size() - 1), restored(content.size() - 1);
  std::size_t bytes = 77;
  EXPECT_EQ(hemstitch_compress(content.data(), content.size(), 9, room.data(), room.size(), &bytes),
            HEMSTITCH_OUTPUT_TOO_SMALL);
  EXPECT_EQ(hemstitch_restore(frame.data(), frame.size(), restored.data(), restored.size(), &bytes),
            HEMSTITCH_OUTPUT_TOO_SMALL);
  EXPECT_EQ(bytes, 77u);
}

TEST(CInterface, ErrorsHaveStatusAndMessage) {
  std::size_t bytes = 0;
  Bytes room(1000);
  EXPECT_EQ(hemstitch_compress(room.data(), 10, 13, room.data() + 500, 500, &bytes),
            HEMSTITCH_INVALID_OPTION);
  EXPECT_NE(std::string(hemstitch_last_error_message()).find("level"), std::string::npos);
  const Bytes frame = compress_c(wordy_bytes(1000));
  EXPECT_STREQ(hemstitch_last_error_message(), "");
  EXPECT_EQ(hemstitch_restore(frame.data(), frame.size() - 1, room.data(), room.size(), &bytes),
            HEMSTITCH_TRUNCATED);
  EXPECT_NE(std::string(hemstitch_last_error_message()).find("byte"), std::string::npos);
  std::uint64_t restored_bytes = 0;
  EXPECT_EQ(hemstitch_restored_size("hello, world", 12, &restored_bytes), HEMSTITCH_UNKNOWN_FORMAT);
  const Bytes garbage = frame + bytes_of("xyz");
  EXPECT_EQ(hemstitch_restore(garbage.data(), garbage.size(), room.data(), room.size(), &bytes),
            HEMSTITCH_TRAILING_GARBAGE);
  EXPECT_STREQ(hemstitch_status_text(HEMSTITCH_OK), "done");
  EXPECT_STREQ(hemstitch_version(), HEMSTITCH_VERSION_STRING);
}

TEST(CInterface, WhatStandsBeforeOtherBytesIsGivenToWhoAsksForTheirPlace) {
  const Bytes content = wordy_bytes(1000), frame = compress_c(content), data = frame + bytes_of("xyz");
  Bytes room(content.size());
  std::size_t bytes = 0;
  std::uint64_t used = 0;
  hemstitch_report report{};
  report.size = sizeof report;
  for (const bool with_report : {false, true}) {
    hemstitch_restore_options options = restore_options();
    if (with_report) options.report = &report;
    EXPECT_EQ(hemstitch_restore_with(&options, data.data(), data.size(), room.data(), room.size(), &bytes),
              HEMSTITCH_TRAILING_GARBAGE);
    EXPECT_EQ(hemstitch_last_error_place().byte_offset, frame.size());
    options.used_bytes = &used;
    ASSERT_EQ(hemstitch_restore_with(&options, data.data(), data.size(), room.data(), room.size(), &bytes),
              HEMSTITCH_OK);
    EXPECT_EQ(std::exchange(used, 0), frame.size());
    EXPECT_EQ(bytes, content.size());
    EXPECT_EQ(room, content);
    Bytes passed;
    const auto pass = [](void* context, const void* piece, std::size_t count) {
      const auto* const begin = static_cast<const std::byte*>(piece);
      static_cast<Bytes*>(context)->insert(static_cast<Bytes*>(context)->end(), begin, begin + count);
      return 0;
    };
    ASSERT_EQ(hemstitch_restore_to(&options, data.data(), data.size(), pass, &passed), HEMSTITCH_OK);
    EXPECT_EQ(std::exchange(used, 0), frame.size());
    EXPECT_EQ(passed, content);
  }
  EXPECT_EQ(report.input_bytes, frame.size());
  hemstitch_restore_options options = restore_options();
  options.used_bytes = &used;
  hemstitch_item item{data.data(), data.size(), room.data(), room.size(), 0, HEMSTITCH_OK, {}};
  EXPECT_EQ(hemstitch_restore_many(&options, &item, 1), HEMSTITCH_INVALID_OPTION);
  std::fill(room.begin(), room.end(), std::byte{0});
  ASSERT_EQ(hemstitch_restore_many(nullptr, &item, 1), HEMSTITCH_OK);
  EXPECT_EQ(item.status, HEMSTITCH_TRAILING_GARBAGE);
  EXPECT_EQ(item.output_bytes, content.size());
  EXPECT_EQ(item.place.byte_offset, frame.size());
  EXPECT_EQ(room, content);
  // A caller who was compiled before the member was there.
  options.size = offsetof(hemstitch_restore_options, used_bytes);
  EXPECT_EQ(hemstitch_restore_with(&options, data.data(), data.size(), room.data(), room.size(), &bytes),
            HEMSTITCH_TRAILING_GARBAGE);
}

// Calls work on the backend and device that the options name.
TEST_WITH_THREADS(CInterface, OptionsNameBackendAndDevice) {
  const Bytes content = wordy_bytes(300'000);
  CompressOptions by_reference;
  by_reference.backend = "reference";
  by_reference.level = 3;
  by_reference.content_bytes = content.size();
  const Bytes expected = compress(content, by_reference);
  Bytes frame(hemstitch_compress_bound(content.size())), restored(content.size());
  std::size_t bytes = 0;
  hemstitch_compress_options options = compress_options();
  hemstitch_restore_options restoring = restore_options();
  options.level = 3;
  options.backend = restoring.backend = "reference";
  options.threads = restoring.threads = 2;
  ASSERT_EQ(
      hemstitch_compress_with(&options, content.data(), content.size(), frame.data(), frame.size(), &bytes),
      HEMSTITCH_OK)
      << hemstitch_last_error_message();
  frame.resize(bytes);
  EXPECT_EQ(frame, expected);
  EXPECT_NE(frame, compress_c(content, 3));
  for (const bool by_default : {true, false}) {
    const hemstitch_restore_options* const how = by_default ? nullptr : &restoring;
    ASSERT_EQ(
        hemstitch_restore_with(how, frame.data(), frame.size(), restored.data(), restored.size(), &bytes),
        HEMSTITCH_OK);
    EXPECT_EQ(restored, content);
  }

  const auto status_of_both = [&] {
    Bytes room(hemstitch_compress_bound(content.size()));
    const hemstitch_status status =
        hemstitch_compress_with(&options, content.data(), content.size(), room.data(), room.size(), &bytes);
    EXPECT_EQ(hemstitch_restore_with(&restoring, frame.data(), frame.size(), restored.data(), restored.size(),
                                     &bytes),
              status);
    return status;
  };
  options.backend = restoring.backend = "quantum";
  EXPECT_EQ(status_of_both(), HEMSTITCH_UNKNOWN_BACKEND);
  options.device = restoring.device = "no such device";
  for (const char* backend : {"cuda", "webgpu"}) {
    options.backend = restoring.backend = backend;
    const hemstitch_status status = status_of_both();  // "unknown" in a build without this backend
    EXPECT_TRUE(status == HEMSTITCH_DEVICE_UNAVAILABLE || status == HEMSTITCH_UNKNOWN_BACKEND) << status;
  }
  options = compress_options();
  restoring = restore_options();
  options.level = 3;
  options.memory_limit_bytes = restoring.memory_limit_bytes = 1;
  EXPECT_EQ(status_of_both(), HEMSTITCH_MEMORY_LIMIT);
}

TEST(CInterface, WhatIsNullIsNamed) {
  const Bytes content = wordy_bytes(1000), frame = compress_c(content);
  Bytes room(2000);
  std::size_t bytes = 77;
  std::uint64_t size = 77;
  const auto expect_named = [](hemstitch_status status, const std::string& name) {
    EXPECT_EQ(status, HEMSTITCH_INVALID_OPTION);
    EXPECT_EQ(std::string(hemstitch_last_error_message()).find(name + " is NULL"), 0u)
        << hemstitch_last_error_message();
  };
  expect_named(hemstitch_compress(nullptr, 1, 1, room.data(), room.size(), &bytes), "input");
  expect_named(hemstitch_compress(content.data(), content.size(), 1, nullptr, 1, &bytes), "output");
  expect_named(hemstitch_compress(content.data(), content.size(), 1, room.data(), room.size(), nullptr),
               "output_bytes");
  expect_named(hemstitch_restored_size(nullptr, 1, &size), "input");
  expect_named(hemstitch_restored_size(frame.data(), frame.size(), nullptr), "restored_bytes");
  expect_named(hemstitch_restore(nullptr, 1, room.data(), room.size(), &bytes), "input");
  expect_named(hemstitch_restore(frame.data(), frame.size(), nullptr, 1, &bytes), "output");
  expect_named(hemstitch_restore(frame.data(), frame.size(), room.data(), room.size(), nullptr),
               "output_bytes");
  EXPECT_EQ(bytes, 77u);
  EXPECT_EQ(size, 77u);
  // If there are no bytes, the pointer may be null.
  ASSERT_EQ(hemstitch_compress(nullptr, 0, 1, room.data(), room.size(), &bytes), HEMSTITCH_OK);
  EXPECT_EQ(hemstitch_restore(room.data(), bytes, nullptr, 0, &bytes), HEMSTITCH_OK);
  EXPECT_EQ(bytes, 0u);
  EXPECT_EQ(hemstitch_compress(content.data(), content.size(), 1, nullptr, 0, &bytes),
            HEMSTITCH_OUTPUT_TOO_SMALL);
  EXPECT_EQ(hemstitch_restore(nullptr, 0, room.data(), room.size(), &bytes), HEMSTITCH_TRUNCATED);
  EXPECT_STREQ(hemstitch_status_text(static_cast<hemstitch_status>(999)), "unknown status");
}

TEST_WITH_THREADS(CInterface, EachHasItsOwnLastError) {
  const Bytes content = wordy_bytes(300000);
  std::vector<std::thread> threads;
  for (int thread = 0; thread < 8; ++thread)
    threads.emplace_back([&, thread] {
      for (int round = 0; round < 20; ++round) {
        const Bytes frame = compress_c(content, 1 + thread % 3);
        Bytes restored(content.size());
        std::size_t bytes = 0;
        const bool fails = thread % 2 == 1;
        EXPECT_EQ(hemstitch_restore(frame.data(), frame.size() - (fails ? 1 : 0), restored.data(),
                                    restored.size(), &bytes),
                  fails ? HEMSTITCH_TRUNCATED : HEMSTITCH_OK);
        EXPECT_EQ(std::string(hemstitch_last_error_message()).empty(), !fails);
        if (!fails) {
          EXPECT_EQ(restored, content);
        }
      }
    });
  for (std::thread& thread : threads) thread.join();
}

}  // namespace
}  // namespace hemstitch::testing
