// Whole streams of gzip, BGZF and zlib, restored as on devices: heads are compared with the readers that take
// them piece by piece, statuses with the library's streams, and verdicts with zlib's.
#include <gtest/gtest.h>

#include <cstring>

#include "collect_sink.hpp"
#include "format/deflate/frame/deflate_head.hpp"
#include "format/deflate/frame/deflate_stream_reference.hpp"
#include "format/deflate/frame/gzip_reader.hpp"
#include "format/deflate/frame/zlib_reader.hpp"
#include "gzip_members.hpp"
#include "pipeline/stream.hpp"
#include "zlib_oracle.hpp"

namespace hemstitch::testing {
namespace {

struct ReadHead {
  Status status = Status::kOk;
  std::uint64_t bytes = 0;
};

// Reads up to where the data begins.
ReadHead head_by(FrameReader&& reader, const Bytes& stream) {
  std::size_t at = 0;
  try {
    while (!reader.in_stream()) {
      const std::size_t bytes = std::min(reader.wanted_bytes(), stream.size() - at);
      if (reader.step(std::span(stream).subspan(at, bytes)) == FrameReader::Event::kBlockBegin) break;
      at += bytes;
    }
  } catch (const Error& error) {
    return {error.status(), 0};
  }
  return {Status::kOk, reader.position()};
}

// The head of a gzip member with its checksum, without a trailer.
ReadHead gzip_head_of(const Bytes& stream) {
  std::uint64_t extra_at = 0, extra_bytes = 0;
  const DeflateHead head = read_gzip_fields(stream.data(), stream.size(), extra_at, extra_bytes);
  if (head.status != Status::kOk) return {head.status, 0};
  if (!head.has_checksum) return {Status::kOk, head.bytes};
  const std::uint32_t found = checksum_of(Checksum::kCrc32, std::span(stream).first(head.bytes - 2));
  const Status status = deflate_head_checksum_status(Format::kGzip, head, found);
  return {status, status == Status::kOk ? head.bytes : 0};
}

TEST(DeflateHead, OfGzipIsWhatTheReaderOfPiecesReads) {
  std::size_t sound = 0, refused = 0;
  for (const StreamCase& one : gzip_cases()) {
    const ReadHead expected = head_by(GzipReader(true), one.stream), got = gzip_head_of(one.stream);
    ASSERT_EQ(got.status, expected.status) << one.stream.size();
    ASSERT_EQ(got.bytes, expected.bytes) << one.stream.size();
    ++(got.status == Status::kOk ? sound : refused);
  }
  EXPECT_GT(sound, 1000u);
  EXPECT_GT(refused, 1000u);
}

TEST(DeflateHead, OfZlibIsWhatTheReaderOfPiecesReads) {
  const Bytes behind = equal_bytes(18);
  for (unsigned header = 0; header < 1u << 16; ++header) {
    const Bytes stream = le(header, 2) + behind;
    const ReadHead expected = head_by(ZlibReader(), stream);
    const DeflateHead got = read_zlib_head(stream.data(), stream.size(), true);
    ASSERT_EQ(got.status, expected.status) << header;
    ASSERT_TRUE(got.status != Status::kOk || got.bytes == expected.bytes) << header;
  }
  // 78 9C, and 78 BB, which names a dictionary: both need four more bytes for the trailer.
  for (const unsigned header : {0x9C78u, 0xBB78u}) {
    const std::size_t least = header == 0x9C78u ? 6 : 10;
    for (std::size_t bytes = 0; bytes < 12; ++bytes) {
      const Bytes stream = le(header, 2) + behind;
      EXPECT_EQ(read_zlib_head(stream.data(), bytes, true).status,
                bytes < least ? Status::kTruncated : Status::kOk)
          << header << " " << bytes;
    }
  }
}

TEST(DeflateHead, NamesOfAnyLengthEnd) {
  for (const std::size_t length : {0, 1, 31, 32, 33, 63, 64, 65, 100'000}) {
    const Bytes member = gzip_member({}, {.name = std::string(length, 'n'), .comment = "c"});
    EXPECT_EQ(gzip_head_of(member).bytes, 10 + length + 1 + 2);
    const Bytes cut(member.begin(), member.begin() + static_cast<std::ptrdiff_t>(10 + length));
    EXPECT_EQ(gzip_head_of(cut).status, Status::kTruncated);
  }
}

struct WholeVerdict {
  Status status = Status::kOk;
  Bytes content = {};
  bool has_garbage = false;
};

// The verdict of a stream of the library.
WholeVerdict by_stream(Format format, const StreamCase& one) {
  RestoreOptions options;
  options.threads = 1;
  options.backend = "reference";
  options.format = format;
  options.dictionary = one.history;
  WholeVerdict verdict;
  CollectSink sink;
  MemorySource source(one.stream);
  try {
    verdict.has_garbage = restore_stream(source, sink, options).trailing_garbage_at.has_value();
  } catch (const Error& error) {
    verdict.status = error.status();
  }
  verdict.content = sink.content;
  return verdict;
}

WholeVerdict by_reference(Format format, const StreamCase& one) {
  Bytes output(one.capacity);
  const DeflateStreamRestored restored =
      restore_deflate_stream_reference(format, one.stream, one.history, output);
  output.resize(restored.output_bytes);
  return {restored.status, output};
}

// The verdict, and the content if it is OK, must be the same with the library's stream and with zlib. So must
// the status, except for two cases, since here the place of the trailer is known: data that is cut off, or
// followed by more, is damaged.
void require_same(Format format, const std::vector<StreamCase>& cases) {
  const ZlibKind kind = format == Format::kZlib ? ZlibKind::kZlib : ZlibKind::kGzip;
  std::size_t sound = 0;
  for (std::size_t i = 0; i < cases.size(); ++i) {
    const StreamCase& one = cases[i];
    const WholeVerdict expected = by_stream(format, one), got = by_reference(format, one);
    if (one.capacity < 300) {
      ASSERT_EQ(got.status, Status::kOutputTooSmall) << i;
      continue;
    }
    const bool is_sound = expected.status == Status::kOk && !expected.has_garbage;
    const bool has_more = is_sound && inflated_by_zlib(one.stream, kind, one.history) == std::nullopt;
    ASSERT_EQ(got.status == Status::kOk, is_sound && !has_more) << i;
    if (got.status == Status::kOk) {
      ASSERT_TRUE(got.content == expected.content) << i;
      ++sound;
    } else if (expected.status != Status::kOk &&
               !(expected.status == Status::kTruncated && got.status == Status::kCorruptBlock)) {
      ASSERT_EQ(got.status, expected.status) << i;
    } else {
      ASSERT_EQ(got.status, Status::kCorruptBlock) << i;
    }
  }
  EXPECT_GT(sound, 10u);
}

TEST(DeflateStream, OfGzipHasTheStatusOfTheLibrarysStreams) { require_same(Format::kGzip, gzip_cases()); }

TEST(DeflateStream, OfZlibHasTheStatusOfTheLibrarysStreams) { require_same(Format::kZlib, zlib_cases()); }

TEST(DeflateStream, OfBgzfHasTheStatusOfTheLibrarysStreams) {
  std::size_t sound = 0;
  for (const StreamCase& one : bgzf_cases()) {
    const WholeVerdict got = by_reference(Format::kBgzf, one), expected = by_stream(Format::kBgzf, one);
    // Skips what the reader of frames does not accept as a block: a member without its size, or with another
    // size, or with more room than it needs.
    if (got.status == Status::kUnknownFormat || got.status == Status::kTrailingGarbage) continue;
    if (got.status == Status::kOutputTooSmall) {
      EXPECT_LT(one.capacity, kBgzfMostContentBytes);
      continue;
    }
    ASSERT_EQ(got.status, expected.status) << one.stream.size();
    if (got.status == Status::kOk) {
      ASSERT_TRUE(got.content == expected.content);
      ++sound;
    }
  }
  EXPECT_GE(sound, 5u);
}

TEST(DeflateStream, StatusesOfMembersThatAreNone) {
  const Bytes content = wordy_bytes(300);
  const auto status = [&](Format format, const Bytes& stream, std::size_t capacity = 300) {
    return by_reference(format, {stream, {}, capacity}).status;
  };
  EXPECT_EQ(status(Format::kBgzf, gzip_member(content)), Status::kUnknownFormat);
  EXPECT_EQ(status(Format::kBgzf, bgzf_member(content) + le(0, 1)), Status::kTrailingGarbage);
  EXPECT_EQ(status(Format::kGzip, gzip_member(content) + gzip_member(content), 600), Status::kCorruptBlock);
  EXPECT_EQ(status(Format::kGzip, bgzf_member(content)), Status::kOk);
  EXPECT_EQ(status(Format::kGzip, {}), Status::kTruncated);
  const Bytes more = bgzf_member(equal_bytes(65'537));
  EXPECT_EQ(status(Format::kBgzf, more, 100'000), Status::kCorruptBlock);
  EXPECT_EQ(status(Format::kDeflate, zlib_stream(content)), Status::kOk);
  EXPECT_EQ(status(Format::kDeflate, zlib_stream(content) + le(0, 1)), Status::kCorruptBlock);
}

}  // namespace
}  // namespace hemstitch::testing
