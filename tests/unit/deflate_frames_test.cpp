// gzip, BGZF, zlib and raw DEFLATE as the library writes them, restored by zlib.
#include <gtest/gtest.h>

#include "core/bytes.hpp"
#include "hemstitch/hemstitch.hpp"
#include "shapes.hpp"
#include "threads.hpp"
#include "zlib_oracle.hpp"

namespace hemstitch {
namespace {

using namespace testing;

constexpr Format kFormats[] = {Format::kGzip, Format::kBgzf, Format::kZlib, Format::kDeflate};
constexpr std::size_t kBlockBytes = 1 << 20;

CompressOptions options_of(Format format, int level = 0) {
  CompressOptions options;
  options.format = format;
  options.level = level;
  return options;
}

// Each member must end where its size says.
std::optional<Bytes> restored_members(std::span<const std::byte> data) {
  Bytes content;
  while (!data.empty()) {
    if (data.size() < 28) return std::nullopt;
    const std::size_t member_bytes = (load_le32(data.data() + 16) & 0xFFFF) + 1;
    if (member_bytes > data.size()) return std::nullopt;
    const auto member = inflated_by_zlib(data.first(member_bytes), ZlibKind::kGzip);
    if (!member) return std::nullopt;
    content.insert(content.end(), member->begin(), member->end());
    data = data.subspan(member_bytes);
    if (data.empty() && (member_bytes != 28 || !member->empty())) return std::nullopt;  // no end marker
  }
  return content;
}

std::optional<Bytes> restored(std::span<const std::byte> data, Format format) {
  if (format == Format::kBgzf) return restored_members(data);
  return inflated_by_zlib(data, format == Format::kGzip   ? ZlibKind::kGzip
                                : format == Format::kZlib ? ZlibKind::kZlib
                                                          : ZlibKind::kDeflate);
}

TEST(DeflateFrames, ZlibRestoresEveryShape) {
  for (const Format format : kFormats)
    for (const int level : {1, 6, 9})
      for (const Shape& shape : boundary_shapes(65537))
        ASSERT_EQ(restored(compress(shape.bytes, options_of(format, level)), format), shape.bytes)
            << shape.name << ", level " << level;
}

TEST(DeflateFrames, EveryNumberOfThreadsWritesTheSameBytes) {
  for (const Format format : kFormats)
    for (const int level : {1, 2, 6}) {
      const Bytes content = mixed_bytes(5 * kBlockBytes + 4321, 3);
      CompressOptions options = options_of(format, level);
      options.threads = 1;
      const Bytes one = compress(content, options);
      ASSERT_EQ(restored(one, format), content) << level;
      for (const unsigned threads : {2u, 5u, 0u}) {
        options.threads = threads;
        EXPECT_EQ(compress(content, options), one) << threads << " threads, level " << level;
      }
    }
}

TEST(DeflateFrames, ContentEndsAnywhereBesideABlock) {
  const Bytes content = wordy_bytes(2 * kBlockBytes + 2, 5);
  for (const Format format : {Format::kGzip, Format::kZlib, Format::kDeflate})
    for (const std::size_t bytes :
         {kBlockBytes - 1, kBlockBytes, kBlockBytes + 1, 2 * kBlockBytes, 2 * kBlockBytes + 2}) {
      const Bytes part(content.begin(), content.begin() + static_cast<std::ptrdiff_t>(bytes));
      ASSERT_EQ(restored(compress(part, options_of(format, 1)), format), part) << bytes;
    }
  for (const std::size_t bytes : {65279, 65280, 65281, 130560, 130561})
    for (const Shape& shape : {Shape{"words", wordy_bytes(bytes)}, Shape{"random", random_bytes(bytes)}})
      ASSERT_EQ(restored(compress(shape.bytes, options_of(Format::kBgzf)), Format::kBgzf), shape.bytes)
          << shape.name << ", " << bytes;
}

TEST_WITH_THREADS(DeflateFrames, StreamsWriteWhatOneCallWrites) {
  const Bytes content = mixed_bytes(3 * kBlockBytes + 99, 8);
  for (const Format format : kFormats) {
    Bytes streamed;
    Compressor compressor(options_of(format), [&](std::span<const std::byte> bytes) {
      streamed.insert(streamed.end(), bytes.begin(), bytes.end());
    });
    for (std::size_t at = 0, piece = 1; at < content.size(); at += piece, piece = piece * 3 % 100003 + 1)
      compressor.write(std::span(content).subspan(at, std::min(piece, content.size() - at)));
    compressor.finish();
    EXPECT_EQ(streamed, compress(content, options_of(format)));
  }
}

TEST(DeflateFrames, GzipStoresNameAndTimeWhereItIsAsked) {
  const Bytes content = wordy_bytes(1000);
  const Bytes plain = compress(content, options_of(Format::kGzip));
  EXPECT_EQ(load_le32(plain.data() + 4), 0u);
  EXPECT_EQ(plain[3], std::byte{0});
  CompressOptions options = options_of(Format::kGzip);
  options.stored_name = "a name";
  options.stored_time = 1234567890;
  const Bytes named = compress(content, options);
  EXPECT_EQ(load_le32(named.data() + 4), 1234567890u);
  EXPECT_EQ(named[3], std::byte{8});
  EXPECT_TRUE(std::ranges::equal(std::span(named).subspan(10, 7), bytes_of(std::string_view("a name\0", 7))));
  EXPECT_EQ(restored(named, Format::kGzip), content);
}

TEST(DeflateFrames, ZlibRefersToADictionary) {
  const Bytes dictionary = random_bytes(20000, 4), content(dictionary.end() - 9000, dictionary.end());
  for (const int level : {1, 6, 12}) {
    CompressOptions options = options_of(Format::kZlib, level);
    options.dictionary = dictionary;
    const Bytes data = compress(content, options);
    EXPECT_LT(data.size(), 1000u);
    EXPECT_EQ(inflated_by_zlib(data, ZlibKind::kZlib, dictionary), content);
    EXPECT_EQ(inflated_by_zlib(data, ZlibKind::kZlib, content), std::nullopt);
  }
}

TEST(DeflateFrames, WhatAFormatLacksIsRefused) {
  const auto refused = [](Format format, const auto& change, std::string_view field) {
    CompressOptions options = options_of(format);
    change(options);
    try {
      compress({}, options);
      ADD_FAILURE() << field << " was accepted";
    } catch (const Error& error) {
      EXPECT_EQ(error.status(), Status::kInvalidOption);
      EXPECT_TRUE(std::string_view(error.what()).starts_with(field)) << error.what();
    }
  };
  const Bytes dictionary = random_bytes(100), large = random_bytes(65537);
  for (const Format format : kFormats) {
    refused(
        format, [](CompressOptions& o) { o.level = 1, o.acceleration = 2; }, "acceleration");
    refused(
        format, [](CompressOptions& o) { o.linked_blocks = true; }, "linked_blocks");
    refused(
        format, [](CompressOptions& o) { o.block_bytes = 65536; }, "block_bytes");
    refused(
        format, [&](CompressOptions& o) { o.dictionary = large; }, "dictionary");
    if (format != Format::kZlib)
      refused(
          format, [&](CompressOptions& o) { o.dictionary = dictionary; }, "dictionary");
    if (format == Format::kGzip) continue;
    refused(
        format, [](CompressOptions& o) { o.stored_name = "n"; }, "stored_name");
    refused(
        format, [](CompressOptions& o) { o.stored_time = 1; }, "stored_time");
  }
  refused(
      Format::kGzip, [](CompressOptions& o) { o.stored_name = std::string(1, '\0'); }, "stored_name");
  refused(
      Format::kLz4, [](CompressOptions& o) { o.stored_name = "n"; }, "stored_name");
}

}  // namespace
}  // namespace hemstitch
