// Indexes of gzip files: that zlib restores from every point, that ranges from points equal the content, and what damaged indexes do.
#include "format/deflate/frame/gzip_index.hpp"

#include <gtest/gtest.h>

#include <random>

#include "collect_sink.hpp"
#include "core/bytes.hpp"
#include "deflate_streams.hpp"
#include "gzip_members.hpp"
#include "pipeline/gzip_points.hpp"

namespace hemstitch::testing {
namespace {

constexpr std::size_t kHeaderBytes = 35, kPointBytes = 18;

struct Indexed {
  Bytes file, content;
  GzipIndex index;
  StreamReport report;
};

Indexed indexed(const Bytes& file, const Bytes& content, std::uint32_t spacing_bytes = 10'000,
                std::size_t most_points = 4096) {
  Indexed result{file, content, GzipIndex(spacing_bytes, most_points), {}};
  MemorySource source(result.file);
  CollectSink sink;
  RestoreOptions options;
  options.backend = "cpu";
  options.threads = 1;
  StreamHooks hooks;
  hooks.index = &result.index;
  result.report = restore_stream(source, sink, options, hooks);
  EXPECT_EQ(sink.content == content, true);
  return result;
}

Bytes index_bytes(const Indexed& indexed) {
  return indexed.index.bytes(indexed.file.size(), indexed.content.size());
}

std::optional<GzipPoint> nearest(const Bytes& index, std::uint64_t file_bytes, std::uint64_t content_at) {
  MemorySource source(index);
  auto reader = GzipIndexReader::of(source, file_bytes);
  return reader ? reader->nearest(content_at) : std::nullopt;
}

// What zlib makes of the file from a point on, to the end of the member.
Bytes restored_by_zlib(const Bytes& file, const GzipPoint& point, std::size_t most_bytes) {
  z_stream stream{};
  EXPECT_EQ(inflateInit2(&stream, -MAX_WBITS), Z_OK);
  std::uint64_t at = point.bit / 8;
  if (const auto taken = static_cast<int>(point.bit % 8); taken != 0)
    inflatePrime(&stream, 8 - taken, std::to_integer<int>(file[at++]) >> taken);
  if (!point.window.empty())
    inflateSetDictionary(&stream, reinterpret_cast<const Bytef*>(point.window.data()),
                         static_cast<uInt>(point.window.size()));
  Bytes content(most_bytes);
  stream.next_in = const_cast<Bytef*>(reinterpret_cast<const Bytef*>(file.data() + at));
  stream.avail_in = static_cast<uInt>(file.size() - at);
  stream.next_out = reinterpret_cast<Bytef*>(content.data());
  stream.avail_out = static_cast<uInt>(most_bytes);
  const int verdict = inflate(&stream, Z_FINISH);
  EXPECT_TRUE(verdict == Z_STREAM_END || verdict == Z_BUF_ERROR) << verdict;
  content.resize(stream.total_out);
  inflateEnd(&stream);
  return content;
}

Bytes part(const Bytes& content, std::uint64_t begin, std::uint64_t end) {
  const auto at = [&](std::uint64_t place) {
    return content.begin() + static_cast<std::ptrdiff_t>(std::min<std::uint64_t>(place, content.size()));
  };
  return Bytes(at(begin), at(end));
}

Bytes range_from(const Bytes& file, const GzipPoint& point, std::uint64_t begin, std::uint64_t end) {
  MemorySource source(file);
  CollectSink sink;
  restore_range_from(source, sink, point, begin, end, RestoreOptions{});
  return sink.content;
}

TEST(GzipIndex, ZlibRestoresFromEveryPoint) {
  const Bytes content = mixed_bytes(700'000);
  for (const int level : {0, 1, 6, 9}) {
    for (const int strategy : {Z_DEFAULT_STRATEGY, Z_HUFFMAN_ONLY, Z_RLE, Z_FIXED}) {
      const Bytes file = le(0x0008'8B1F, 4) + le(0, 4) + le(0xFF00, 2) + zlib_stream(content, level, strategy) +
                         le(checksum_of(Checksum::kCrc32, content), 4) + le(content.size(), 4);
      const Indexed made = indexed(file, content);
      EXPECT_EQ(made.report.output_bytes, content.size());
      ASSERT_FALSE(made.index.points().empty());
      EXPECT_EQ(made.index.points().front().content_at, 0);
      EXPECT_TRUE(made.index.points().front().window.empty());
      // One block of fixed codes holds 16,383 symbols of zlib: as everywhere, several points.
      EXPECT_GT(made.index.points().size(), 3) << level << ' ' << strategy;
      for (const GzipPoint& point : made.index.points()) {
        SCOPED_TRACE(::testing::Message() << level << ' ' << strategy << " from " << point.content_at);
        const Bytes rest = part(content, point.content_at, content.size());
        EXPECT_EQ(restored_by_zlib(file, point, rest.size()), rest);
        EXPECT_EQ(range_from(file, point, point.content_at, UINT64_MAX), rest);
        EXPECT_EQ(range_from(file, point, point.content_at + 5, point.content_at + 9),
                  part(content, point.content_at + 5, point.content_at + 9));
      }
    }
  }
}

TEST(GzipIndex, IsReadAsItWasWritten) {
  const Bytes content = wordy_bytes(500'000);
  const Indexed made = indexed(gzip_member(content), content);
  const Bytes index = index_bytes(made);
  const std::span<const GzipPoint> points = made.index.points();
  for (std::size_t i = 0; i < points.size(); ++i) {
    const std::uint64_t end = i + 1 < points.size() ? points[i + 1].content_at : content.size();
    for (const std::uint64_t at : {points[i].content_at, end - 1}) {
      const auto found = nearest(index, made.file.size(), at);
      ASSERT_TRUE(found);
      EXPECT_EQ(found->bit, points[i].bit);
      EXPECT_EQ(found->content_at, points[i].content_at);
      EXPECT_EQ(found->window, points[i].window);
    }
  }
  EXPECT_FALSE(nearest(index, made.file.size() + 1, 0)) << "another file's index";
}

// Without the byte that says whether a point has a window, which all have but the first.
TEST(GzipIndex, VersionZeroIsRead) {
  const Bytes content = wordy_bytes(300'000);
  const Indexed made = indexed(gzip_member(content), content);
  const Bytes index = index_bytes(made);
  const std::size_t count = made.index.points().size() + 1;
  Bytes older = part(index, 0, kHeaderBytes);
  older[5] = std::byte{0};
  for (std::size_t i = 0; i < count; ++i)
    older = older + part(index, kHeaderBytes + i * kPointBytes, kHeaderBytes + (i + 1) * kPointBytes - 1);
  older = older + part(index, kHeaderBytes + count * kPointBytes, index.size());
  for (const GzipPoint& point : made.index.points()) {
    const auto found = nearest(older, made.file.size(), point.content_at);
    ASSERT_TRUE(found);
    EXPECT_EQ(found->bit, point.bit);
    EXPECT_EQ(found->window, point.window);
  }
  older[5] = std::byte{2};
  EXPECT_FALSE(nearest(older, made.file.size(), 0));
}

TEST(GzipIndex, PointsAreBoundedInNumber) {
  const Bytes content = wordy_bytes(2'000'000);
  const Indexed all = indexed(gzip_member(content), content, 20'000);
  const Indexed few = indexed(gzip_member(content), content, 20'000, 8);
  EXPECT_GT(all.index.points().size(), 16);
  EXPECT_LE(few.index.points().size(), 8);
  EXPECT_GE(few.index.points().size(), 4);
  EXPECT_EQ(few.index.points().front().content_at, 0);
  // The distance stays nearly even.
  for (std::size_t i = 1; i < few.index.points().size(); ++i)
    EXPECT_LT(few.index.points()[i].content_at - few.index.points()[i - 1].content_at, content.size() / 2);
  for (const GzipPoint& point : few.index.points())
    EXPECT_EQ(range_from(few.file, point, point.content_at, UINT64_MAX),
              part(content, point.content_at, content.size()));
}

TEST(GzipIndex, SeveralMembers) {
  const Bytes first = wordy_bytes(100'000), second = mixed_bytes(60'000), third = wordy_bytes(40'000, 7);
  const Bytes content = first + second + third;
  const Bytes file = gzip_member(first) + gzip_member({}) + gzip_member(second) + gzip_member({}) + gzip_member(third);
  const Indexed made = indexed(file, content);
  EXPECT_EQ(made.report.frame_count, 5);
  for (const GzipPoint& point : made.index.points()) {
    for (const std::uint64_t begin : {point.content_at, std::uint64_t{100'000}, std::uint64_t{159'999}, std::uint64_t{160'000}}) {
      if (begin < point.content_at) continue;
      for (const std::uint64_t end : {begin, std::uint64_t{180'000}, UINT64_MAX})
        EXPECT_EQ(range_from(file, point, begin, end), part(content, begin, std::max(begin, end))) << begin << ' ' << end;
    }
  }
  const GzipPoint& last = made.index.points().back();
  EXPECT_THROW(range_from(file, last, content.size() + 1, UINT64_MAX), Error);
}

TEST(GzipIndex, WhatFollowsTheMembersIsNoContent) {
  const Bytes content = wordy_bytes(50'000);
  for (const bool zeros : {false, true}) {
    const Bytes file = gzip_member(content) + (zeros ? Bytes(1000) : bytes_of("not a member"));
    const Indexed made = indexed(file, content);
    EXPECT_EQ(made.report.trailing_garbage_at.has_value(), !zeros);
    EXPECT_EQ(made.report.output_bytes, content.size());
    EXPECT_EQ(range_from(file, made.index.points().back(), 49'000, UINT64_MAX), part(content, 49'000, 50'000));
  }
}

TEST(GzipIndex, DamagedFilesHaveNone) {
  const Bytes content = wordy_bytes(50'000);
  const Bytes file = gzip_member(content);
  const auto verdict = [&](const Bytes& bytes) {
    try {
      make_index(bytes);
    } catch (const Error& error) {
      return error.status();
    }
    return Status::kOk;
  };
  EXPECT_EQ(verdict(changed_at(file, file.size() - 8)), Status::kContentChecksumMismatch);
  EXPECT_EQ(verdict(changed_at(file, file.size() - 4)), Status::kContentSizeMismatch);
  for (const std::size_t size : {file.size() - 1, file.size() - 8, file.size() - 9, file.size() / 2, std::size_t{11}})
    EXPECT_EQ(verdict(part(file, 0, size)), Status::kTruncated) << size;
  EXPECT_EQ(verdict(bgzf_file(content)), Status::kUnsupportedFeature);
}

// An index that is cut or changed gives a point that stands in it or none; a changed point gives other bytes or an error.
TEST(GzipIndex, DamagedIndexes) {
  const Bytes content = wordy_bytes(200'000);
  const Indexed made = indexed(gzip_member(content), content, 30'000);
  const Bytes index = index_bytes(made);
  for (std::size_t size = 0; size < index.size(); size += size < 300 ? 1 : 4999) {
    const auto found = nearest(part(index, 0, size), made.file.size(), 199'999);
    EXPECT_FALSE(found) << size;
  }
  std::mt19937 random(1);
  const std::size_t head = kHeaderBytes + (made.index.points().size() + 1) * kPointBytes;
  int found_count = 0;
  for (int i = 0; i < 20'000; ++i) {
    const auto at = random() % 8 == 0 ? random() % index.size() : random() % head;
    const Bytes mutated = changed_at(index, at, static_cast<std::byte>(1 + random() % 255));
    const std::uint64_t begin = random() % content.size();
    const auto found = nearest(mutated, made.file.size(), begin);
    if (!found) continue;
    ++found_count;
    ASSERT_LE(found->content_at, begin);
    ASSERT_LE(found->bit, made.file.size() * 8);
    ASSERT_TRUE(found->window.empty() || found->window.size() == kGzipWindowBytes);
    try {
      ASSERT_LE(range_from(made.file, *found, begin, begin + 1000).size(), 1000);
    } catch (const Error&) {
    }
  }
  EXPECT_GT(found_count, 1000);
}

}  // namespace
}  // namespace hemstitch::testing
