// Indexes of gzip files: zlib must restore from every point, ranges from points must equal the content, and
// damaged indexes must be refused or harmless.
#include "format/gzip_index.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <random>
#include <thread>

#include "collect_sink.hpp"
#include "core/bytes.hpp"
#include "deflate_streams.hpp"
#include "gzip_members.hpp"
#include "hemstitch/ranges.hpp"
#include "pipeline/index_points.hpp"
#include "threads.hpp"

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

// Restores the file with zlib from a point to the end of the member.
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
      const Bytes file = le(0x0008'8B1F, 4) + le(0, 4) + le(0xFF00, 2) +
                         zlib_stream(content, level, strategy, 1) +
                         le(checksum_of(Checksum::kCrc32, content), 4) + le(content.size(), 4);
      const Indexed made = indexed(file, content);
      EXPECT_EQ(made.report.output_bytes, content.size());
      ASSERT_FALSE(made.index.points().empty());
      EXPECT_EQ(made.index.points().front().content_at, 0);
      EXPECT_TRUE(made.index.points().front().window.empty());
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

// Version 0 lacks the byte that says whether a point has a window: all points but the first have one.
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
  const Bytes file = zlib_stream(content, 6, Z_DEFAULT_STRATEGY, 1, MAX_WBITS + 16);
  const Indexed all = indexed(file, content, 20'000), few = indexed(file, content, 20'000, 8);
  EXPECT_GT(all.index.points().size(), 16);
  EXPECT_LE(few.index.points().size(), 8);
  EXPECT_GE(few.index.points().size(), 4);
  EXPECT_EQ(few.index.points().front().content_at, 0);
  // The points stay almost evenly spaced.
  for (std::size_t i = 1; i < few.index.points().size(); ++i)
    EXPECT_LT(few.index.points()[i].content_at - few.index.points()[i - 1].content_at, content.size() / 2);
  for (const GzipPoint& point : few.index.points())
    EXPECT_EQ(range_from(few.file, point, point.content_at, UINT64_MAX),
              part(content, point.content_at, content.size()));
}

