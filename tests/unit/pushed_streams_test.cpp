// Streams that are pushed: what is flushed can be restored at once, content comes in pieces, and a caller can
// cancel any call between pieces.
#include <gtest/gtest.h>
#include <zlib.h>

#include <algorithm>
#include <atomic>
#include <thread>

#include "collect_sink.hpp"
#include "hemstitch/memory.hpp"
#include "lz4f_oracle.hpp"
#include "pipeline/stream.hpp"
#include "shapes.hpp"
#include "threads.hpp"
#include "zlib_oracle.hpp"

namespace hemstitch::testing {
namespace {

constexpr Format kPushedFormats[] = {Format::kLz4, Format::kGzip, Format::kBgzf, Format::kZlib,
                                     Format::kDeflate};

Output append_to(Bytes& bytes) {
  return
      [&bytes](std::span<const std::byte> piece) { bytes.insert(bytes.end(), piece.begin(), piece.end()); };
}

// What another decoder restores of the beginning of one frame: liblz4's, or zlib's.
Bytes restored_so_far(const Bytes& begin, Format format) {
  Bytes content;
  if (format == Format::kLz4) {
    LZ4F_dctx* context = nullptr;
    LZ4F_createDecompressionContext(&context, LZ4F_VERSION);
    Bytes piece(1 << 16);
    std::span<const std::byte> left = begin;
    for (std::size_t written = 1; written != 0 || !left.empty();) {
      std::size_t taken = left.size();
      written = piece.size();
      if (LZ4F_isError(LZ4F_decompress(context, piece.data(), &written, left.data(), &taken, nullptr))) break;
      content.insert(content.end(), piece.begin(), piece.begin() + static_cast<std::ptrdiff_t>(written));
      left = left.subspan(taken);
    }
    LZ4F_freeDecompressionContext(context);
    return content;
  }
  z_stream stream{};
  inflateInit2(&stream,
               format == Format::kDeflate ? -MAX_WBITS : MAX_WBITS + (format == Format::kZlib ? 0 : 16));
  stream.next_in = const_cast<Bytef*>(reinterpret_cast<const Bytef*>(begin.data()));
  stream.avail_in = static_cast<uInt>(begin.size());
  Bytes piece(1 << 16);
  int result = Z_OK;
  do {
    stream.next_out = reinterpret_cast<Bytef*>(piece.data());
    stream.avail_out = static_cast<uInt>(piece.size());
    result = inflate(&stream, Z_SYNC_FLUSH);
    content.insert(content.end(), piece.begin(), piece.end() - static_cast<std::ptrdiff_t>(stream.avail_out));
    // BGZF is many members.
    if (result == Z_STREAM_END && stream.avail_in != 0) result = inflateReset(&stream);
  } while (result == Z_OK && (stream.avail_in != 0 || stream.avail_out == 0));
  inflateEnd(&stream);
  return content;
}

TEST_WITH_THREADS(PushedStreams, WhatIsFlushedCanBeRestoredAtOnce) {
  const Bytes content = mixed_bytes(1'500'000, 4);
  // Around a frame that may still end in one block (60 KB), around blocks, and twice at the same place.
  const std::size_t places[] = {0,      1,      1000,    61'440,  61'441,    131'072,  131'073,
                                65'280, 262144, 262'145, 262'145, 1'048'576, 1'400'000};
  std::vector<std::size_t> flushed(std::begin(places), std::end(places));
  std::ranges::sort(flushed);
  for (const Format format : kPushedFormats)
    for (const bool linked : {false, true})
      for (const bool checksum : {false, true})
        for (const bool sized : {false, true}) {
          if (format != Format::kLz4 && (linked || checksum || sized)) continue;
          CompressOptions options;
          options.format = format;
          options.linked_blocks = linked;
          options.content_checksum = checksum;
          options.block_bytes = format == Format::kLz4 ? 65536 : 0;
          options.threads = 2;
          if (sized) options.content_bytes = content.size();
          Bytes packed;
          Compressor compressor(options, append_to(packed));
          std::size_t at = 0;
          for (const std::size_t place : flushed) {
            compressor.write(std::span(content).subspan(at, place - at));
            at = place;
            compressor.flush();
            ASSERT_EQ(restored_so_far(packed, format),
                      Bytes(content.begin(), content.begin() + static_cast<std::ptrdiff_t>(at)))
                << at;
          }
          compressor.write(std::span(content).subspan(at));
          compressor.finish();

          RestoreOptions restoring;
          restoring.format = format;
          for (const unsigned threads : {1u, 3u}) {
            restoring.threads = threads;
            EXPECT_EQ(restore(packed, restoring), content);
            MemorySource source(packed);
            CollectSink part;
            restore_range(source, part, 131'000, 300'000, restoring);
            EXPECT_TRUE(std::ranges::equal(part.content, std::span(content).subspan(131'000, 169'000)));
          }
          if (format == Format::kLz4) {
            EXPECT_EQ(lz4f_restore_as_asked(packed + packed), content + content);
          }
        }
}

TEST(PushedStreams, AFlushAtTheEndAndWithNothingNewChangesNoByte) {
  for (const std::size_t bytes : {0u, 1u, 50'000u, 70'000u, 600'000u}) {
    const Bytes content = wordy_bytes(bytes);
    for (const Format format : kPushedFormats) {
      CompressOptions options;
      options.format = format;
      options.threads = 1;
      Bytes plain, flushed;
      Compressor one(options, append_to(plain)), other(options, append_to(flushed));
      one.write(content);
      one.finish();
      other.flush();
      other.write(content);
      other.flush();
      other.flush();
      other.finish();
      EXPECT_EQ(flushed, plain) << bytes;
      EXPECT_THROW(other.flush(), Error);
    }
  }
}

TEST_WITH_THREADS(PushedStreams, ContentComesInPieces) {
  // 40 MB of content in 40 to 160 KB, which come in one piece.
  constexpr std::size_t kContentBytes = 40'000'000;
  for (const Format format : kPushedFormats) {
    CompressOptions options;
    options.format = format;
    options.threads = 2;
    Bytes packed;
    Compressor compressor(options, append_to(packed));
    for (std::size_t i = 0; i < 100; ++i) compressor.write(Bytes(kContentBytes / 100));
    compressor.finish();
    for (const unsigned threads : {1u, 2u}) {
      RestoreOptions restoring;
      restoring.format = format;
      restoring.threads = threads;
      std::size_t content_bytes = 0, most_bytes = 0;
      Decompressor decompressor(restoring, [&](std::span<const std::byte> piece) {
        ASSERT_TRUE(std::ranges::all_of(piece, [](std::byte byte) { return byte == std::byte{0}; }));
        content_bytes += piece.size();
      });
      std::span<const std::byte> left = packed;
      auto passed_on = [&, before = std::size_t{0}]() mutable {
        const std::size_t bytes = content_bytes - std::exchange(before, content_bytes);
        most_bytes = std::max(most_bytes, bytes);
        return bytes != 0;
      };
      for (;;) {
        const std::size_t taken = decompressor.write_some(left);
        left = left.subspan(taken);
        if (passed_on()) continue;
        EXPECT_TRUE(left.empty());
        break;
      }
      while (!decompressor.finish_some()) EXPECT_TRUE(passed_on());
      EXPECT_THROW(decompressor.finish_some(), Error);
      EXPECT_EQ(content_bytes, kContentBytes);
      EXPECT_LE(most_bytes, std::size_t{9} << 20);
    }
  }
}

Bytes bytes_of_text(std::string_view text) {
  const auto bytes = std::as_bytes(std::span(text));
  return {bytes.begin(), bytes.end()};
}

// What trailing() says after each write is what finish() says of as many bytes: it throws nothing, or that
// other bytes follow, where trailing() tells which.
TEST(PushedStreams, WhereTheStreamMayEndIsKnownAtAnyTime) {
  for (const Format format :
       {Format::kLz4, Format::kGzip, Format::kBgzf, Format::kZlib, Format::kDeflate, Format::kZstd}) {
    CompressOptions options;
    options.format = format;
    options.threads = 1;
    const Bytes frame = compress(bytes_of_text("words, words and words"), options);
    const bool may_follow = format != Format::kZlib && format != Format::kDeflate;
    const Bytes skippable = bytes_of_text(std::string_view("\x50\x2a\x4d\x18\x03\0\0\0abc", 11));
    for (const Bytes& packed :
         {frame, frame + bytes_of_text("junk, and more of it"), may_follow ? frame + frame : frame,
          format == Format::kLz4 || format == Format::kZstd ? frame + skippable + frame : frame,
          frame + Bytes(300) + bytes_of_text("j"), bytes_of_text("no frame"), Bytes()}) {
      RestoreOptions restoring;
      restoring.format = format;
      restoring.threads = 1;
      const auto nowhere = [](std::span<const std::byte>) {};
      Decompressor bytewise(restoring, nowhere);
      for (std::size_t end = 0; end <= packed.size(); ++end) {
        const std::span<const std::byte> begin = std::span(packed).first(end);
        Decompressor at_once(restoring, nowhere);
        Status status = Status::kOk;
        std::size_t trailing_bytes = 0;
        try {
          at_once.write(begin);
          if (const auto trailing = at_once.trailing()) trailing_bytes = trailing->size();
          at_once.finish();
        } catch (const Error& error) {
          status = error.status();
        }
        try {
          if (end != 0) bytewise.write(begin.last(1));
        } catch (const Error&) {
          EXPECT_NE(status, Status::kOk);
          break;
        }
        const auto trailing = bytewise.trailing();
        ASSERT_EQ(trailing.has_value(), status == Status::kOk || status == Status::kTrailingGarbage)
            << format_names()[static_cast<std::size_t>(format)].name << " " << end << " "
            << static_cast<int>(status);
        if (!trailing) continue;
        EXPECT_EQ(!trailing->empty(), status == Status::kTrailingGarbage);
        EXPECT_EQ(trailing_bytes,
                  status == Status::kTrailingGarbage ? end - at_once.report().input_bytes : 0);
        // Of later writes it does not know.
        ASSERT_LE(trailing->size(), trailing_bytes);
        EXPECT_TRUE(std::ranges::equal(*trailing, begin.last(trailing_bytes).first(trailing->size())));
      }
    }
  }
}

struct Stopped : std::exception {};

// Runs call(between_pieces), which has to end with what that throws after a few pieces.
template <class Call>
void expect_stops(const char* name, const Call& call) {
  std::atomic<int> pieces = 0;
  EXPECT_THROW(call([&] {
                 if (++pieces > 3) throw Stopped();
               }),
               Stopped)
      << name;
  EXPECT_GT(pieces, 3) << name;
  EXPECT_LT(pieces, 20) << name;
}

TEST_WITH_THREADS(PushedStreams, CallersCancelBetweenPieces) {
  const Bytes content = mixed_bytes(20'000'000, 7);
  std::vector<std::span<const std::byte>> many;
  for (std::size_t at = 0; at < content.size(); at += 200'000)
    many.push_back(std::span(content).subspan(at, 200'000));
  for (const Format format : {Format::kLz4, Format::kGzip, Format::kBgzf}) {
    CompressOptions plain;
    plain.format = format;
    plain.level = 1;
    const Bytes packed = compress(content, plain);
    std::vector<Bytes> frames;
    for (const auto one : many) frames.push_back(compress(one, plain));
    const std::vector<std::span<const std::byte>> frame_spans(frames.begin(), frames.end());
    for (const unsigned threads : {1u, 3u}) {
      const auto compressing = [&](const BetweenPieces& between) {
        CompressOptions options = plain;
        options.threads = threads;
        options.between_pieces = between;
        return options;
      };
      const auto restoring = [&](const BetweenPieces& between) {
        RestoreOptions options;
        options.threads = threads;
        options.between_pieces = between;
        return options;
      };
      const Output nowhere = [](std::span<const std::byte>) {};
      expect_stops("compress", [&](const BetweenPieces& f) { compress(content, compressing(f)); });
      expect_stops("restore", [&](const BetweenPieces& f) { restore(packed, restoring(f)); });
      expect_stops("compress_many", [&](const BetweenPieces& f) { compress_many(many, compressing(f)); });
      expect_stops("restore_many", [&](const BetweenPieces& f) { restore_many(frame_spans, restoring(f)); });
      expect_stops("Compressor", [&](const BetweenPieces& f) {
        Compressor compressor(compressing(f), nowhere);
        compressor.write(content);
        compressor.finish();
      });
      expect_stops("Decompressor", [&](const BetweenPieces& f) {
        Decompressor decompressor(restoring(f), nowhere);
        decompressor.write(packed);
        decompressor.finish();
      });
      if (format == Format::kGzip) {
        expect_stops("make_index", [&](const BetweenPieces& f) { make_index(packed, restoring(f)); });
      } else {
        const ContentBytes all[] = {{}};
        expect_stops("restore_ranges",
                     [&](const BetweenPieces& f) { restore_ranges(packed, all, restoring(f)); });
      }
    }
  }
}

}  // namespace
}  // namespace hemstitch::testing
