// The library when malloc fails: the C interface must return a status, streams must throw, and the next call,
// which has memory again, must work.
#include <gtest/gtest.h>

#include <functional>
#include <limits>
#include <optional>
#include <string_view>

#include "deflate_streams.hpp"
#include "format/deflate/stream/deflate_parallel_decoder.hpp"
#include "hemstitch/batch.h"
#include "hemstitch/memory.hpp"
#include "shapes.hpp"
#include "trials.hpp"
#include "zlib_oracle.hpp"

namespace hemstitch::testing {
namespace {

// How a trial ends.
constexpr int kRight = 0, kOutOfMemory = 3, kWrongBytes = 4, kWrongError = 5, kStaysBroken = 6;

// Several batches, for two threads.
const Bytes& content() {
  static const Bytes bytes = wordy_bytes(300'000);
  return bytes;
}

// A frame with several blocks and all checksums.
const Bytes& frame() {
  static const Bytes bytes = [] {
    CompressOptions options;
    options.threads = 1;  // no thread may exist when a trial is forked
    options.content_checksum = true;
    return compress(content(), options);
  }();
  return bytes;
}

// Whether this is a message of oneTBB or the C++ library, when the loader had no memory for a thread.
bool tells_of_threads(std::string_view message) {
  return message.find("pthread_create") != message.npos || message.find("unavailable") != message.npos;
}

void expect_right_or_out_of_memory(const std::function<int()>& run) {
  frame();
  // The call after a failed one is tried too, so oneTBB must be started.
  try_every_allocation([](Failing) { start_tbb(); }, run,
                       [](const Ended& ended, bool may_have_failed) {
                         const bool ended_well =
                             ended.status == kRight || (may_have_failed && ended.status == kOutOfMemory);
                         ASSERT_TRUE(ended_well) << ended.text();
                       });
}

// `call` returns a status, and `right` says whether its results are right.
void expect_of_c(const std::function<hemstitch_status()>& call, const std::function<bool()>& right,
                 hemstitch_status usual = HEMSTITCH_OK) {
  expect_right_or_out_of_memory([&] {
    const hemstitch_status status = call();
    const std::string_view message = hemstitch_last_error_message();
    const bool told = status == HEMSTITCH_OUT_OF_MEMORY ? !message.empty() : tells_of_threads(message);
    fail_no_allocation();
    if (status == usual) return right() ? kRight : kWrongBytes;
    if (!told) return kWrongError;
    return call() == usual && right() ? kOutOfMemory : kStaysBroken;
  });
}

// A run from the beginning of a stream to its end.
void expect_of_stream(const std::function<Bytes()>& run, const Bytes& expected) {
  expect_right_or_out_of_memory([&] {
    const auto once = [&]() -> std::optional<int> {
      try {
        return run() == expected ? kRight : kWrongBytes;
      } catch (const std::bad_alloc&) {
        return std::nullopt;
      } catch (const Error& error) {
        return error.status() == Status::kOutOfMemory ? std::nullopt : std::optional(kWrongError);
      } catch (const std::exception& error) {
        return tells_of_threads(error.what()) ? std::nullopt : std::optional(kWrongError);
      }
    };
    if (const std::optional<int> ended = once()) return *ended;
    fail_no_allocation();
    return once() == kRight ? kOutOfMemory : kStaysBroken;
  });
}

template <class Stream, class Options>
Bytes through(const Options& options, const Bytes& input) {
  constexpr std::size_t kPieceBytes = 100'000;
  Bytes output;
  Stream stream(options, [&](std::span<const std::byte> bytes) {
    output.insert(output.end(), bytes.begin(), bytes.end());
  });
  for (std::size_t at = 0; at < input.size(); at += kPieceBytes)
    stream.write(std::span(input).subspan(at, std::min(kPieceBytes, input.size() - at)));
  stream.finish();
  return output;
}

TEST(MallocC, Compress) {
  Bytes room(hemstitch_compress_bound(content().size()));
  std::size_t bytes = 0;
  for (const int level : {1, 3})
    expect_of_c(
        [&] {
          bytes = 0;
          return hemstitch_compress(content().data(), content().size(), level, room.data(), room.size(),
                                    &bytes);
        },
        [&] { return restore(std::span(room).first(bytes)) == content(); });
}

// With ISA-L and with libdeflate, which allocate their memory themselves.
TEST(MallocC, CompressToGzip) {
  hemstitch_compress_options options{};
  options.size = sizeof options;
  options.format = HEMSTITCH_FORMAT_GZIP;
  Bytes room(hemstitch_compress_bound_of(options.format, content().size()));
  std::size_t bytes = 0;
  for (const int level : {1, 6})
    expect_of_c(
        [&] {
          bytes = 0;
          options.level = level;
          return hemstitch_compress_with(&options, content().data(), content().size(), room.data(),
                                         room.size(), &bytes);
        },
        [&] { return inflated_by_zlib(std::span(room).first(bytes), ZlibKind::kGzip) == content(); });
}

TEST(MallocC, Restore) {
  Bytes room(content().size());
  std::size_t bytes = 0;
  expect_of_c(
      [&] { return hemstitch_restore(frame().data(), frame().size(), room.data(), room.size(), &bytes); },
      [&] { return bytes == content().size() && room == content(); });
}

// gzip with an index of two parts, which is made and used.
TEST(MallocC, Index) {
  const Bytes long_content = wordy_bytes(5'000'000),
              file = zlib_stream(long_content, 1, Z_DEFAULT_STRATEGY, 8, MAX_WBITS + 16);
  Bytes expected(hemstitch_index_bound(file.size())), room(expected.size());
  std::size_t expected_bytes = 0, bytes = 0;
  hemstitch_restore_options options{};
  options.size = sizeof options;
  options.backend = "cpu";
  options.threads = 1;  // no thread may exist when a trial is forked
  ASSERT_EQ(hemstitch_make_index(&options, file.data(), file.size(), expected.data(), expected.size(),
                                 &expected_bytes),
            HEMSTITCH_OK);
  expect_of_c(
      [&] {
        bytes = 0;
        return hemstitch_make_index(&options, file.data(), file.size(), room.data(), room.size(), &bytes);
      },
      [&] {
        return bytes == expected_bytes &&
               std::equal(room.begin(), room.begin() + static_cast<std::ptrdiff_t>(bytes), expected.begin());
      });
  options.index = expected.data();
  options.index_bytes = expected_bytes;
  Bytes output(200'000);
  hemstitch_range range{4'100'000, 4'300'000, output.data(), output.size(), 0, HEMSTITCH_OK, {}};
  expect_of_c([&] { return hemstitch_restore_ranges(&options, file.data(), file.size(), &range, 1); },
              [&] {
                return range.status == HEMSTITCH_OK &&
                       std::equal(output.begin(), output.end(), long_content.begin() + 4'100'000);
              });
}

TEST(MallocC, RestoredSize) {
  std::uint64_t bytes = 0;
  expect_of_c([&] { return hemstitch_restored_size(frame().data(), frame().size(), &bytes); },
              [&] { return bytes == content().size(); });
}

TEST(MallocC, ErrorsOfData) {
  Bytes room(content().size());
  std::size_t bytes = 0;
  Bytes damaged = frame();
  damaged[damaged.size() / 2] ^= std::byte{1};
  expect_of_c(
      [&] { return hemstitch_restore(damaged.data(), damaged.size(), room.data(), room.size(), &bytes); },
      [&] { return hemstitch_last_error_message()[0] != '\0'; }, HEMSTITCH_BLOCK_CHECKSUM_MISMATCH);
}

TEST(MallocC, ErrorsOfCalls) {
  expect_of_c([&] { return hemstitch_lz4_compress_temp_bytes(nullptr, 1, nullptr); },
              [&] { return hemstitch_last_error_message()[0] != '\0'; }, HEMSTITCH_INVALID_OPTION);
}

TEST(MallocStream, Compressor) {
  for (const bool linked : {false, true}) {
    CompressOptions options;
    options.threads = 2;
    options.content_checksum = true;
    options.linked_blocks = linked;
    Bytes expected;
    {
      CompressOptions alone = options;
      alone.threads = 1;
      expected = through<Compressor>(alone, content());
    }
    expect_of_stream([&] { return through<Compressor>(options, content()); }, expected);
  }
}

// A stream with two threads and with three: if a thread has no memory, the calling thread does its work, or
// the call fails.
TEST(MallocStream, SeveralThreads) {
  const Bytes some = wordy_bytes(60'000), data = zlib_stream(some, 6, Z_DEFAULT_STRATEGY, 1);
  for (const unsigned threads : {2u, 3u}) {
    const DeflateParallelLimits limits{.threads = threads,
                                       .pieces = 6,
                                       .piece_bytes = 1500,
                                       .overlap_bytes = 700,
                                       .content_bytes = 160'000,
                                       .begin_bytes = 1};
    expect_of_stream(
        [&] {
          DeflateParallelDecoder decoder({}, false, limits);
          Bytes restored, output(4000);
          std::span<const std::byte> left = data;
          for (StreamStep step; !step.ended;) {
            step = decoder.restore(left.first(std::min<std::size_t>(left.size(), 1000)), output);
            if (step.status != Status::kOk || (step.input_bytes + step.output_bytes == 0 && !step.ended))
              break;
            left = left.subspan(step.input_bytes);
            restored.insert(restored.end(), output.begin(),
                            output.begin() + static_cast<std::ptrdiff_t>(step.output_bytes));
          }
          return restored;
        },
        some);
  }
}

TEST(MallocStream, Decompressor) {
  RestoreOptions options;
  options.threads = 2;
  expect_of_stream([&] { return through<Decompressor>(options, frame()); }, content());
}

// What frames have in common is made once: memory of its own would cost a frame of 100 bytes as much as its content.
TEST(MallocStream, SmallFramesNeedNoMemoryOfTheirOwn) {
  CompressOptions compressing;
  compressing.content_checksum = true;
  const Bytes some = wordy_bytes(100), one = compress(some, compressing);
  const auto allocations_of = [&](std::size_t count) {
    Bytes data, room(count * some.size());
    for (std::size_t i = 0; i < count; ++i) data.insert(data.end(), one.begin(), one.end());
    RestoreOptions options;
    options.backend = "cpu";
    options.threads = 1;
    fail_allocation(std::numeric_limits<long>::max(), Failing::kOne);
    EXPECT_EQ(restore_into(data, room, options), room.size());
    return allocation_count();
  };
  allocations_of(1);
  EXPECT_LE(allocations_of(3000) - allocations_of(1000), 100);
}

}  // namespace
}  // namespace hemstitch::testing