TEST(GzipIndex, SeveralMembers) {
  const Bytes first = wordy_bytes(100'000), second = mixed_bytes(60'000), third = wordy_bytes(40'000, 7);
  const Bytes content = first + second + third;
  const Bytes file =
      gzip_member(first) + gzip_member({}) + gzip_member(second) + gzip_member({}) + gzip_member(third);
  const Indexed made = indexed(file, content);
  EXPECT_EQ(made.report.frame_count, 5);
  for (const GzipPoint& point : made.index.points()) {
    for (const std::uint64_t begin :
         {point.content_at, std::uint64_t{100'000}, std::uint64_t{159'999}, std::uint64_t{160'000}}) {
      if (begin < point.content_at) continue;
      for (const std::uint64_t end : {begin, std::uint64_t{180'000}, UINT64_MAX})
        EXPECT_EQ(range_from(file, point, begin, end), part(content, begin, std::max(begin, end)))
            << begin << ' ' << end;
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
    EXPECT_EQ(range_from(file, made.index.points().back(), 49'000, UINT64_MAX),
              part(content, 49'000, 50'000));
  }
}

TEST(GzipIndex, ARangeThatNeedsAMemberThatIsCutOffSaysSo) {
  const Bytes content = wordy_bytes(50'000), member = gzip_member(content);
  const Indexed made = indexed(member, content);
  for (std::size_t bytes = 1; bytes < 12; ++bytes) {
    const Bytes cut = member + Bytes(member.begin(), member.begin() + bytes);
    EXPECT_EQ(range_from(cut, made.index.points().back(), 49'000, 50'000), part(content, 49'000, 50'000));
    try {
      range_from(cut, made.index.points().back(), 49'000, UINT64_MAX);
      ADD_FAILURE() << bytes;
    } catch (const Error& error) {
      EXPECT_EQ(error.status(), Status::kTruncated) << bytes;
    }
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
  for (const std::size_t size :
       {file.size() - 1, file.size() - 8, file.size() - 9, file.size() / 2, std::size_t{11}})
    EXPECT_EQ(verdict(part(file, 0, size)), Status::kTruncated) << size;
  EXPECT_EQ(verdict(bgzf_file(content)), Status::kUnsupportedFeature);
}

// An index that is cut or changed must give one of its points, or none. A changed point must give other bytes
// or an error.
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

// An index that is mostly a hole, with as many points as it can state: memory does not grow with their number.
TEST(GzipIndex, PointsWithoutContentTakeNoMemory) {
  class Hole : public Source {
   public:
    explicit Hole(Bytes head) : head_(std::move(head)) {}
    std::size_t read(std::span<std::byte> into) override {
      for (std::byte& byte : into) byte = at_ < head_.size() ? head_[at_] : std::byte{0}, ++at_;
      return into.size();
    }
    bool seek(std::uint64_t position) override {
      at_ = position;
      return true;
    }

   private:
    Bytes head_;
    std::uint64_t at_ = 0;
  };
  constexpr std::uint64_t kFileBytes = 2'000'000;
  const auto head = [](std::uint64_t points) {
    return bytes_of("GZIDX") + le(1, 1) + le(0, 1) + le(kFileBytes, 8) + le(1000, 8) + le(1000, 4) +
           le(kGzipWindowBytes, 4) + le(points, 4);
  };
  Hole hole(head(1'000'000));
  auto reader = GzipIndexReader::of(hole, kFileBytes);
  ASSERT_TRUE(reader);
  EXPECT_EQ(reader->points()->size(), 1u);
  Hole larger(head(UINT32_MAX));
  EXPECT_FALSE(GzipIndexReader::of(larger, kFileBytes));
}

// The library's ranges with an index, made by one thread and by several, of one member and of many.
TEST_WITH_THREADS(GzipIndex, RangesOfTheLibrary) {
  const Bytes first = mixed_bytes(9'000'000), second = wordy_bytes(3'000'000, 5);
  for (const Bytes& file : {gzip_member(first) + gzip_member(second),
                            gzip_member(first) + gzip_member({}) + gzip_member(second) + Bytes(600)}) {
    const Bytes content = first + second;
    for (const unsigned threads : {1u, 2u, 4u}) {
      RestoreOptions options;
      options.backend = "cpu";
      options.threads = threads;
      const std::vector<std::byte> index = make_index(file, options);
      options.index = index;
      const std::vector<ContentBytes> ranges = {{0, 10},
                                                {4'000'000, 5'000'000},
                                                {8'999'990, 9'000'010},
                                                {5, 5},
                                                {4'500'000, 4'500'001},
                                                {11'999'999, UINT64_MAX},
                                                {12'000'000, UINT64_MAX},
                                                {12'000'001, UINT64_MAX},
                                                {0, UINT64_MAX}};
      const std::vector<RestoredRange> found = restore_ranges(file, ranges, options);
      for (std::size_t i = 0; i < ranges.size(); ++i) {
        const bool outside = ranges[i].begin > content.size();
        EXPECT_EQ(found[i].status, outside ? Status::kRangeOutsideContent : Status::kOk) << i;
        EXPECT_EQ(found[i].bytes == (outside ? Bytes() : part(content, ranges[i].begin, ranges[i].end)), true)
            << i;
      }
    }
  }
}

TEST(GzipIndex, RangesBesideDamage) {
  const Bytes content = wordy_bytes(9'000'000), file = gzip_member(content);
  RestoreOptions options;
  const std::vector<std::byte> index = make_index(file, options);
  options.index = index;
  Bytes damaged = file;
  // In the middle of the second of three parts.
  for (std::size_t i = 0; i < 100'000; ++i) damaged[file.size() * 6 / 9 + i] = std::byte{0xFF};
  const auto found =
      restore_ranges(damaged,
                     std::vector<ContentBytes>{
                         {0, 1000}, {4'300'000, 4'400'000}, {4'300'000, 8'000'000}, {8'900'000, 9'000'000}},
                     options);
  EXPECT_EQ(found[0].bytes == part(content, 0, 1000), true);
  EXPECT_EQ(found[1].bytes == part(content, 4'300'000, 4'400'000), true) << "before the damage";
  EXPECT_EQ(found[2].status, Status::kCorruptBlock);
  EXPECT_TRUE(found[2].bytes.empty());
  EXPECT_EQ(found[3].bytes == part(content, 8'900'000, 9'000'000), true) << "behind it";

  const auto refused = [&](const Bytes& input, std::span<const std::byte> with) {
    RestoreOptions wrong;
    wrong.index = with;
    try {
      restore_ranges(input, std::vector<ContentBytes>{{0, 1}}, wrong);
    } catch (const Error& error) {
      return error.status();
    }
    return Status::kOk;
  };
  EXPECT_EQ(refused(part(file, 0, file.size() - 1), index), Status::kInvalidOption) << "of another file";
  EXPECT_EQ(refused(file, std::span(index).first(40)), Status::kInvalidOption) << "cut";
  EXPECT_EQ(refused(bytes_of("no gzip"), index), Status::kInvalidOption);
  // An index without its last windows still serves the parts before them.
  RestoreOptions cut;
  cut.index = std::span(index).first(index.size() - 1);
  const auto some = restore_ranges(file, std::vector<ContentBytes>{{0, 5}, {8'900'000, 9'000'000}}, cut);
  EXPECT_EQ(some[0].status, Status::kOk);
  EXPECT_EQ(some[1].status, Status::kInvalidOption);
}

// A range costs what lies between it and the end of the one before, not all from the last point on.
TEST(GzipIndex, AReaderGoesOnFromTheLastRange) {
  constexpr std::uint64_t kPieces = 300'000;  // of input that is read at once, and what one restores to
  const Bytes content = random_bytes(5'000'000) + wordy_bytes(2'000'000), file = gzip_member(content);
  RestoreOptions options;
  const Bytes index = make_index(file, options);
  options.index = index;
  std::atomic<std::uint64_t> count = 0;
  const RangeReader reader(
      [&](std::uint64_t at, std::span<std::byte> into) {
        const std::size_t bytes = std::min<std::size_t>(into.size(), file.size() - at);
        std::copy_n(file.begin() + static_cast<std::ptrdiff_t>(at), bytes, into.begin());
        count += bytes;
        return bytes;
      },
      file.size(), options);
  const auto read = [&](std::uint64_t at, std::size_t bytes) {
    count = 0;
    Bytes room(bytes);
    room.resize(reader.read(at, room));
    EXPECT_EQ(room == part(content, at, std::min<std::uint64_t>(at + bytes, content.size())), true) << at;
    return count.load();
  };
  EXPECT_GT(read(3'000'000, 100), 2'900'000u);
  EXPECT_EQ(read(3'000'100, 100), 0u) << "next to it";
  EXPECT_EQ(read(3'000'000, 100), 0u) << "again";
  EXPECT_LE(read(3'400'000, 100), 400'000 + kPieces);
  EXPECT_LE(read(3'500'000, 600'000), 700'000 + kPieces) << "up to a point and beyond";
  EXPECT_GT(read(3'000'000, 100), 2'900'000u) << "before it";
  EXPECT_LE(read(4'990'000, 20'000), 990'000 + kPieces) << "behind a point";
  read(6'999'900, 200);
  EXPECT_EQ(read(6'999'950, 200), 0u) << "at the end of the member";

  std::uint64_t used = 1;
  options.used_bytes = &used;
  try {
    const RangeReader refused(file, options);
    ADD_FAILURE();
  } catch (const Error& error) {
    EXPECT_EQ(error.status(), Status::kInvalidOption) << "an index does not tell where members end";
  }
}

TEST_WITH_THREADS(GzipIndex, SeveralThreadsReadRanges) {
  const Bytes content = wordy_bytes(1'000'000), file = gzip_member(content);
  RestoreOptions options;
  const Bytes index = make_index(file, options);
  options.index = index;
  const RangeReader reader(file, options);
  std::atomic<int> wrong = 0;
  std::vector<std::thread> threads;
  for (unsigned i = 0; i < 3; ++i)
    threads.emplace_back([&, i] {
      for (std::uint64_t j = 0; j < 10; ++j) {
        const std::uint64_t at = 300'000 * i + 30'000 * j;
        Bytes room(500);
        if (reader.read(at, room) != 500 || room != part(content, at, at + 500)) ++wrong;
      }
    });
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(wrong, 0);
}

TEST(GzipIndex, MadeByTheStream) {
  const Bytes content = wordy_bytes(6'000'000), file = gzip_member(content);
  RestoreOptions options;
  options.threads = 1;
  Bytes restored;
  Decompressor stream(options, [&](std::span<const std::byte> bytes) {
    restored.insert(restored.end(), bytes.begin(), bytes.end());
  });
  stream.make_index();
  EXPECT_THROW((void)stream.index(), Error);
  for (std::size_t at = 0; at < file.size(); at += 10'001)
    stream.write(std::span(file).subspan(at, std::min<std::size_t>(10'001, file.size() - at)));
  EXPECT_THROW(stream.make_index(), Error) << "too late";
  stream.finish();
  EXPECT_EQ(restored == content, true);
  EXPECT_EQ(stream.index() == make_index(file, options), true);
  EXPECT_LE(stream.index().size(), hemstitch_index_bound(file.size()));
}

// An index is for a file of one size, and that has what follows the members.
TEST(GzipIndex, IsForAllOfTheFileAlsoBehindTheMembers) {
  const Bytes content = wordy_bytes(9'000'000), member = gzip_member(content);
  for (const Bytes& rest : {Bytes(1000), bytes_of("not a member")}) {
    const bool zeros = rest[0] == std::byte{0};
    const Bytes file = member + rest;
    RestoreOptions options;
    std::uint64_t used = 0;
    if (!zeros) {
      EXPECT_THROW(make_index(file), Error);
    }
    options.used_bytes = &used;
    const Bytes index = make_index(file, options);
    EXPECT_EQ(used, member.size());
    Decompressor stream({}, [](std::span<const std::byte>) {});
    stream.make_index();
    stream.write(file);
    if (zeros) {
      stream.finish();
    } else {
      EXPECT_THROW(stream.finish(), Error);
    }
    EXPECT_EQ(stream.index() == index, true);
    RestoreOptions by_index;
    by_index.index = index;
    const ContentBytes range{8'000'000, 8'000'100};
    EXPECT_EQ(restore_ranges(file, {&range, 1}, by_index).front().bytes, part(content, 8'000'000, 8'000'100));
  }
}

TEST(GzipIndex, CInterface) {
  const Bytes content = wordy_bytes(5'000'000), file = gzip_member(content);
  Bytes index(hemstitch_index_bound(file.size()));
  std::size_t index_bytes = 0;
  ASSERT_EQ(hemstitch_make_index(nullptr, file.data(), file.size(), index.data(), index.size(), &index_bytes),
            HEMSTITCH_OK);
  Bytes output(100);
  hemstitch_range range{4'700'000, 4'700'100, output.data(), output.size(), 0, HEMSTITCH_OK, {}};
  hemstitch_restore_options options{};
  options.size = sizeof options;
  options.index = index.data();
  options.index_bytes = index_bytes;
  ASSERT_EQ(hemstitch_restore_ranges(&options, file.data(), file.size(), &range, 1), HEMSTITCH_OK);
  EXPECT_EQ(range.status, HEMSTITCH_OK);
  EXPECT_EQ(output == part(content, 4'700'000, 4'700'100), true);
  options.index = nullptr;
  EXPECT_EQ(hemstitch_restore_ranges(&options, file.data(), file.size(), &range, 1),
            HEMSTITCH_INVALID_OPTION);
  options.index_bytes = 0;
  EXPECT_EQ(hemstitch_restore_ranges(&options, file.data(), file.size(), &range, 1),
            HEMSTITCH_UNSUPPORTED_FEATURE);
  EXPECT_EQ(hemstitch_make_index(nullptr, file.data(), file.size(), index.data(), 10, &index_bytes),
            HEMSTITCH_OUTPUT_TOO_SMALL);
  const Bytes blocks = bgzf_file(content);
  EXPECT_EQ(
      hemstitch_make_index(nullptr, blocks.data(), blocks.size(), index.data(), index.size(), &index_bytes),
      HEMSTITCH_UNSUPPORTED_FEATURE);
}

}  // namespace
}  // namespace hemstitch::testing
