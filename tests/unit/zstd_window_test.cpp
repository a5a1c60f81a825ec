// Frames of Zstandard with a window of the caller's choice: what is written, what libzstd reads of it, and which windows are
// read.
#include <gtest/gtest.h>

#include "hemstitch/memory.hpp"
#include "pipeline/stream.hpp"
#include "zstd_frames.hpp"

namespace hemstitch::testing {
namespace {

CompressOptions with_window(int window_log, int level = 0) {
  CompressOptions options;
  options.format = Format::kZstd;
  options.window_log = window_log;
  options.level = level;
  return options;
}

// The end repeats the beginning, farther back than a part's history reaches.
Bytes far_repeats(std::size_t bytes_between) {
  const Bytes beginning = random_bytes(1'000'000);
  Bytes content = beginning;
  const Bytes between = wordy_bytes(bytes_between);
  content.insert(content.end(), between.begin(), between.end());
  content.insert(content.end(), beginning.begin(), beginning.end());
  return content;
}

template <class Call>
std::pair<Status, std::string> refusal_of(const Call& call) {
  try {
    call();
  } catch (const Error& error) {
    return {error.status(), error.what()};
  }
  return {Status::kOk, {}};
}

TEST(ZstdWindow, FindsRepeatsFarBack) {
  const Bytes content = far_repeats(5'500'000);
  const auto usual = [&](int level) {
    CompressOptions options = with_window(0, level);
    options.block_bytes = 1 << 20;  // a part has at most 4 MB before it
    return compress(content, options).size();
  };
  for (const int level : {-5, 3, 13}) {
    SCOPED_TRACE(level);
    const Bytes frame = compress(content, with_window(24, level));
    EXPECT_LT(frame.size() + 900'000, usual(level));
    const ZstdRead read = read_by_libzstd(frame, {}, 100'000);
    ASSERT_EQ(read.outcome, ZstdOutcome::kWhole) << read.why;
    EXPECT_TRUE(read.content == content);
    EXPECT_EQ(read.used_bytes, frame.size());
    for (const char* backend : {"cpu", "reference"}) {
      RestoreOptions restoring;
      restoring.backend = backend;
      EXPECT_TRUE(restore(frame, restoring) == content) << backend;
    }
  }
  // A window that does not reach so far.
  EXPECT_GT(compress(content, with_window(20)).size() + 900'000, usual(0));
}

TEST(ZstdWindow, BytesDoNotDependOnThreadsAndPieces) {
  const Bytes content = far_repeats(9'000'000);
  CompressOptions options = with_window(23);
  options.threads = 1;
  const Bytes frame = compress(content, options);
  for (const unsigned threads : {2, 3, 16}) {
    options.threads = threads;
    EXPECT_TRUE(compress(content, options) == frame) << threads;
  }
  Bytes written;
  options.content_bytes = content.size();
  Compressor compressor(options, [&](std::span<const std::byte> bytes) {
    written.insert(written.end(), bytes.begin(), bytes.end());
  });
  for (std::size_t at = 0; at < content.size(); at += 777'777)
    compressor.write(std::span(content).subspan(at, std::min<std::size_t>(777'777, content.size() - at)));
  compressor.finish();
  EXPECT_TRUE(written == frame);
  options.content_bytes.reset();
  const auto many = compress_many({{std::span<const std::byte>(content)}}, options);
  EXPECT_TRUE(many.front().bytes == frame);
}

TEST(ZstdWindow, SizesAndWindows) {
  const Bytes content = wordy_bytes((4 << 20) + 1);
  for (const int window_log : {10, 17, 27})
    for (const std::size_t bytes : {0, 1, 1000, 1 << 17, 4 << 20, (4 << 20) + 1}) {
      SCOPED_TRACE(bytes);
      const std::span<const std::byte> part = std::span(content).first(bytes);
      const Bytes frame = compress(part, with_window(window_log));
      const ZstdRead read = read_by_libzstd(frame, {}, 100'000);
      ASSERT_EQ(read.outcome, ZstdOutcome::kWhole) << read.why;
      EXPECT_TRUE(std::ranges::equal(read.content, part));
      EXPECT_TRUE(std::ranges::equal(restore(frame), part));
      const auto header = read_zstd_header(std::span(frame).subspan(4, zstd_header_rest_bytes(frame[4])));
      EXPECT_LE(header->window_bytes, std::uint64_t{1} << window_log);
    }
}

TEST(ZstdWindow, NothingIsLongerThanTheBound) {
  const Bytes noise = random_bytes(5'000'000);
  for (const int window_log : {10, 17})
    for (const std::size_t bytes : {0, 1, 3000, 5'000'000}) {
      const Bytes frame = compress(std::span(noise).first(bytes), with_window(window_log));
      EXPECT_LE(frame.size(), compress_bound(bytes, Format::kZstd)) << window_log << ' ' << bytes;
      EXPECT_TRUE(std::ranges::equal(restore(frame), std::span(noise).first(bytes)));
    }
}

TEST(ZstdWindow, FlushedContentIsComplete) {
  const Bytes content = far_repeats(5'000'000);
  Bytes written;
  Compressor compressor(with_window(24), [&](std::span<const std::byte> bytes) {
    written.insert(written.end(), bytes.begin(), bytes.end());
  });
  compressor.flush();
  const std::span<const std::byte> all = content;
  const auto beginning = all.first(1'500'000);
  compressor.write(beginning);
  compressor.flush();
  const ZstdRead so_far = read_by_libzstd(written);
  EXPECT_EQ(so_far.outcome, ZstdOutcome::kCutOff);
  EXPECT_TRUE(std::ranges::equal(so_far.content, beginning));
  compressor.write(all.subspan(beginning.size()));
  compressor.finish();
  EXPECT_LT(written.size(), 2'500'000U);
  EXPECT_TRUE(restore(written) == content);
}

TEST(ZstdWindow, DictionariesAndSeekableFiles) {
  const Bytes content = far_repeats(5'000'000);
  const Bytes raw = random_bytes(1'000'000);  // the content's beginning
  const Bytes trained = trained_dictionary();
  for (const Bytes& dictionary : {raw, trained}) {
    CompressOptions options = with_window(24);
    options.dictionary = dictionary;
    const Bytes frame = compress(content, options);
    const ZstdRead read = read_by_libzstd(frame, dictionary);
    ASSERT_EQ(read.outcome, ZstdOutcome::kWhole) << read.why;
    EXPECT_TRUE(read.content == content);
    RestoreOptions restoring;
    restoring.dictionary = dictionary;
    EXPECT_TRUE(restore(frame, restoring) == content);
  }
  // Each frame is searched by itself: repeats within 8 MB are found, and those of other frames are not.
  for (const std::size_t seekable_bytes : {std::size_t{1} << 20, std::size_t{8} << 20}) {
    CompressOptions options = with_window(27);
    options.seekable_bytes = seekable_bytes;
    options.verify = true;
    const Bytes file = compress(content, options);
    EXPECT_TRUE(restore(file) == content);
    EXPECT_EQ(file.size() < 2'500'000U, seekable_bytes > content.size()) << file.size();
  }
}

TEST(ZstdWindow, LargerWindowsAreReadWhenAllowed) {
  Bytes wide;
  Compressor compressor(with_window(28), [&](std::span<const std::byte> bytes) {
    wide.insert(wide.end(), bytes.begin(), bytes.end());
  });
  const Bytes content = wordy_bytes(100'000);
  compressor.write(content);
  compressor.finish();
  for (const char* backend : {"cpu", "reference"}) {
    RestoreOptions options;
    options.backend = backend;
    const auto refused = refusal_of([&] { restore(wide, options); });
    EXPECT_EQ(refused.first, Status::kMemoryLimit);
    EXPECT_NE(refused.second.find("window_log 28 or a memory_limit_bytes of 268435456"), std::string::npos)
        << refused.second;
    options.window_log = 27;
    EXPECT_EQ(refusal_of([&] { restore(wide, options); }).first, Status::kMemoryLimit);
    for (const int window_log : {28, 31}) {
      options.window_log = window_log;
      EXPECT_TRUE(restore(wide, options) == content);
    }
    // Either of the two is enough.
    options.memory_limit_bytes = 64 << 20;
    EXPECT_TRUE(restore(wide, options) == content);
    options.window_log = 32;
    EXPECT_EQ(refusal_of([&] { restore(wide, options); }).first, Status::kInvalidOption);
  }
  EXPECT_EQ(refusal_of([&] { restored_bytes(wide); }).first, Status::kMemoryLimit);
  RestoreOptions allowing;
  allowing.window_log = 28;
  EXPECT_EQ(restored_bytes(wide, allowing), content.size());
}

TEST(ZstdWindow, RefusesWhatItCannotDo) {
  const Bytes content = wordy_bytes(100'000);
  const auto refusal = [&](CompressOptions options) {
    return refusal_of([&] { compress(content, options); });
  };
  for (const int window_log : {-1, 9, 32})
    EXPECT_EQ(refusal(with_window(window_log)).first, Status::kInvalidOption);
  CompressOptions verified = with_window(27);
  verified.verify = true;
  EXPECT_EQ(refusal(verified).first, Status::kInvalidOption);
  CompressOptions small = with_window(27);
  small.memory_limit_bytes = 100 << 20;
  EXPECT_EQ(refusal(small).first, Status::kMemoryLimit);
  small.memory_limit_bytes = 160 << 20;
  EXPECT_EQ(refusal(small).first, Status::kOk);
  for (const Format format : {Format::kLz4, Format::kGzip, Format::kBgzf}) {
    CompressOptions other = with_window(27);
    other.format = format;
    const auto refused = refusal(other);
    EXPECT_EQ(refused.first, Status::kInvalidOption);
    EXPECT_NE(refused.second.find("window_log"), std::string::npos) << refused.second;
  }
}

}  // namespace
}  // namespace hemstitch::testing
