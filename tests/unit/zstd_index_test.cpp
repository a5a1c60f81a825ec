// Indexes of ordinary Zstandard files: ranges from their points are the right bytes, they are small, and damaged ones
// and those of other files are refused.
#include "format/zstd_index.hpp"

#include <gtest/gtest.h>

#include <random>

#include "collect_sink.hpp"
#include "core/random_access.hpp"
#include "hemstitch/ranges.hpp"
#include "pipeline/index_points.hpp"
#include "skippable_frames.hpp"
#include "threads.hpp"
#include "valid_data/valid_data.hpp"
#include "zstd_frames.hpp"

namespace hemstitch::testing {
namespace {

// Noise that repeats a little of what came earlier, near and far.
Bytes repeating_content(std::size_t bytes, unsigned seed) {
  std::mt19937 random(seed);
  Bytes content = wordy_bytes(300'000, seed);
  while (content.size() < bytes) {
    const Bytes fresh = random_bytes(2000 + random() % 10'000, static_cast<std::uint32_t>(random()));
    content.insert(content.end(), fresh.begin(), fresh.end());
    for (const std::size_t reach : {std::size_t{1000}, std::size_t{30'000}, content.size() - 300}) {
      const std::size_t from = content.size() - 300 - random() % std::min(reach, content.size() - 300);
      const Bytes again(content.begin() + static_cast<std::ptrdiff_t>(from),
                        content.begin() + static_cast<std::ptrdiff_t>(from + 200));
      content.insert(content.end(), again.begin(), again.end());
    }
  }
  content.resize(bytes);
  return content;
}

Bytes one_frame(std::span<const std::byte> content, int level, int window_log = 0, bool states_size = true) {
  const std::unique_ptr<ZSTD_CCtx, decltype(&ZSTD_freeCCtx)> context(ZSTD_createCCtx(), ZSTD_freeCCtx);
  ZSTD_CCtx_setParameter(context.get(), ZSTD_c_compressionLevel, level);
  ZSTD_CCtx_setParameter(context.get(), ZSTD_c_windowLog, window_log);
  ZSTD_CCtx_setParameter(context.get(), ZSTD_c_contentSizeFlag, states_size ? 1 : 0);
  ZSTD_CCtx_setParameter(context.get(), ZSTD_c_checksumFlag, level > 1 ? 1 : 0);
  Bytes frame(ZSTD_compressBound(content.size()));
  frame.resize(ZSTD_compress2(context.get(), frame.data(), frame.size(), content.data(), content.size()));
  return frame;
}

std::size_t points_of(const Bytes& index, std::size_t file_bytes) {
  MemorySource source(index);
  const auto reader = ZstdIndexReader::of(source, file_bytes);
  return reader ? reader->points().size() : 0;
}

TEST_WITH_THREADS(ZstdIndex, RangesFromPoints) {
  const Bytes content = repeating_content(6'000'000, 1);
  struct Case {
    std::string name;
    Bytes file;
    std::size_t least_points;
  };
  const auto half = std::span(content).first(3'000'000), rest = std::span(content).subspan(3'000'000);
  CompressOptions ours;
  ours.format = Format::kZstd;
  const std::vector<Case> cases{
      {"level 1", one_frame(content, 1), 3},
      {"level 3", one_frame(content, 3), 3},
      {"level 19", one_frame(content, 19), 1},
      {"a small window", one_frame(content, 3, 15, false), 3},
      {"a large window", one_frame(content, 5, 24), 3},
      {"several frames",
       one_frame(half, 2) + skippable_frame(0) + one_frame({}, 3) + one_frame(rest, 3, 18) +
           skippable_frame(9),
       4},
      {"parts of ours", compress(content, ours), 3},
      {"nothing", one_frame({}, 3), 1},
  };
  for (const auto& [name, file, least_points] : cases) {
    SCOPED_TRACE(name);
    const Bytes whole = name == "nothing" ? Bytes() : content;
    const Bytes index = make_index(file);
    EXPECT_GE(points_of(index, file.size()), least_points);
    EXPECT_LE(index.size(), file.size() * 3 / 100 + 200);
    RestoreOptions options;
    options.threads = 1;
    EXPECT_TRUE(make_index(file, options) == index) << "by one thread";
    options.threads = 0;
    options.index = index;
    std::vector<ContentBytes> ranges{{0, 10}, {0, UINT64_MAX}};
    std::mt19937 random(3);
    for (int i = 0; i < 10 && !whole.empty(); ++i) {
      const std::uint64_t begin = random() % whole.size();
      ranges.push_back({begin, begin + random() % 300'000});
    }
    const auto restored = restore_ranges(file, ranges, options);
    MemorySource index_source(index);
    const auto reader = ZstdIndexReader::of(index_source, file.size());
    ASSERT_TRUE(reader);
    const RangeReader kept(file, options);
    EXPECT_EQ(kept.content_bytes(), whole.size());
    for (std::size_t i = 0; i < ranges.size(); ++i) {
      const std::uint64_t begin = ranges[i].begin, end = std::min<std::uint64_t>(ranges[i].end, whole.size());
      const auto expected = std::span(whole).subspan(begin, std::max(begin, end) - begin);
      EXPECT_EQ(restored[i].status, Status::kOk) << begin;
      EXPECT_TRUE(std::ranges::equal(restored[i].bytes, expected)) << begin;
      if (begin > whole.size()) continue;
      MemorySource source(file);
      CollectSink sink;
      restore_range_from(source, sink, *reader, index_source, begin, end, {});
      EXPECT_TRUE(std::ranges::equal(sink.content, expected)) << begin;
      Bytes piece(expected.size());
      EXPECT_EQ(kept.read(begin, piece), piece.size());
      EXPECT_TRUE(std::ranges::equal(piece, expected)) << begin;
    }
    MemorySource source(file);
    CollectSink sink;
    EXPECT_THROW(restore_range_from(source, sink, *reader, index_source, whole.size() + 1, UINT64_MAX, {}),
                 Error);
  }
}

// Points only stand where no later block uses a table from before: such blocks are left to the point before.
TEST(ZstdIndex, SmallFilesAndStubbornOnesHaveOnePoint) {
  for (const std::size_t bytes : {std::size_t{1}, std::size_t{1000}, std::size_t{500'000}}) {
    const Bytes content = wordy_bytes(bytes), file = one_frame(content, 3), index = make_index(file);
    EXPECT_EQ(points_of(index, file.size()), 1u);
    EXPECT_LT(index.size(), 200u);
    RestoreOptions options;
    options.index = index;
    EXPECT_TRUE(restore_ranges(file, std::vector<ContentBytes>{{0, UINT64_MAX}}, options)[0].bytes ==
                content);
  }
}

// Windows of all sizes, offsets as far as they reach, tables and repeats of all kinds.
TEST(ZstdIndex, FramesThatNoEncoderWrites) {
  std::size_t points = 0, frames = 0;
  for (unsigned seed = 0; seed < 24; ++seed) {
    const ValidData made = valid_zstd_frame(seed, 3'000'000);
    if (!made.dictionary.empty()) continue;
    ++frames;
    SCOPED_TRACE(seed);
    const Bytes index = make_index(made.data);
    points += points_of(index, made.data.size());
    RestoreOptions options;
    options.index = index;
    const RangeReader reader(made.data, options);
    ASSERT_EQ(reader.content_bytes(), made.content.size());
    for (std::size_t end = made.content.size(); end > 0; end -= std::min<std::size_t>(end, 200'000)) {
      const std::size_t begin = end - std::min<std::size_t>(end, 1000);
      Bytes piece(end - begin);
      ASSERT_EQ(reader.read(begin, piece), piece.size());
      ASSERT_TRUE(std::ranges::equal(piece, std::span(made.content).subspan(begin, piece.size()))) << begin;
    }
  }
  EXPECT_GE(points, frames + 5);
}

TEST(ZstdIndex, OthersAreRefused) {
  const Bytes content = repeating_content(5'000'000, 2), file = one_frame(content, 3),
              index = make_index(file);
  ASSERT_GE(points_of(index, file.size()), 2u);
  const auto right_or_refused = [&](const Bytes& of, const Bytes& by) {
    RestoreOptions options;
    options.index = by;
    try {
      for (const std::uint64_t begin : {0, 2'000'000, 4'900'000}) {
        const auto range = restore_ranges(of, std::vector<ContentBytes>{{begin, begin + 1000}}, options)[0];
        if (range.status == Status::kOk &&
            !std::ranges::equal(range.bytes, std::span(content).subspan(begin, 1000)))
          return false;
      }
    } catch (const Error& error) {
      return error.status() == Status::kInvalidOption;
    }
    return true;
  };
  EXPECT_TRUE(right_or_refused(file, index));
  std::mt19937 random(4);
  for (int i = 0; i < 300; ++i) {
    Bytes bad = index;
    bad[i < 200 ? static_cast<std::size_t>(i) % bad.size() : random() % bad.size()] ^=
        static_cast<std::byte>(1 << random() % 8);
    EXPECT_TRUE(right_or_refused(file, bad)) << i;
  }
  for (std::size_t bytes = 0; bytes < index.size(); bytes += bytes < 300 ? 1 : 997)
    if (bytes != 0) {
      EXPECT_TRUE(
          right_or_refused(file, Bytes(index.begin(), index.begin() + static_cast<std::ptrdiff_t>(bytes))));
    }
  // A file of the same size with other bytes.
  const Bytes other = one_frame(repeating_content(5'000'000, 9), 3, 17);
  Bytes same_size = other;
  same_size.resize(file.size());
  RestoreOptions options;
  options.index = index;
  const auto refused = [&](const Bytes& of) {
    try {
      const auto range = restore_ranges(of, std::vector<ContentBytes>{{2'000'000, 2'001'000}}, options)[0];
      return range.status != Status::kOk;
    } catch (const Error&) {
      return true;
    }
  };
  EXPECT_TRUE(refused(same_size));
  EXPECT_TRUE(refused(other));
  EXPECT_FALSE(refused(file));
  EXPECT_THROW(RangeReader(compress(content), options), Error) << "LZ4";
}

TEST(ZstdIndex, WhatHasNone) {
  CompressOptions seekable;
  seekable.format = Format::kZstd;
  seekable.seekable_bytes = 64 << 10;
  EXPECT_THROW(make_index(compress(wordy_bytes(200'000), seekable)), Error);
  Bytes damaged = one_frame(wordy_bytes(200'000), 3);
  damaged[damaged.size() / 2] ^= std::byte{1};
  EXPECT_THROW(make_index(damaged), Error);
}

}  // namespace
}  // namespace hemstitch::testing
