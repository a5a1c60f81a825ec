// Many ranges at once: each must be the same as alone, with every backend, and damage may only affect the
// ranges that it concerns.
#include <gtest/gtest.h>

#include <cstring>
#include <random>

#include "hemstitch/hemstitch.h"
#include "hemstitch/hemstitch.hpp"
#include "shapes.hpp"
#include "threads.hpp"

namespace hemstitch::testing {
namespace {

template <class Call>
Status status_of(Call call) {
  try {
    call();
  } catch (const Error& error) {
    return error.status();
  }
  return Status::kOk;
}

Bytes frames_of(const Bytes& content, Format format) {
  CompressOptions options;
  options.format = format;
  if (format == Format::kLz4) options.block_bytes = 64 << 10;
  return compress(content, options);
}

Bytes part(const Bytes& content, ContentBytes range) {
  const std::size_t end = std::min<std::uint64_t>(range.end, content.size());
  return {content.begin() + static_cast<std::ptrdiff_t>(range.begin),
          content.begin() + static_cast<std::ptrdiff_t>(std::max<std::uint64_t>(range.begin, end))};
}

void expect_ranges(const Bytes& frames, const Bytes& content, const std::vector<ContentBytes>& ranges,
                   const RestoreOptions& options) {
  const std::vector<RestoredRange> restored = restore_ranges(frames, ranges, options);
  ASSERT_EQ(restored.size(), ranges.size());
  for (std::size_t i = 0; i < ranges.size(); ++i) {
    EXPECT_EQ(restored[i].status, Status::kOk) << i;
    EXPECT_TRUE(restored[i].bytes == part(content, ranges[i])) << i;
  }
}

TEST_WITH_THREADS(RestoreRanges, GiveWhatEachIsByItself) {
  Bytes content = mixed_bytes(1000000);
  std::mt19937 random(5);
  std::vector<ContentBytes> ranges = {{0, 0}, {0, 1}, {999999, 2000000}, {1000000, 1000000}, {0, UINT64_MAX}};
  for (int i = 0; i < 200; ++i) {
    const std::uint64_t begin = random() % content.size();
    ranges.push_back({begin, begin + random() % (i % 10 == 0 ? 300000 : 200)});
  }
  for (const Format format : {Format::kBgzf, Format::kLz4}) {
    // Two consecutive frames, or files of BGZF, are one content.
    Bytes frames = frames_of(content, format);
    const Bytes more = random_bytes(100000), second = frames_of(more, format);
    Bytes all = content;
    frames.insert(frames.end(), second.begin(), second.end());
    all.insert(all.end(), more.begin(), more.end());
    ranges[2].end = 1050000;
    for (const std::string backend : {"cpu", "reference"}) {
      SCOPED_TRACE(backend);
      for (const unsigned threads : {1u, 4u}) {
        RestoreOptions options;
        options.backend = backend;
        options.threads = threads;
        expect_ranges(frames, all, ranges, options);
        options.memory_limit_bytes = 1 << 20;
        if (backend == "cpu") expect_ranges(frames, all, ranges, options);
      }
    }
  }
}

TEST(RestoreRanges, DamageIsToldToThoseThatItConcerns) {
  const Bytes content = wordy_bytes(500000);
  for (const Format format : {Format::kBgzf, Format::kLz4}) {
    Bytes frames = frames_of(content, format);
    frames[frames.size() / 2] ^= std::byte{1};
    const std::vector<ContentBytes> ranges = {
        {10, 20}, {0, 500000}, {499000, 499100}, {500001, 500002}, {500000, 500001}};
    const auto restored = restore_ranges(frames, ranges);
    EXPECT_EQ(restored[0].status, Status::kOk);
    EXPECT_TRUE(restored[0].bytes == part(content, ranges[0]));
    EXPECT_TRUE(restored[1].status == Status::kBlockChecksumMismatch ||
                restored[1].status == Status::kCorruptBlock)
        << int(restored[1].status);
    EXPECT_TRUE(restored[1].bytes.empty());
    EXPECT_GT(restored[1].place.byte_offset.value(), frames.size() / 4);
    EXPECT_LE(restored[1].place.byte_offset.value(), frames.size() / 2);
    EXPECT_EQ(restored[2].status, Status::kOk);
    EXPECT_TRUE(restored[2].bytes == part(content, ranges[2]));
    EXPECT_EQ(restored[3].status, Status::kRangeOutsideContent);
    EXPECT_EQ(restored[4].status, Status::kOk);
  }
}

TEST(RestoreRanges, SayWhatTheyCannotDo) {
  const Bytes content = wordy_bytes(200000);
  const std::vector<ContentBytes> one = {{10, 20}}, backwards = {{20, 10}};
  CompressOptions linked;
  linked.linked_blocks = true;
  linked.block_bytes = 64 << 10;
  EXPECT_EQ(status_of([&] { restore_ranges(compress(content, linked), one); }), Status::kUnsupportedFeature);
  EXPECT_EQ(status_of([&] { restore_ranges(frames_of(content, Format::kGzip), one); }),
            Status::kUnsupportedFeature);
  Bytes frames = frames_of(content, Format::kBgzf);
  EXPECT_EQ(status_of([&] { restore_ranges(frames, backwards); }), Status::kInvalidOption);
  RestoreOptions options;
  options.dictionary = content;
  EXPECT_EQ(status_of([&] { restore_ranges(frames, one, options); }), Status::kInvalidOption);
  frames.resize(frames.size() / 2);
  EXPECT_EQ(status_of([&] { restore_ranges(frames, one); }), Status::kTruncated);
}

TEST(RestoreRanges, FromC) {
  const Bytes content = wordy_bytes(300000), frames = frames_of(content, Format::kBgzf);
  Bytes room(1000), little(10);
  hemstitch_range ranges[] = {{65000, 66000, room.data(), room.size(), 7, HEMSTITCH_TRUNCATED, {}},
                              {0, 11, little.data(), little.size(), 7, HEMSTITCH_OK, {}},
                              {300001, 300002, nullptr, 0, 7, HEMSTITCH_OK, {}}};
  ASSERT_EQ(hemstitch_restore_ranges(nullptr, frames.data(), frames.size(), ranges, 3), HEMSTITCH_OK);
  EXPECT_EQ(ranges[0].status, HEMSTITCH_OK);
  EXPECT_EQ(ranges[0].output_bytes, 1000u);
  EXPECT_EQ(std::memcmp(room.data(), content.data() + 65000, 1000), 0);
  EXPECT_EQ(ranges[1].status, HEMSTITCH_OUTPUT_TOO_SMALL);
  EXPECT_EQ(ranges[1].output_bytes, 0u);
  EXPECT_EQ(ranges[2].status, HEMSTITCH_RANGE_OUTSIDE_CONTENT);
  EXPECT_EQ(ranges[2].place.byte_offset, UINT64_MAX);
  EXPECT_EQ(hemstitch_restore_ranges(nullptr, frames.data(), frames.size(), nullptr, 1),
            HEMSTITCH_INVALID_OPTION);
  // A damaged block is reported with its place.
  Bytes damaged = frames;
  damaged[200] ^= std::byte{1};
  ranges[0].begin = 0;
  ranges[0].end = 1;
  ASSERT_EQ(hemstitch_restore_ranges(nullptr, damaged.data(), damaged.size(), ranges, 1), HEMSTITCH_OK);
  EXPECT_NE(ranges[0].status, HEMSTITCH_OK);
  EXPECT_EQ(ranges[0].output_bytes, 0u);
  EXPECT_EQ(ranges[0].place.frame, 1u);
  EXPECT_EQ(ranges[0].place.block, 1u);
  EXPECT_EQ(ranges[0].place.byte_offset, 0u);
}

}  // namespace
}  // namespace hemstitch::testing
