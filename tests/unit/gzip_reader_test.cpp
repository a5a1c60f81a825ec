// Files of gzip, BGZF and zlib, and raw DEFLATE, through the streams of the library: what is read, what is
// refused and why, and what zlib says of the same bytes.
#include "format/deflate/frame/gzip_reader.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <random>

#include "collect_sink.hpp"
#include "core/bytes.hpp"
#include "deflate_streams.hpp"
#include "format/bgzf_places.hpp"
#include "format/checksum.hpp"
#include "format/identify.hpp"
#include "gzip_members.hpp"
#include "pipeline/frame_batch.hpp"
#include "pipeline/stream.hpp"
#include "skippable_frames.hpp"
#include "threads.hpp"

namespace hemstitch::testing {
namespace {

constexpr int kGzipWindow = MAX_WBITS + 16, kZlibWindow = MAX_WBITS;

RestoreOptions reading(std::string_view backend = "auto", std::optional<Format> format = {}) {
  RestoreOptions options;
  options.threads = 2;
  options.backend = backend;
  options.format = format;
  return options;
}

struct Restored {
  Bytes content;
  StreamReport report;
  Status status = Status::kOk;
  std::string message;
  Place place;
};

Restored restored(const Bytes& file, const RestoreOptions& options = reading()) {
  Restored result;
  CollectSink sink;
  MemorySource source(file);
  try {
    result.report = restore_stream(source, sink, options);
  } catch (const Error& error) {
    result.status = error.status();
    result.message = error.what();
    result.place = error.place();
  }
  result.content = sink.content;
  return result;
}

// Restores whole and piece by piece, with one thread, with the reference, and lists the file.
void require_content(const Bytes& file, const Bytes& content, bool with_garbage = false) {
  for (const char* backend : {"cpu", "reference"}) {
    const Restored result = restored(file, reading(backend));
    EXPECT_EQ(result.status, Status::kOk) << result.message;
    EXPECT_TRUE(result.content == content);
    EXPECT_EQ(result.report.trailing_garbage_at.has_value(), with_garbage);
  }
  MemorySource listed(file);
  EXPECT_EQ(index_stream(listed).content_bytes(), content.size());
  if (with_garbage) return;
  for (const std::size_t piece_bytes : {1u, 7u, 100'000u}) {
    if (piece_bytes < 100'000 && file.size() > 400'000) continue;  // much work for nothing new
    CollectSink sink;
    Decompressor decompressor(reading(), [&](auto piece) { sink.write(piece); });
    for (std::size_t at = 0; at < file.size(); at += piece_bytes)
      decompressor.write(std::span(file).subspan(at, std::min(piece_bytes, file.size() - at)));
    decompressor.finish();
    EXPECT_TRUE(sink.content == content);
  }
}

TEST_WITH_THREADS(Gzip, MembersOfEveryKindAreRestored) {
  const Bytes one = wordy_bytes(700'000), two = copied_bytes(5000, 3);
  require_content(gzip_member(one), one);
  require_content(gzip_member({}), {});
  require_content(gzip_member({}) + gzip_member(two) + gzip_member({}) + gzip_member(one), two + one);
  GzipFields all;
  all.extra = bytes_of("XY") + le(3, 2) + bytes_of("abc");
  all.name = "a name";
  all.comment = "a comment, with \xE9";
  all.header_checksum = true;
  all.flags = 1;  // "text", which has no meaning for us
  require_content(gzip_member(two, all) + gzip_member(two), two + two);
  GzipFields no_extra;
  no_extra.extra = Bytes();
  no_extra.comment = "";
  require_content(gzip_member(two, no_extra), two);
  GzipFields long_name;
  long_name.name = std::string(10'000, 'n');
  require_content(gzip_member(two, long_name), two);
}

TEST_WITH_THREADS(Gzip, BgzfIsFramesOfBlocks) {
  const Bytes content = wordy_bytes(900'000);
  const Bytes file = bgzf_file(content);
  require_content(file, content);
  EXPECT_EQ(restored(file).report.frame_count, 1u);
  EXPECT_EQ(restored(file).report.block_count, 14u);
  EXPECT_FALSE(restored(file).report.end_missing);
  require_content(bgzf_marker(), {});
  // Consecutive files, with ordinary members between them.
  const Bytes small = bgzf_file(copied_bytes(100, 2));
  const Bytes many = file + small + bgzf_marker() + gzip_member(content) + small + gzip_member({});
  require_content(many, content + copied_bytes(100, 2) + content + copied_bytes(100, 2));
  EXPECT_EQ(restored(many).report.frame_count, 6u);
  // Other subfields beside BC; the largest member.
  const Bytes beside = bytes_of("XY") + le(2, 2) + le(7, 2);
  require_content(
      bgzf_member(content.size() > 65'536 ? random_bytes(65'000) : content, beside) + bgzf_marker(),
      random_bytes(65'000));
  require_content(bgzf_member(equal_bytes(65'536)) + bgzf_marker(), equal_bytes(65'536));
  // If BC says less than the size of the header, it is ignored.
  GzipFields wrong;
  wrong.extra = bytes_of("BC") + le(2, 2) + le(20, 2);
  require_content(gzip_member(content, wrong), content);
  EXPECT_EQ(restored(gzip_member(content, wrong)).report.block_count, 1u);
}

// Members with a field BC that BGZF would have, but other sizes than it says there: `off` is how much too large
// the size is. Every other reader of gzip restores them.
Bytes member_with_false_size(const Bytes& content, int off) {
  Bytes member = bgzf_member(content);
  const auto told = static_cast<unsigned>(static_cast<int>(member.size()) - 1 + off);
  member[16] = static_cast<std::byte>(told);
  member[17] = static_cast<std::byte>(told >> 8);
  return member;
}

struct FalseBgzf {
  std::string what;
  Bytes file, content;
};

std::vector<FalseBgzf> false_bgzf() {
  const Bytes text = wordy_bytes(20'000), large = equal_bytes(90'000), noise = random_bytes(300'000);
  const Bytes good = bgzf_member(text), end = bgzf_marker();
  const int good_bytes = static_cast<int>(good.size());
  Bytes many, many_contents;
  for (int i = 0; i < 40; ++i) many = many + good, many_contents = many_contents + text;
  return {
      {"more content than a block", bgzf_member(large) + end, large},
      {"one too large", member_with_false_size(text, 1) + good + end, text + text},
      {"one too small", member_with_false_size(text, -1) + good + end, text + text},
      {"too large in the middle", good + member_with_false_size(text, 1000) + good + end, text + text + text},
      {"past the end", member_with_false_size(text, 30'000), text},
      {"the last is too large", good + member_with_false_size(text, 1), text + text},
      {"the size of a marker", good + member_with_false_size(text, 28 - good_bytes) + end, text + text},
      {"no room for data", good + member_with_false_size(text, 25 - good_bytes) + good + end,
       text + text + text},
      {"0", member_with_false_size(text, 1 - good_bytes) + end, text},
      {"behind many blocks", many + member_with_false_size(text, -1) + many + end,
       many_contents + text + many_contents},
      {"much data behind", good + member_with_false_size(noise, 0) + gzip_member(noise) + good + end,
       text + noise + noise + text},
      {"between other members",
       gzip_member(text) + good + member_with_false_size(text, 1) + gzip_member(text),
       text + text + text + text},
  };
}

TEST_WITH_THREADS(Gzip, MembersWithAFieldLikeThatOfBgzfAreRestored) {
  for (const FalseBgzf& one : false_bgzf()) {
    SCOPED_TRACE(one.what);
    ASSERT_EQ(zlib_verdict(one.file, {}, kGzipWindow).status, Status::kOk);
    require_content(one.file, one.content);
    EXPECT_EQ(restored(one.file, reading("cpu", Format::kGzip)).content, one.content);
    EXPECT_FALSE(restored(one.file).report.end_missing);
    for (const std::uint64_t begin : {0u, 10u, 19'990u, 24'000u, 79'000u})
      for (const std::uint64_t end : {begin + 100, UINT64_MAX}) {
        if (begin > one.content.size()) continue;
        MemorySource source(one.file);
        CollectSink part;
        restore_range(source, part, begin, end, reading());
        EXPECT_EQ(part.content,
                  Bytes(one.content.begin() + static_cast<std::ptrdiff_t>(begin),
                        one.content.begin() +
                            static_cast<std::ptrdiff_t>(std::min<std::uint64_t>(end, one.content.size()))))
            << begin;
      }
    // Where BGZF is asked for, it is judged; and damage is damage.
    const Restored judged = restored(one.file, reading("cpu", Format::kBgzf));
    EXPECT_TRUE(judged.status != Status::kOk || judged.report.trailing_garbage_at ||
                judged.report.end_missing);
    for (const std::size_t at : {one.file.size() / 2, one.file.size() / 3}) {
      // A change of what nobody looks at does no harm.
      const Restored damaged = restored(changed_at(one.file, at, std::byte{0x55}));
      EXPECT_TRUE(damaged.status != Status::kOk || damaged.report.trailing_garbage_at ||
                  damaged.content == one.content)
          << at;
    }
  }
  // The size of two members, of which the second then states the content: lists and ranges believe it, and
  // what is restored is right.
  const Bytes text = wordy_bytes(50'000);
  const int bytes = static_cast<int>(bgzf_member(text).size());
  EXPECT_EQ(restored(member_with_false_size(text, bytes) + bgzf_member(text) + bgzf_marker()).content,
            text + text);
}

// Damage in BGZF is told with its block, and nothing of that block is written, although it may be read as a
// stream.
TEST(Gzip, DamagedBgzfIsToldByItsBlock) {
  const Bytes content = wordy_bytes(300'000), file = bgzf_file(content);
  MemorySource members(file);
  const std::vector<BgzfPlace> places = bgzf_places(members, file.size());
  std::mt19937 random(1);
  for (int i = 0; i < 300; ++i) {
    const std::size_t number = random() % places.size();
    const BgzfPlace& place = places[number];
    const std::size_t next = number + 1 < places.size() ? places[number + 1].at : file.size() - 28;
    const std::size_t at = place.at + 18 + random() % (next - place.at - 18);
    const Bytes damaged = changed_at(file, at, static_cast<std::byte>(1 + random() % 255));
    const Restored result = restored(damaged, reading("cpu"));
    EXPECT_NE(result.status, Status::kOk) << at;
    EXPECT_EQ(result.place.block, number + 2) << at;
    EXPECT_EQ(result.place.byte_offset, place.at) << at;
    EXPECT_EQ(result.content.size(), place.content_at) << at;
    CollectSink sink;
    Decompressor decompressor(reading("cpu"), [&](auto piece) { sink.write(piece); });
    try {
      decompressor.write(damaged);
      decompressor.finish();
      ADD_FAILURE() << at;
    } catch (const Error& error) {
      EXPECT_EQ(error.status(), result.status) << at;
      EXPECT_EQ(error.place().byte_offset, place.at) << at;
    }
    EXPECT_EQ(sink.content.size(), place.content_at) << at;
  }
}

TEST(Gzip, AMissingEndMarkerIsTold) {
  const Bytes content = wordy_bytes(200'000), whole = bgzf_file(content);
  const Bytes cut(whole.begin(), whole.end() - static_cast<std::ptrdiff_t>(bgzf_marker().size()));
  // An empty member of any kind is an end as well, and where something follows nothing was cut off.
  const Bytes stored = bytes_of("\x01") + le(0, 2) + le(0xFFFF, 2);
  const Bytes stored_marker = Bytes(whole.end() - 28, whole.end() - 12) + le(30, 2) + stored + le(0, 8);
  for (const auto& [end, end_content] : {std::pair{stored_marker, Bytes()},
                                         {gzip_member({}), Bytes()},
                                         {gzip_member(content), content},
                                         {gzip_member(content) + whole, content + content},
                                         {stored_marker + le(0, 6), Bytes()}}) {
    const Restored result = restored(cut + end);
    EXPECT_EQ(result.status, Status::kOk) << result.message;
    EXPECT_TRUE(result.content == content + end_content);
    EXPECT_FALSE(result.report.end_missing);
    const Bytes file = cut + end;
    MemorySource source(file);
    EXPECT_FALSE(index_stream(source).end_missing);
  }
  for (const Bytes& file : {cut, cut + le(0, 6), gzip_member(content) + cut}) {
    const Restored result = restored(file);
    EXPECT_EQ(result.status, Status::kOk) << result.message;
    EXPECT_TRUE(result.content == (file.size() > cut.size() + 6 ? content + content : content));
    EXPECT_TRUE(result.report.end_missing);
    MemorySource source(file);
    EXPECT_TRUE(index_stream(source).end_missing);
  }
  EXPECT_EQ(restored(cut + gzip_member(content)).content, content + content);
  const std::span<const std::byte> inputs[] = {cut, whole};
  FrameRestorer restorer(reading("cpu"));
  LargeBuffer room = restorer.make_output();
  const auto batch = restorer.restore(inputs, room);
  EXPECT_FALSE(batch[0].content);
  ASSERT_TRUE(batch[1].content);
  EXPECT_TRUE(std::ranges::equal(*batch[1].content, content));
}

TEST(Gzip, ZerosBehindTheLastMemberAreIgnoredAndGarbageIsTold) {
  const Bytes content = wordy_bytes(1000), member = gzip_member(content);
  for (const std::size_t zeros : {1u, 3u, 4u, 5u, 511u, 4096u, 4100u, 10'000u}) {
    require_content(member + Bytes(zeros), content);
    require_content(bgzf_file(content) + Bytes(zeros), content);
    EXPECT_EQ(restored(member + Bytes(zeros) + bytes_of("x")).report.trailing_garbage_at, member.size());
    // As in gzip, what follows zeros is not read as a member.
    EXPECT_EQ(restored(member + Bytes(zeros) + member).report.trailing_garbage_at, member.size());
  }
  for (const char* garbage : {"x", "xyz", "garbage", "\x1Fx", "\x1E"}) {
    require_content(member + bytes_of(garbage), content, true);
    EXPECT_EQ(restored(member + bytes_of(garbage)).report.trailing_garbage_at, member.size());
  }
}

TEST(Gzip, AMemberThatIsCutOffIsNoGarbage) {
  const Bytes content = wordy_bytes(1000), next = gzip_member(content);
  for (const Bytes& before : {gzip_member(content), bgzf_file(content), bgzf_member(content)})
    for (std::size_t bytes = 1; bytes < 20; ++bytes) {
      const Restored result = restored(before + Bytes(next.begin(), next.begin() + bytes));
      EXPECT_EQ(result.status, Status::kTruncated) << bytes;
      EXPECT_EQ(result.content, content) << bytes;
      EXPECT_GE(result.place.byte_offset.value_or(0), before.size()) << bytes;
    }
}

TEST(Gzip, WhatIsWrongIsToldWithItsPlace) {
  const Bytes content = wordy_bytes(1000), good = gzip_member(content);
  const auto changed = [](Bytes bytes, std::size_t from_end) {
    bytes[bytes.size() - from_end] ^= std::byte{1};
    return bytes;
  };
  GzipFields reserved, method, header_checksum;
  reserved.flags = 0x20;
  method.method = 7;
  header_checksum.header_checksum = true;
  header_checksum.name = "x";
  Bytes bad_header = gzip_member(content, header_checksum);
  bad_header[10] ^= std::byte{1};
  Bytes too_large = bgzf_member(content);
  too_large[too_large.size() - 1] = std::byte{1};
  Bytes marker_data = bgzf_marker(), marker_crc = changed(bgzf_marker(), 8),
        marker_size = changed(bgzf_marker(), 1);
  marker_data[18] = std::byte{5};
  Bytes damaged = good;
  damaged[10] |= std::byte{7};  // a block of the reserved type
  Bytes bgzf_damaged = bgzf_member(content);
  bgzf_damaged[18] |= std::byte{7};
  struct Case {
    Bytes second;
    Status status;
    bool kept;  // whether content before the error is kept
  };
  for (const Case& one :
       {Case{gzip_member(content, reserved), Status::kUnsupportedFeature, false},
        Case{gzip_member(content, method), Status::kUnsupportedFeature, false},
        Case{bad_header, Status::kHeaderChecksumMismatch, false},
        Case{changed(good, 8), Status::kContentChecksumMismatch, true},
        Case{changed(good, 4), Status::kContentSizeMismatch, true},
        Case{damaged, Status::kCorruptBlock, false},
        Case{changed(bgzf_member(content), 8), Status::kBlockChecksumMismatch, false},
        Case{changed(bgzf_member(content), 4), Status::kContentSizeMismatch, false},
        Case{too_large, Status::kCorruptBlock, false}, Case{bgzf_damaged, Status::kCorruptBlock, false},
        Case{marker_data, Status::kCorruptBlock, false},
        Case{marker_crc, Status::kBlockChecksumMismatch, false},
        Case{marker_size, Status::kContentSizeMismatch, false}})
    for (const char* backend : {"cpu", "reference"}) {
      const Restored result = restored(good + one.second, reading(backend));
      EXPECT_EQ(result.status, one.status) << result.message;
      EXPECT_EQ(result.content, one.kept ? content + content : content) << result.message;
      EXPECT_GE(result.place.byte_offset.value_or(0), good.size()) << result.message;
      if (one.status != Status::kUnsupportedFeature && one.status != Status::kHeaderChecksumMismatch) {
        EXPECT_EQ(result.place.frame, 2u) << result.message;
      }
    }
  EXPECT_NE(restored(damaged).message.find("a block has the reserved type"), std::string::npos);
  EXPECT_EQ(restored({}).status, Status::kTruncated);
  EXPECT_EQ(restored(bytes_of("\x1F\x8C hello")).status, Status::kUnknownFormat);
  // The checksum of the header is not verified if that is switched off.
  RestoreOptions unchecked = reading();
  unchecked.verify_checksums = false;
  EXPECT_EQ(restored(bad_header, unchecked).status, Status::kOk);
}

TEST(Gzip, EveryTruncatedFileIsTold) {
  GzipFields all;
  all.extra = bytes_of("XY") + le(3, 2) + bytes_of("abc");
  all.name = all.comment = "text";
  all.header_checksum = true;
  const Bytes content = wordy_bytes(500), member = gzip_member(content, all);
  for (std::size_t bytes = 2; bytes < member.size(); ++bytes)
    EXPECT_EQ(restored(Bytes(member.begin(), member.begin() + static_cast<std::ptrdiff_t>(bytes))).status,
              Status::kTruncated)
        << bytes;
  const Bytes first = bgzf_member(content), file = first + first + bgzf_marker();
  for (std::size_t bytes = 2; bytes < file.size(); ++bytes) {
    const Bytes cut(file.begin(), file.begin() + static_cast<std::ptrdiff_t>(bytes));
    const std::size_t in_member = bytes % first.size();
    const Restored result = restored(cut);
    if (in_member == 0)
      EXPECT_TRUE(result.report.end_missing) << bytes;
    else
      EXPECT_EQ(result.status, Status::kTruncated) << bytes;
  }
}

// zlib's inflate reads one member; after a flipped bit, what follows may not be one.
TEST(Gzip, EveryFlippedBitHasZlibsVerdict) {
  GzipFields all;
  all.extra = bytes_of("XY") + le(3, 2) + bytes_of("abc");
  all.name = "text";
  all.header_checksum = true;
  for (const Bytes& content : {wordy_bytes(200), random_bytes(100), Bytes()}) {
    const Bytes member = gzip_member(content, all);
    for (std::size_t bit = 0; bit < member.size() * 8; ++bit) {
      Bytes other = member;
      other[bit / 8] ^= std::byte{1} << bit % 8;
      const ZlibVerdict expected = zlib_verdict(other, {}, kGzipWindow);
      const Restored result = restored(other);
      const bool is_whole = expected.status == Status::kOk && expected.input_bytes == other.size();
      EXPECT_EQ(result.status == Status::kOk && !result.report.trailing_garbage_at, is_whole)
          << bit << ": " << result.message << " / " << expected.message;
      if (is_whole) {
        EXPECT_EQ(result.content, expected.content);
      }
      // In BGZF, only flipped bits of the header can go unnoticed.
      if (bit < 16) {
        EXPECT_NE(result.status, Status::kOk);
      }
    }
  }
}

TEST(Zlib, StreamsAreRestoredWhereTheyAreNamed) {
  const Bytes content = wordy_bytes(300'000),
              stream = zlib_stream(content, 6, Z_DEFAULT_STRATEGY, 8, kZlibWindow);
  EXPECT_EQ(restored(stream).status, Status::kUnknownFormat);
  const Restored result = restored(stream, reading("auto", Format::kZlib));
  EXPECT_EQ(result.status, Status::kOk) << result.message;
  EXPECT_TRUE(result.content == content);
  EXPECT_EQ(restored(stream + bytes_of("x"), reading("auto", Format::kZlib)).report.trailing_garbage_at,
            stream.size());
  for (std::size_t bit = 0; bit < 16; ++bit) {
    Bytes other = stream;
    other[bit / 8] ^= std::byte{1} << bit % 8;
    EXPECT_NE(restored(other, reading("auto", Format::kZlib)).status, Status::kOk) << bit;
  }
  Bytes wrong_sum = stream;
  wrong_sum.back() ^= std::byte{1};
  EXPECT_EQ(restored(wrong_sum, reading("auto", Format::kZlib)).status, Status::kContentChecksumMismatch);
  for (const std::size_t bytes : std::initializer_list<std::size_t>{0, 1, 2, 100, stream.size() - 1})
    EXPECT_EQ(restored(Bytes(stream.begin(), stream.begin() + static_cast<std::ptrdiff_t>(bytes)),
                       reading("auto", Format::kZlib))
                  .status,
              Status::kTruncated)
        << bytes;
  MemorySource source(stream);
  EXPECT_EQ(index_stream(source, Format::kZlib).content_bytes(), content.size());
}

TEST(Zlib, DictionariesAreNamedInTheHeader) {
  const Bytes dictionary = wordy_bytes(5000, 4), content = wordy_bytes(3000, 4);
  const Bytes stream = zlib_stream(content, 9, Z_DEFAULT_STRATEGY, 8, kZlibWindow, dictionary);
  RestoreOptions options = reading("auto", Format::kZlib);
  EXPECT_EQ(restored(stream, options).status, Status::kDictionaryNeeded);
  options.dictionary = content;
  EXPECT_EQ(restored(stream, options).status, Status::kDictionaryMismatch);
  options.dictionary = dictionary;
  EXPECT_EQ(restored(stream, options).content, content);
}

// Only a dictionary that the header names is history, and only zlib's header can.
TEST(Zlib, ADictionaryThatNobodyNamedIsNoHistory) {
  const Bytes dictionary = wordy_bytes(5000, 4), content = wordy_bytes(3000, 4);
  const Bytes data = zlib_stream(content, 9, Z_DEFAULT_STRATEGY, 8, -MAX_WBITS, dictionary);
  const std::uint32_t adler = checksum_of(Checksum::kAdler32, content);
  Bytes stream = bytes_of("\x78\x9C") + data;
  for (int i = 3; i >= 0; --i) stream.push_back(static_cast<std::byte>(adler >> (8 * i)));
  const Bytes behind = data + le(checksum_of(Checksum::kCrc32, content), 4) + le(content.size(), 4);
  const Bytes plain = gzip_member({}), header(plain.begin(), plain.begin() + 10), member = header + behind;
  Bytes blocks = header + le(6, 2) + bytes_of("BC") + le(2, 2) + le(18 + behind.size() - 1, 2) + behind;
  blocks[3] = std::byte{4};
  EXPECT_NE(zlib_verdict(member, {}, kGzipWindow).status, Status::kOk);
  for (const auto& [file, format] : {std::pair{stream, std::optional(Format::kZlib)},
                                     {member, std::optional<Format>()},
                                     {blocks, std::optional<Format>()},
                                     {blocks, std::optional(Format::kBgzf)}})
    for (const char* backend : {"cpu", "reference"}) {
      RestoreOptions options = reading(backend, format);
      options.dictionary = dictionary;
      EXPECT_EQ(restored(file, options).status, Status::kCorruptBlock);
      EXPECT_TRUE(restored(file, options).content.size() < content.size());
      if (format) continue;
      const std::span<const std::byte> inputs[] = {file};
      FrameRestorer restorer(options);
      LargeBuffer room = restorer.make_output();
      EXPECT_FALSE(restorer.restore(inputs, room)[0].content);
    }
  // It does no harm either.
  RestoreOptions options = reading("auto", Format::kZlib);
  options.dictionary = dictionary;
  EXPECT_EQ(restored(zlib_stream(content, 6, Z_DEFAULT_STRATEGY, 8, kZlibWindow), options).content, content);
  // Raw DEFLATE has no header: whoever gives a dictionary knows.
  options.format = Format::kDeflate;
  EXPECT_EQ(restored(data, options).content, content);
}

TEST(Deflate, RawStreamsAreRestoredWhereTheyAreNamed) {
  const Bytes content = wordy_bytes(300'000), stream = zlib_stream(content);
  for (const char* backend : {"cpu", "reference"}) {
    const Restored result = restored(stream, reading(backend, Format::kDeflate));
    EXPECT_EQ(result.status, Status::kOk) << result.message;
    EXPECT_TRUE(result.content == content);
  }
  EXPECT_EQ(restored({}, reading("auto", Format::kDeflate)).status, Status::kTruncated);
  EXPECT_EQ(restored(stream + Bytes(5), reading("auto", Format::kDeflate)).report.trailing_garbage_at,
            stream.size());
  CollectSink sink;
  Decompressor decompressor(reading("auto", Format::kDeflate), [&](auto piece) { sink.write(piece); });
  for (const std::byte& byte : stream) decompressor.write({&byte, 1});
  decompressor.finish();
  EXPECT_TRUE(sink.content == content);
}

TEST(Gzip, RangesAreRestored) {
  const Bytes content = wordy_bytes(500'000);
  const Bytes file = bgzf_file(content) + gzip_member(content), all = content + content;
  for (const auto& [begin, end] :
       {std::pair{0, 10}, {65'270, 65'290}, {300'000, 700'000}, {999'990, 1'000'000}}) {
    MemorySource source(file);
    CollectSink part;
    restore_range(source, part, static_cast<std::uint64_t>(begin), static_cast<std::uint64_t>(end),
                  reading());
    EXPECT_TRUE(part.content == Bytes(all.begin() + begin, all.begin() + end)) << begin;
  }
}

TEST(Gzip, MemoryIsBounded) {
  const Bytes file = gzip_member(equal_bytes(std::size_t{50} << 20));
  for (const std::uint64_t limit : {0u, 2u << 20}) {
    RestoreOptions options = reading();
    options.memory_limit_bytes = limit;
    NullSink nowhere;
    MemorySource source(file);
    const StreamReport report = restore_stream(source, nowhere, options);
    EXPECT_EQ(report.output_bytes, std::uint64_t{50} << 20);
    EXPECT_LT(report.planned_bytes, limit != 0 ? limit : 20u << 20);
  }
}

TEST(Gzip, IsKnownByItsFirstBytes) {
  EXPECT_EQ(identify_data(gzip_member({})).kind, DataKind::kFrame);
  EXPECT_EQ(identify_data(bytes_of("\x1F")).kind, DataKind::kUnknown);
}

TEST_WITH_THREADS(Gzip, SkippableFramesMayComeFirst) {
  const Bytes text = wordy_bytes(150'000);
  const Bytes first = skippable_frame(0) + skippable_frame(3, 0) + skippable_frame(70'000, 15);
  for (const Bytes& file : {gzip_member(text), bgzf_file(text), bgzf_member(text)})
    require_content(first + file, text);
  for (const FalseBgzf& one : false_bgzf()) {
    SCOPED_TRACE(one.what);
    require_content(first + one.file, one.content);
  }
  EXPECT_EQ(restored(first + gzip_member(text), reading("cpu", Format::kGzip)).content, text);
  EXPECT_EQ(restored(first + bgzf_file(text), reading("cpu", Format::kBgzf)).content, text);
  for (const std::uint64_t begin : {0u, 100'000u}) {
    const Bytes file = first + bgzf_file(text);
    MemorySource source(file);
    CollectSink part;
    restore_range(source, part, begin, begin + 10, reading());
    EXPECT_TRUE(std::equal(part.content.begin(), part.content.end(),
                           text.begin() + static_cast<std::ptrdiff_t>(begin),
                           text.begin() + static_cast<std::ptrdiff_t>(begin + 10)));
  }
}

// As gzip has it: what follows a member is another one, zeros or garbage.
TEST(Gzip, SkippableFramesBehindAMemberAreGarbage) {
  const Bytes text = wordy_bytes(20'000);
  for (const Bytes& member : {gzip_member(text), bgzf_file(text)})
    require_content(member + skippable_frame(3) + member, text, true);
}

TEST(Bgzf, TheIndexBesideAFileIsRead) {
  EXPECT_TRUE(read_gzi(le(0, 8))->empty());
  const Bytes two = le(2, 8) + le(100, 8) + le(65'280, 8) + le(200, 8) + le(130'560, 8);
  const auto places = read_gzi(two);
  ASSERT_TRUE(places);
  ASSERT_EQ(places->size(), 2u);
  EXPECT_EQ((*places)[1].at, 200u);
  EXPECT_EQ((*places)[1].content_at, 130'560u);
  EXPECT_FALSE(read_gzi({}));
  EXPECT_FALSE(read_gzi(le(3, 8) + Bytes(two.begin() + 8, two.end())));
  EXPECT_FALSE(read_gzi(two + le(0, 1)));
  EXPECT_FALSE(read_gzi(le(2, 8) + le(200, 8) + le(65'280, 8) + le(100, 8) + le(130'560, 8)));
  EXPECT_FALSE(read_gzi(le(UINT64_MAX, 8)));
  // A member holds no more than 65,536 bytes.
  EXPECT_TRUE(read_gzi(le(1, 8) + le(100, 8) + le(65'536, 8)));
  EXPECT_FALSE(read_gzi(le(1, 8) + le(100, 8) + le(65'537, 8)));
}

TEST(Bgzf, ContentBetweenMembersIsMeasured) {
  const Bytes content = wordy_bytes(200'000), file = bgzf_file(content);
  MemorySource source(file);
  const auto places = bgzf_places(source, file.size());
  ASSERT_EQ(places.size(), 3u);
  EXPECT_EQ(bgzf_content_bytes(source, 0, file.size()), content.size());
  EXPECT_EQ(bgzf_content_bytes(source, 0, 0), 0u);
  EXPECT_EQ(bgzf_content_bytes(source, places[0].at, places[2].at), 2 * 65'280u);
  EXPECT_THROW(bgzf_content_bytes(source, 0, 100), Error);
  EXPECT_THROW(bgzf_content_bytes(source, 1, file.size()), Error);
  EXPECT_THROW(bgzf_content_bytes(source, 0, file.size() + 1), Error);
}

TEST(Bgzf, MembersTellTheirSizes) {
  const Bytes content = wordy_bytes(300), plain = bgzf_member(content);
  for (const Bytes& member :
       {plain, bgzf_member(content, bytes_of("XY") + le(100, 2) + Bytes(100)), bgzf_marker()}) {
    const Bytes file = Bytes(5) + member + plain;
    MemorySource source(file);
    const auto found = bgzf_member_at(source, 5);
    ASSERT_TRUE(found);
    EXPECT_EQ(found->bytes, member.size());
    EXPECT_EQ(found->content_bytes, member == bgzf_marker() ? 0 : content.size());
    EXPECT_FALSE(bgzf_member_at(source, 4));
    EXPECT_FALSE(bgzf_member_at(source, file.size()));
    // Cut off anywhere.
    for (std::size_t bytes = 0; bytes < 5 + member.size(); ++bytes) {
      const Bytes part(file.begin(), file.begin() + static_cast<std::ptrdiff_t>(bytes));
      MemorySource cut(part);
      EXPECT_FALSE(bgzf_member_at(cut, 5)) << bytes;
    }
  }
  for (const Bytes& other : {gzip_member(content), gzip_member(content, {.extra = Bytes()}),
                             bgzf_member(equal_bytes(65'537)), Bytes(100)}) {
    MemorySource source(other);
    EXPECT_FALSE(bgzf_member_at(source, 0));
  }
}

// Each lie of an index is seen, or does no harm: the place that it gives is always one of the file's own.
TEST(Bgzf, AnIndexThatLiesIsNotUsed) {
  Bytes file = bgzf_member({}), content;
  for (const std::uint32_t bytes : {100u, 65'000u, 1u, 20'000u, 20'000u, 0u, 300u, 65'536u, 7u}) {
    const Bytes part = wordy_bytes(bytes, bytes);
    content = content + part;
    file = file + bgzf_member(part);
  }
  file = file + bgzf_marker();
  MemorySource source(file);
  const std::vector<BgzfPlace> places = bgzf_places(source, file.size());
  ASSERT_EQ(places.size(), 7u);
  EXPECT_EQ(read_gzi(gzi_bytes(places))->size(), places.size());
  const auto is_true = [&](const BgzfPlace& place) {
    const auto same = [&](const BgzfPlace& one) {
      return one.at == place.at && one.content_at == place.content_at;
    };
    return same(BgzfPlace()) || std::ranges::any_of(places, same);
  };
  const auto asked = [&](const std::vector<BgzfPlace>& index, std::uint64_t content_at) {
    const auto read = read_gzi(gzi_bytes(index));
    return read ? nearest_bgzf_place(*read, source, content_at) : std::nullopt;
  };
  for (std::size_t i = 0; i < places.size(); ++i) {
    EXPECT_EQ(asked(places, places[i].content_at)->at, places[i].at);
    EXPECT_EQ(asked(places, places[i].content_at - 1)->at, i == 0 ? 0 : places[i - 1].at);
  }
  EXPECT_EQ(asked({}, 1000)->at, 0u);
  std::size_t refused = 0, given = 0;
  const auto require_harmless = [&](const std::vector<BgzfPlace>& index, const std::string& what) {
    for (std::uint64_t at = 0; at < content.size() + 70'000; at += 997) {
      const auto place = asked(index, at);
      ++(place ? given : refused);
      EXPECT_TRUE(!place || (is_true(*place) && place->content_at <= at)) << what << " at " << at;
    }
  };
  const auto shifted = [&](std::size_t from, std::size_t to, std::int64_t at, std::int64_t content_at) {
    std::vector<BgzfPlace> index = places;
    for (std::size_t i = from; i < to; ++i) {
      index[i].at += static_cast<std::uint64_t>(at);
      index[i].content_at += static_cast<std::uint64_t>(content_at);
    }
    return index;
  };
  for (const std::int64_t by : {-20'000, -100, -7, -1, 1, 7, 28, 100, 300, 20'000})
    for (std::size_t from = 0; from < places.size(); ++from)
      for (const std::size_t to : {from + 1, places.size()}) {
        require_harmless(shifted(from, to, 0, by), fmt::format("content of {} to {} by {}", from, to, by));
        require_harmless(shifted(from, to, by, 0), fmt::format("places of {} to {} by {}", from, to, by));
        require_harmless(shifted(from, to, by, by), fmt::format("both of {} to {} by {}", from, to, by));
      }
  // By a member: each place with the content of the one before or after it.
  std::vector<BgzfPlace> before = places, behind = places;
  for (std::size_t i = 0; i + 1 < places.size(); ++i) {
    before[i + 1].content_at = places[i].content_at;
    behind[i].content_at = places[i + 1].content_at;
  }
  require_harmless(before, "by a member");
  require_harmless(behind, "by a member");
  // Of another file, whose members are of the same kind, and of one that goes on.
  const Bytes other = bgzf_file(wordy_bytes(200'000, 5)), longer = file + bgzf_file(wordy_bytes(200'000, 5));
  for (const Bytes* one : {&other, &longer}) {
    MemorySource of_other(*one);
    const std::vector<BgzfPlace> index = bgzf_places(of_other, one->size());
    require_harmless(index, "of another file");
    EXPECT_FALSE(asked(index, 100'000));
  }
  // A member less is the truth.
  for (std::size_t i = 0; i < places.size(); ++i) {
    std::vector<BgzfPlace> index = places;
    index.erase(index.begin() + static_cast<std::ptrdiff_t>(i));
    require_harmless(index, "without one");
  }
  EXPECT_GT(refused, 1000u);
  EXPECT_GT(given, 1000u);
  // Ordinary gzip has no such index.
  const Bytes plain = gzip_member(content);
  MemorySource of_plain(plain);
  EXPECT_FALSE(nearest_bgzf_place(places, of_plain, 100));
  EXPECT_FALSE(nearest_bgzf_place({}, of_plain, 100));
}

// Short files of one member are restored in one call, each with the content that a stream restores. Longer
// and damaged ones are left to streams.
TEST(Gzip, ShortFilesAreRestoredTogether) {
  const Bytes content = wordy_bytes(40'000);
  GzipFields all;
  all.extra = bytes_of("xx") + le(0, 2);
  all.name = "name";
  all.comment = "comment";
  all.header_checksum = true;
  const Bytes member = gzip_member(content), cut(member.begin(), member.end() - 1);
  Bytes too_large_size = gzip_member({});
  too_large_size[too_large_size.size() - 2] = std::byte{1};
  const std::vector<Bytes> alone = {member,
                                    gzip_member({}),
                                    gzip_member(content, all),
                                    gzip_member(equal_bytes(60'000)),
                                    gzip_member(random_bytes(50'000)),
                                    bgzf_file(content)};
  const std::vector<Bytes> left = {member + gzip_member(content),
                                   member + Bytes(10),
                                   cut,
                                   changed_at(member, member.size() / 2),
                                   changed_at(member, member.size() - 8),
                                   changed_at(member, member.size() - 4),
                                   changed_at(gzip_member(content, all), 12),
                                   gzip_member(equal_bytes((1 << 20) + 1)),
                                   too_large_size,
                                   bgzf_member(content)};
  for (const char* backend : {"cpu", "reference"}) {
    std::vector<std::span<const std::byte>> inputs(alone.begin(), alone.end());
    inputs.insert(inputs.end(), left.begin(), left.end());
    FrameRestorer restorer(reading(backend));
    LargeBuffer room = restorer.make_output();
    std::vector<std::optional<Bytes>> contents;
    while (contents.size() < inputs.size())
      for (const auto& one : restorer.restore(std::span(inputs).subspan(contents.size()), room)) {
        contents.emplace_back();
        if (one.content) contents.back().emplace(one.content->begin(), one.content->end());
      }
    for (std::size_t i = 0; i < inputs.size(); ++i) {
      ASSERT_EQ(contents[i].has_value(), i < alone.size()) << backend << " " << i;
      if (!contents[i]) continue;
      EXPECT_TRUE(*contents[i] == restored(alone[i]).content) << i;
    }
  }
}

}  // namespace
}  // namespace hemstitch::testing
