// One stream that is restored by several threads, compared with zlib's inflate and with the decoder for one
// thread: the same verdict, the same bytes, the same end. Pieces are tiny, so that small streams cross every
// boundary.
#include <gtest/gtest.h>
#include <isa-l/igzip_lib.h>

#include <cstdlib>
#include <memory>
#include <random>
#include <set>

#include "deflate_streams.hpp"
#include "format/deflate/stream/deflate_finder.hpp"
#include "format/deflate/stream/deflate_markers.hpp"
#include "format/deflate/stream/deflate_parallel_decoder.hpp"
#include "guarded_buffer.hpp"
#include "hemstitch/hemstitch.hpp"
#include "libdeflate_stream.hpp"
#include "threads.hpp"
#include "valid_data/valid_data.hpp"

namespace hemstitch::testing {
namespace {

constexpr int kGzipWindowBits = MAX_WBITS + 16;

struct ParallelOutcome {
  Status status = Status::kTruncated;
  std::string detail = {};
  Bytes content = {};
  std::uint64_t end = 0;  // where the stream has ended
  std::uint64_t linked_bytes = 0;
};

// Restores one stream, given in pieces of up to `most_in`, with room for `most_out` at once.
ParallelOutcome restored_by(StreamDecoder& decoder, std::span<const std::byte> data,
                            std::size_t most_in = 1500, std::size_t most_out = 4000) {
  ParallelOutcome outcome;
  GuardedBuffer outputs(most_out);
  std::span<const std::byte> left = data;
  for (;;) {
    GuardedBuffer input(left.first(std::min(left.size(), most_in)));
    const StreamStep step = decoder.restore(input.bytes(), outputs.bytes());
    EXPECT_LE(step.input_bytes, input.bytes().size());
    EXPECT_LE(step.output_bytes, most_out);
    left = left.subspan(step.input_bytes);
    const auto content = outputs.bytes().first(step.output_bytes);
    outcome.content.insert(outcome.content.end(), content.begin(), content.end());
    if (step.status != Status::kOk) {
      outcome.status = step.status;
      outcome.detail = step.detail;
      break;
    }
    if (step.ended) outcome.status = Status::kOk;
    if (step.ended || (step.input_bytes == 0 && step.output_bytes == 0)) break;
  }
  outcome.end = data.size() - left.size() - decoder.ahead_bytes();
  return outcome;
}

DeflateParallelLimits tiny_pieces(std::size_t piece_bytes, unsigned threads = 3) {
  return {.threads = threads,
          .pieces = threads + threads / 2 + 2,
          .piece_bytes = piece_bytes,
          .overlap_bytes = piece_bytes / 2,
          .content_bytes = 65536 + 64 * piece_bytes,
          .begin_bytes = 1};
}

// With little room at once the calling thread is slow, and finds more pieces done.
constexpr std::size_t kLittleRoom = 20;

ParallelOutcome restored_in_parallel(std::span<const std::byte> data, const DeflateParallelLimits& limits,
                                     std::span<const std::byte> history = {}, std::size_t most_out = 4000) {
  DeflateParallelDecoder decoder(history, false, limits);
  ParallelOutcome outcome = restored_by(decoder, data, 1500, most_out);
  outcome.linked_bytes = decoder.linked_bytes();
  return outcome;
}

// Compares with the decoder for one thread, which is compared with zlib elsewhere (deflate_restore_test.cpp).
void require_as_serial(std::span<const std::byte> data, const DeflateParallelLimits& limits,
                       std::string_view what, std::size_t most_out = 4000) {
  DeflateDecoder serial({});
  const ParallelOutcome expected = restored_by(serial, data),
                        found = restored_in_parallel(data, limits, {}, most_out);
  ASSERT_EQ(found.status, expected.status) << what << ": " << found.detail << " / " << expected.detail;
  ASSERT_EQ(found.detail, expected.detail) << what;
  ASSERT_EQ(found.content == expected.content, true) << what;
  if (expected.status == Status::kOk) {
    ASSERT_EQ(found.end, expected.end) << what;
  }
}

// How much of the content came from pieces. On a busy machine threads may be late, so the best of some runs
// counts.
std::uint64_t most_linked(const Bytes& data, const Bytes& content, const DeflateParallelLimits& limits) {
  std::uint64_t most = 0;
  for (unsigned run = 0; run < 20 && most <= content.size() / 4; ++run) {
    const ParallelOutcome found = restored_in_parallel(data, limits, {}, 500);
    EXPECT_EQ(found.content == content, true);
    most = std::max(most, found.linked_bytes);
  }
  return most;
}

struct NamedStream {
  std::string name;
  Bytes content, data;
};

Bytes isal_stream(Bytes content, std::uint32_t level) {
  Bytes data(content.size() + content.size() / 8 + 1024), room(ISAL_DEF_LVL3_DEFAULT);
  isal_zstream stream;
  isal_deflate_init(&stream);
  stream.level = level;
  stream.level_buf = reinterpret_cast<std::uint8_t*>(room.data());
  stream.level_buf_size = static_cast<std::uint32_t>(room.size());
  stream.end_of_stream = 1;
  stream.next_in = reinterpret_cast<std::uint8_t*>(content.data());
  stream.avail_in = static_cast<std::uint32_t>(content.size());
  stream.next_out = reinterpret_cast<std::uint8_t*>(data.data());
  stream.avail_out = static_cast<std::uint32_t>(data.size());
  EXPECT_EQ(isal_deflate(&stream), COMP_OK);
  data.resize(stream.total_out);
  return data;
}

Bytes flushed_stream(const Bytes& content, std::size_t piece_bytes, int flush) {
  z_stream stream{};
  deflateInit2(&stream, 6, Z_DEFLATED, -MAX_WBITS, 8, Z_DEFAULT_STRATEGY);
  Bytes data(content.size() + content.size() / piece_bytes * 16 + 4096);
  stream.next_in = reinterpret_cast<Bytef*>(const_cast<std::byte*>(content.data()));
  stream.next_out = reinterpret_cast<Bytef*>(data.data());
  stream.avail_out = static_cast<uInt>(data.size());
  for (std::size_t at = 0; at < content.size(); at += piece_bytes) {
    stream.avail_in = static_cast<uInt>(std::min(piece_bytes, content.size() - at));
    deflate(&stream, flush);
  }
  deflate(&stream, Z_FINISH);
  data.resize(stream.total_out);
  deflateEnd(&stream);
  return data;
}

Bytes gzip_of(const Bytes& content, int level = 6) {
  return zlib_stream(content, level, Z_DEFAULT_STRATEGY, 8, kGzipWindowBits);
}

std::vector<NamedStream> streams() {
  const Bytes text = wordy_bytes(150'000), mixed = mixed_bytes(150'000), noise = random_bytes(100'000),
              letters = random_bytes(100'000, 3, 4);
  std::vector<NamedStream> all;
  const auto add = [&](std::string name, const Bytes& content, Bytes data) {
    all.push_back({std::move(name), content, std::move(data)});
  };
  for (const int level : {0, 1, 4, 6, 9})
    add("zlib", mixed, zlib_stream(mixed, level, Z_DEFAULT_STRATEGY, 1));
  for (const int strategy : {Z_FILTERED, Z_HUFFMAN_ONLY, Z_RLE, Z_FIXED})
    add("strategy", text, zlib_stream(text, 6, strategy, 1));
  add("default", text, zlib_stream(text));
  for (const int level : {1, 6, 12}) add("libdeflate", mixed, libdeflate_stream(mixed, level));
  for (const std::uint32_t level : {0u, 1u, 3u}) add("ISA-L", mixed, isal_stream(mixed, level));
  add("noise", noise, zlib_stream(noise, 6, Z_DEFAULT_STRATEGY, 1));
  add("noise coded", noise, zlib_stream(noise, 6, Z_HUFFMAN_ONLY, 1));
  add("letters", letters, zlib_stream(letters, 6, Z_DEFAULT_STRATEGY, 1));
  const Bytes zeros(1'500'000);
  add("zeros", zeros, zlib_stream(zeros, 6, Z_DEFAULT_STRATEGY, 1));
  // A stored block that contains a stream, with its headers.
  const Bytes inner = zlib_stream(text, 6, Z_DEFAULT_STRATEGY, 1);
  add("stored stream", inner, zlib_stream(inner, 0));
  const Bytes around = noise + inner + text + gzip_of(inner) + noise;
  add("stream in stream", around, zlib_stream(around, 6, Z_DEFAULT_STRATEGY, 1));
  add("empty blocks", text, flushed_stream(text, 40, Z_SYNC_FLUSH));
  add("no history", text, flushed_stream(text, 8192, Z_FULL_FLUSH));
  return all;
}

TEST_WITH_THREADS(DeflateParallel, RestoresWhatAnyEncoderWrites) {
  for (const NamedStream& stream : streams())
    for (const std::size_t piece_bytes : {std::size_t{700}, std::size_t{6000}}) {
      const ParallelOutcome found = restored_in_parallel(stream.data, tiny_pieces(piece_bytes));
      ASSERT_EQ(found.status, Status::kOk) << stream.name << ": " << found.detail;
      ASSERT_EQ(found.content == stream.content, true) << stream.name << ", pieces of " << piece_bytes;
      ASSERT_EQ(found.end, stream.data.size()) << stream.name;
    }
}

TEST_WITH_THREADS(DeflateParallel, StreamsThatNoEncoderWrites) {
  for (unsigned seed = 0; seed < 1000; ++seed) {
    const ValidData made = valid_deflate_stream(seed, seed % 25 == 0 ? 300'000 : 20'000);
    SCOPED_TRACE(seed);
    const ParallelOutcome found =
        restored_in_parallel(made.data, tiny_pieces(100 + seed * 7 % 3000, 2 + seed % 3), made.dictionary,
                             seed % 2 == 0 ? kLittleRoom : 4000);
    ASSERT_EQ(found.status, Status::kOk) << found.detail;
    ASSERT_TRUE(found.content == made.content);
    ASSERT_EQ(found.end, made.data.size());
  }
}

// If there is something to find, most of the content comes from pieces, so the test above is meaningful.
TEST_WITH_THREADS(DeflateParallel, LinksPieces) {
  const Bytes content = wordy_bytes(1'000'000), data = zlib_stream(content, 6, Z_DEFAULT_STRATEGY, 1);
  EXPECT_GT(most_linked(data, content, tiny_pieces(8192, 4)), content.size() / 4);
}

TEST_WITH_THREADS(DeflateParallel, KnowsTheContentBefore) {
  const Bytes history = wordy_bytes(40'000, 7), content = history + wordy_bytes(200'000, 8);
  const Bytes data = zlib_stream(content, 6, Z_DEFAULT_STRATEGY, 1, -MAX_WBITS,
                                 std::span(history).last(kDeflateWindowBytes));
  const ParallelOutcome found =
      restored_in_parallel(data, tiny_pieces(2000), std::span(history).last(kDeflateWindowBytes));
  EXPECT_EQ(found.status, Status::kOk) << found.detail;
  EXPECT_EQ(found.content == content, true);
  // Without the history, matches reach back before the beginning, which the calling thread must report.
  require_as_serial(data, tiny_pieces(700), "without history");
}

// The stream begins less than 32 KB before pieces with matches that reach back before it.
TEST_WITH_THREADS(DeflateParallel, RefusesMatchesThatReachBackBeforeTheBeginning) {
  const Bytes history = wordy_bytes(20'000, 7), content = random_bytes(6000, 1, 64) + history;
  const Bytes data = zlib_stream(content, 6, Z_DEFAULT_STRATEGY, 1, -MAX_WBITS, history);
  for (const std::size_t piece_bytes : {300u, 500u, 800u, 1500u}) {
    require_as_serial(data, tiny_pieces(piece_bytes), "without history", kLittleRoom);
  }
}

TEST_WITH_THREADS(DeflateParallel, JudgesDamageAsOneThreadDoes) {
  const Bytes content = mixed_bytes(60'000, 5) + wordy_bytes(60'000, 6);
  const Bytes data = zlib_stream(content, 6, Z_DEFAULT_STRATEGY, 1);
  std::mt19937 random(1);
  for (unsigned round = 0; round < 60; ++round) {
    Bytes changed = data;
    const std::size_t at = random() % changed.size();
    const char* what = "cut off";
    switch (random() % 4) {
      case 0:
        changed.resize(at);
        break;
      case 1:
        what = "a bit";
        changed[at] ^= std::byte{1} << random() % 8;
        break;
      case 2:
        what = "bytes";
        for (std::size_t i = at; i < std::min(at + 40, changed.size()); ++i)
          changed[i] = static_cast<std::byte>(random());
        break;
      default:
        what = "bytes missing";
        changed.erase(
            changed.begin() + static_cast<std::ptrdiff_t>(at),
            changed.begin() + static_cast<std::ptrdiff_t>(std::min(at + 1 + random() % 2000, data.size())));
    }
    require_as_serial(changed, tiny_pieces(400 + random() % 2500), what);
    if (HasFatalFailure()) FAIL() << what << " at " << at << ", round " << round;
  }
}

// Changes and cuts streams anywhere: 1000 of them, or as many as HEMSTITCH_MUTATED_STREAMS says (a million
// before a release).
TEST_WITH_THREADS(DeflateParallel, MutatedStreams) {
  const char* const asked = std::getenv("HEMSTITCH_MUTATED_STREAMS");
  const unsigned rounds = asked != nullptr ? static_cast<unsigned>(std::strtoul(asked, nullptr, 10)) : 1000;
  const std::vector<Bytes> sound = {
      zlib_stream(wordy_bytes(9000), 6, Z_DEFAULT_STRATEGY, 1),
      zlib_stream(mixed_bytes(9000, 3), 1, Z_DEFAULT_STRATEGY, 1),
      flushed_stream(wordy_bytes(3000, 4), 100, Z_SYNC_FLUSH),
      zlib_stream(random_bytes(1500) + wordy_bytes(4000, 5) + random_bytes(900), 6, Z_DEFAULT_STRATEGY, 1),
      libdeflate_stream(mixed_bytes(20'000, 6), 6),
      zlib_stream(zlib_stream(wordy_bytes(9000, 7), 6, Z_DEFAULT_STRATEGY, 1), 0)};
  std::mt19937 random(11);
  for (unsigned round = 0; round < rounds; ++round) {
    Bytes changed = sound[round % sound.size()];
    for (unsigned change = 0; change <= random() % 3 && !changed.empty(); ++change) {
      const std::size_t at = random() % changed.size();
      switch (random() % 5) {
        case 0:
          changed[at] ^= std::byte{1} << random() % 8;
          break;
        case 1:
          changed[at] = static_cast<std::byte>(random());
          break;
        case 2:
          changed.erase(changed.begin() + static_cast<std::ptrdiff_t>(at));
          break;
        case 3:
          changed.insert(changed.begin() + static_cast<std::ptrdiff_t>(at), static_cast<std::byte>(random()));
          break;
        default:
          changed.resize(at + 1);
      }
    }
    require_as_serial(changed, tiny_pieces(100 + random() % 900, 2 + static_cast<unsigned>(random() % 3)),
                      "mutated", 20 + random() % 4000);
    if (HasFatalFailure()) FAIL() << "round " << round;
  }
}

TEST_WITH_THREADS(DeflateParallel, CutsAtEveryPlace) {
  const Bytes content = wordy_bytes(6000);
  const Bytes data = zlib_stream(content, 6, Z_DEFAULT_STRATEGY, 1) + Bytes(3);
  for (std::size_t size = 0; size < data.size(); ++size) {
    require_as_serial(std::span(data).first(size), tiny_pieces(150 + size % 300, 2 + size % 2), "cut off");
    if (HasFatalFailure()) FAIL() << "at " << size;
  }
}

// Loans are given back in any order, even after the decoder is gone.
TEST_WITH_THREADS(DeflateParallel, LendsContent) {
  const Bytes content = wordy_bytes(600'000), data = zlib_stream(content, 6, Z_DEFAULT_STRATEGY, 1);
  std::uint64_t most_lent = 0;
  for (unsigned run = 0; run < 10; ++run) {
    std::vector<std::pair<std::shared_ptr<const std::byte>, std::span<const std::byte>>> loans;
    std::vector<std::size_t> loans_at;
    Bytes restored, output(500);
    std::uint64_t lent_bytes = 0;
    {
      DeflateParallelLimits limits = tiny_pieces(8192, 2 + run % 3);
      limits.lent_bytes = 1 + run * 100;
      DeflateParallelDecoder decoder({}, false, limits);
      decoder.lend_content();
      std::span<const std::byte> left = data;
      for (StreamStep step; !step.ended;) {
        step = decoder.restore(left.first(std::min<std::size_t>(left.size(), 1500)), output);
        ASSERT_EQ(step.status, Status::kOk);
        ASSERT_TRUE(step.ended || step.input_bytes + step.output_bytes != 0);
        left = left.subspan(step.input_bytes);
        if (step.lent.empty()) {
          restored.insert(restored.end(), output.begin(),
                          output.begin() + static_cast<std::ptrdiff_t>(step.output_bytes));
          continue;
        }
        ASSERT_EQ(step.lent.size(), step.output_bytes);
        ASSERT_GE(step.lent.size(), limits.lent_bytes);
        lent_bytes += step.output_bytes;
        loans.emplace_back(step.owner, step.lent);
        loans_at.push_back(restored.size());
        restored.resize(restored.size() + step.output_bytes);
        // All but the last four are read and given back.
        if (loans.size() < 5) continue;
        std::copy(loans[0].second.begin(), loans[0].second.end(),
                  restored.begin() + static_cast<std::ptrdiff_t>(loans_at[0]));
        loans.erase(loans.begin());
        loans_at.erase(loans_at.begin());
      }
    }
    for (std::size_t i = 0; i < loans.size(); ++i)
      std::copy(loans[i].second.begin(), loans[i].second.end(),
                restored.begin() + static_cast<std::ptrdiff_t>(loans_at[i]));
    ASSERT_EQ(restored == content, true) << run;
    most_lent = std::max(most_lent, lent_bytes);
  }
  EXPECT_GT(most_lent, content.size() / 10);
}

// A stream may be one block of any size: with the fixed code, and with dynamic codes, one of which has a
// single symbol.
TEST_WITH_THREADS(DeflateParallel, GiantBlocks) {
  Bytes expected;
  DeflateBitWriter fixed;
  fixed.block(true, 1);
  for (unsigned i = 0; i < 60'000; ++i) {
    const unsigned literal = i * 2654435761u >> 25;  // below 128
    fixed.code(0x30 + literal, 8);
    expected.push_back(static_cast<std::byte>(literal));
    if (i % 4 != 3) continue;
    fixed.code(1, 7).code(0, 5);  // three bytes equal to the one before
    expected.insert(expected.end(), 3, expected.back());
  }
  fixed.code(0, 7);
  const ParallelOutcome found = restored_in_parallel(fixed.bytes(), tiny_pieces(2000));
  EXPECT_EQ(found.status, Status::kOk);
  EXPECT_EQ(found.content == expected, true);

  // Literals a and b, the end, and a length of 258; the only distance is 1.
  std::vector<std::uint8_t> litlens(286);
  litlens['a'] = litlens['b'] = litlens[256] = litlens[285] = 2;
  DeflateBitWriter dynamic;
  dynamic.dynamic(true, litlens, {1});
  expected.clear();
  for (unsigned i = 0; i < 30'000; ++i) {
    const bool is_b = (i * 2654435761u >> 31) != 0;
    dynamic.code(is_b ? 1 : 0, 2).code(3, 2).code(0, 1);
    expected.insert(expected.end(), 259, static_cast<std::byte>(is_b ? 'b' : 'a'));
  }
  dynamic.code(2, 2);
  const ParallelOutcome second = restored_in_parallel(dynamic.bytes(), tiny_pieces(2000), {}, 1'000'000);
  EXPECT_EQ(second.status, Status::kOk) << second.detail;
  EXPECT_EQ(second.content == expected, true);

  // An incomplete code with a single symbol, the end, in thousands of blocks.
  std::vector<std::uint8_t> only_end(257);
  only_end[256] = 1;
  DeflateBitWriter empty;
  for (unsigned i = 0; i < 2000; ++i) empty.dynamic(i == 1999, only_end, {0}).code(0, 1);
  require_as_serial(empty.bytes(), tiny_pieces(1000), "one symbol");
}

// Blocks with the fixed code do not announce themselves. While the calling thread meets no other blocks, no
// thread searches for any.
TEST_WITH_THREADS(DeflateParallel, NobodySearchesWhereNothingIsAnnounced) {
  DeflateBitWriter fixed;
  Bytes expected(30'000);
  for (unsigned block = 0; block < 30; ++block) {
    fixed.block(block == 29, 1);
    for (unsigned i = 0; i < 1000; ++i) fixed.code(0x30, 8);
    fixed.code(0, 7);
  }
  for (unsigned threads = 2; threads <= 4; ++threads) {
    DeflateParallelDecoder decoder({}, false, tiny_pieces(2000, threads));
    const ParallelOutcome found = restored_by(decoder, fixed.bytes());
    EXPECT_EQ(found.status, Status::kOk);
    EXPECT_EQ(found.content == expected, true);
    EXPECT_EQ(decoder.searched_pieces(), 0);
  }

  DeflateBitWriter begun;
  begun.block(false, 1);
  for (unsigned i = 0; i < 30'000; ++i) begun.code(0x30, 8);
  begun.code(0, 7).block(false, 0).align().bits(0, 16).bits(0xFFFF, 16);
  const Bytes content = wordy_bytes(200'000, 17),
              data = begun.bytes() + zlib_stream(content, 6, Z_DEFAULT_STRATEGY, 1);
  EXPECT_GT(most_linked(data, expected + content, tiny_pieces(2000)), 0);
}

// As from a pipe whose writer ends a stream, and begins the next one later: a piece is then only half full.
TEST_WITH_THREADS(DeflateParallel, GoesOnWhereNothingWasReadAhead) {
  const Bytes content = wordy_bytes(30'000, 18), data = zlib_stream(content, 6, Z_DEFAULT_STRATEGY, 1);
  for (const std::size_t piece_bytes : {300, 2000, 100'000}) {
    DeflateParallelDecoder decoder({}, true, tiny_pieces(piece_bytes));
    for (unsigned stream = 0; stream < 4; ++stream) {
      const ParallelOutcome found = restored_by(decoder, data, 50, 200'000);
      ASSERT_EQ(found.status, Status::kOk) << found.detail << ' ' << stream;
      ASSERT_EQ(found.content == content, true) << stream;
      ASSERT_EQ(decoder.ahead_bytes(), 0);
      ASSERT_TRUE(decoder.begin_next({}));
    }
  }
}

// However a stream is cut, the decoder knows how far behind the last header is that can be found.
TEST(DeflateParallel, WhatIsUnannounced) {
  std::vector<std::uint8_t> litlens(257);
  litlens['a'] = litlens[256] = 1;
  DeflateBitWriter writer;
  writer.block(false, 1).code(0x30, 8).code(0, 7).dynamic(false, litlens, {0});
  const std::size_t announced_bytes = writer.bytes().size();  // the header ends in the last of them
  writer.code(0, 1).code(1, 1);
  for (unsigned block = 0; block < 4; ++block) {
    writer.block(block == 3, 1);
    for (unsigned i = 0; i < 300; ++i) writer.code(0x30 + i % 100, 8);
    writer.code(0, 7);
  }
  const Bytes data = writer.bytes();
  for (const std::size_t most_in : {1, 2, 7, 100, 1000, 10'000})
    for (const std::size_t most_out : {1, 50, 10'000}) {
      DeflateDecoder decoder({});
      const ParallelOutcome found = restored_by(decoder, data, most_in, most_out);
      ASSERT_EQ(found.status, Status::kOk) << found.detail;
      ASSERT_EQ(found.end - (decoder.unannounced_bits() + 7) / 8, announced_bytes - 1)
          << most_in << ' ' << most_out;
    }
}

TEST_WITH_THREADS(DeflateParallel, AllLevelsAndStrategies) {
  const Bytes content =
      mixed_bytes(40'000, 9) + wordy_bytes(40'000, 10) + Bytes(20'000) + random_bytes(20'000, 11, 4);
  for (int level = 0; level <= 9; ++level)
    for (const int strategy : {Z_DEFAULT_STRATEGY, Z_FILTERED, Z_HUFFMAN_ONLY, Z_RLE, Z_FIXED}) {
      const Bytes data = zlib_stream(content, level, strategy, 1 + level % 9);
      const ParallelOutcome found = restored_in_parallel(data, tiny_pieces(1500, 2 + level % 3));
      ASSERT_EQ(found.status, Status::kOk) << level << ' ' << strategy << ' ' << found.detail;
      ASSERT_EQ(found.content == content, true) << level << ' ' << strategy;
      ASSERT_EQ(found.end, data.size()) << level << ' ' << strategy;
    }
}

// Two threads share a stream: the other thread restores runs of pieces.
TEST_WITH_THREADS(DeflateParallel, TwoThreadsShare) {
  const Bytes content = wordy_bytes(1'000'000), data = zlib_stream(content, 6, Z_DEFAULT_STRATEGY, 1);
  DeflateParallelLimits limits = tiny_pieces(8192, 2);
  limits.pieces = kDeflateStreamSharedPieces;
  EXPECT_GT(most_linked(data, content, limits), content.size() / 10);
}

struct KeptPoint {
  std::uint64_t bit, content_at;
  Bytes window;
};

// From every point, the rest of the content is restored, and stopping there loses nothing.
TEST_WITH_THREADS(DeflateParallel, StopsAtPoints) {
  const Bytes content = mixed_bytes(150'000) + wordy_bytes(250'000);
  for (const NamedStream& stream :
       {NamedStream{"zlib", content, zlib_stream(content, 6, Z_DEFAULT_STRATEGY, 1)},
        NamedStream{"fixed", content, zlib_stream(content, 6, Z_FIXED, 1)},
        NamedStream{"flushed", content, flushed_stream(content, 40, Z_SYNC_FLUSH)}})
    for (const unsigned threads : {1u, 2u, 3u}) {
      std::unique_ptr<StreamDecoder> decoder;
      if (threads == 1)
        decoder = std::make_unique<DeflateDecoder>(std::span<const std::byte>());
      else
        decoder = std::make_unique<DeflateParallelDecoder>(std::span<const std::byte>(), false,
                                                           tiny_pieces(2000, threads));
      std::vector<KeptPoint> points;
      Bytes restored, output(3000);
      std::span<const std::byte> left = stream.data;
      for (bool ended = false; !ended;) {
        const bool wants = points.empty() || restored.size() - points.back().content_at >= 15'000;
        const auto point = decoder->point();
        if (wants && point)
          points.push_back(
              {(stream.data.size() - left.size() - decoder->ahead_bytes()) * 8 - point->bits_before,
               restored.size(), Bytes(point->window.begin(), point->window.end())});
        const bool stops = wants && !point;
        decoder->stop_at_points(stops);
        const StreamStep step =
            decoder->restore(left.first(std::min<std::size_t>(left.size(), 1100)), output);
        left = left.subspan(step.input_bytes);
        restored.insert(restored.end(), output.begin(),
                        output.begin() + static_cast<std::ptrdiff_t>(step.output_bytes));
        ASSERT_EQ(step.status, Status::kOk) << stream.name << threads;
        ASSERT_TRUE(step.ended || step.input_bytes + step.output_bytes != 0 || (stops && decoder->point()));
        ended = step.ended;
      }
      ASSERT_EQ(restored == content, true) << stream.name << threads;
      EXPECT_GT(points.size(), 10u) << stream.name << threads;
      for (const KeptPoint& point : points) {
        DeflateDecoder from({});
        const auto byte = static_cast<std::size_t>(point.bit / 8);
        const auto taken = static_cast<unsigned>(point.bit % 8);
        from.begin(point.window, stream.data[byte], taken);
        const ParallelOutcome rest =
            restored_by(from, std::span(stream.data).subspan(byte + (taken != 0 ? 1 : 0)), 20'000, 20'000);
        ASSERT_EQ(rest.status, Status::kOk) << stream.name << threads << " at " << point.content_at;
        ASSERT_EQ(rest.content ==
                      Bytes(content.begin() + static_cast<std::ptrdiff_t>(point.content_at), content.end()),
                  true)
            << stream.name << threads << " at " << point.content_at;
      }
    }
}

TEST_WITH_THREADS(DeflateParallel, TriesAgainBehindDataWithNothingToFind) {
  const Bytes content = wordy_bytes(200'000);
  z_stream stream{};
  deflateInit2(&stream, 6, Z_DEFLATED, -MAX_WBITS, 1, Z_FIXED);
  Bytes data(600'000);
  stream.next_out = reinterpret_cast<Bytef*>(data.data());
  stream.avail_out = static_cast<uInt>(data.size());
  const auto put = [&](int flush) {
    stream.next_in = reinterpret_cast<Bytef*>(const_cast<std::byte*>(content.data()));
    stream.avail_in = static_cast<uInt>(content.size());
    deflate(&stream, flush);
  };
  put(Z_FULL_FLUSH);
  deflateParams(&stream, 6, Z_DEFAULT_STRATEGY);
  put(Z_FINISH);
  data.resize(stream.total_out);
  deflateEnd(&stream);
  EXPECT_GT(most_linked(data, content + content, tiny_pieces(2500)), content.size() / 10);
}

// Bits of 0 end a block with the fixed code, and the padding after a piece's input consists of such bits.
TEST_WITH_THREADS(DeflateParallel, TakesNoBitsBehindTheEnd) {
  const Bytes content = wordy_bytes(20'000), last = wordy_bytes(400, 5);
  z_stream stream{};
  deflateInit2(&stream, 6, Z_DEFLATED, -MAX_WBITS, 1, Z_DEFAULT_STRATEGY);
  Bytes data(40'000);
  stream.next_out = reinterpret_cast<Bytef*>(data.data());
  stream.avail_out = static_cast<uInt>(data.size());
  const auto put = [&](const Bytes& bytes, int flush) {
    stream.next_in = reinterpret_cast<Bytef*>(const_cast<std::byte*>(bytes.data()));
    stream.avail_in = static_cast<uInt>(bytes.size());
    deflate(&stream, flush);
  };
  put(content, Z_FULL_FLUSH);
  deflateParams(&stream, 6, Z_FIXED);
  put(last, Z_FINISH);
  data.resize(stream.total_out);
  deflateEnd(&stream);
  for (std::size_t cut = 1; cut < 300; cut += 3)
    require_as_serial(std::span(data).first(data.size() - cut), tiny_pieces(1800),
                      "cut off in a fixed block");
}

// Blocks before it shift everything that follows by their bits.
TEST_WITH_THREADS(DeflateParallel, EntersAtEveryBitOfAByte) {
  const Bytes content = wordy_bytes(60'000);
  std::set<unsigned> phases;
  for (unsigned a = 0; a < 4; ++a)
    for (unsigned b = 0; b < 2; ++b) {
      DeflateBitWriter writer;
      Bytes expected;
      // Fixed blocks with one literal, of 8 bits and of 9.
      for (unsigned i = 0; i < a + b; ++i) {
        writer.block(false, 1);
        if (i < a)
          writer.code(0x30 + 'x', 8);
        else
          writer.code(0x190 + 200 - 144, 9);
        writer.code(0, 7);
        expected.push_back(i < a ? std::byte{'x'} : std::byte{200});
      }
      phases.insert((18 * a + 19 * b) % 8);
      for (const std::byte byte : zlib_stream(content, 6, Z_DEFAULT_STRATEGY, 1))
        writer.bits(static_cast<unsigned>(byte), 8);
      const ParallelOutcome found = restored_in_parallel(writer.bytes(), tiny_pieces(900));
      ASSERT_EQ(found.status, Status::kOk) << a << ' ' << b << ' ' << found.detail;
      ASSERT_EQ(found.content == expected + content, true) << a << ' ' << b;
    }
  EXPECT_EQ(phases.size(), 8u);
}

// Content that exceeds its room, and blocks longer than the part of the next piece that is known.
TEST_WITH_THREADS(DeflateParallel, GoesOnWithoutPiecesThatHaveNoRoom) {
  const Bytes content = wordy_bytes(400'000);
  DeflateParallelLimits limits = tiny_pieces(4000);
  limits.content_bytes = 65536 + 9000;
  for (const int mem_level : {1, 8}) {
    const ParallelOutcome found =
        restored_in_parallel(zlib_stream(content, 6, Z_DEFAULT_STRATEGY, mem_level), limits);
    EXPECT_EQ(found.status, Status::kOk);
    EXPECT_EQ(found.content == content, true);
  }
  limits.content_bytes = 1000;  // not even enough for a window
  EXPECT_EQ(restored_in_parallel(zlib_stream(content), limits).content == content, true);
}

// Consecutive members, as a reader of gzip takes them: headers and trailers are read from what the decoder
// has read ahead.
TEST_WITH_THREADS(DeflateParallel, GoesFromMemberToMember) {
  std::mt19937 random(3);
  Bytes data;
  std::vector<Bytes> contents;
  for (unsigned i = 0; i < 60; ++i) {
    contents.push_back(i % 7 == 0 ? Bytes() : mixed_bytes(random() % (i % 5 == 0 ? 100'000 : 3000), i));
    data = data + gzip_of(contents.back(), i % 3 == 0 ? 1 : 6);
  }
  data = data + bytes_of("no member");
  for (const std::size_t piece_bytes : {std::size_t{300}, std::size_t{5000}, std::size_t{50'000}}) {
    DeflateParallelDecoder decoder({}, true, tiny_pieces(piece_bytes));
    std::span<const std::byte> left = data;
    const auto pass = [&](std::size_t count) {
      Bytes passed(count);
      const std::size_t ahead = decoder.read_ahead(passed);
      std::copy_n(left.begin(), count - ahead, passed.begin() + static_cast<std::ptrdiff_t>(ahead));
      left = left.subspan(count - ahead);
      return passed;
    };
    for (std::size_t i = 0; i < contents.size(); ++i) {
      ASSERT_EQ(pass(10)[0], std::byte{0x1F}) << i;
      ASSERT_TRUE(i == 0 || decoder.begin_next({}));
      const ParallelOutcome found = restored_by(decoder, left);
      left = left.last(static_cast<std::size_t>(left.size() + 0) -
                       (static_cast<std::size_t>(found.end + decoder.ahead_bytes())));
      ASSERT_EQ(found.status, Status::kOk) << i << ": " << found.detail;
      ASSERT_EQ(found.content == contents[i], true) << i << ", pieces of " << piece_bytes;
      const Bytes trailer = pass(8);
      ASSERT_EQ(load_le32(trailer.data() + 4), contents[i].size());
    }
    EXPECT_EQ(pass(9), bytes_of("no member"));
    EXPECT_EQ(decoder.ahead_bytes(), 0u);
  }
}

TEST_WITH_THREADS(DeflateParallel, IsGivenUpAtAnyTime) {
  const Bytes data = zlib_stream(wordy_bytes(400'000), 6, Z_DEFAULT_STRATEGY, 1);
  for (std::size_t given = 0; given < data.size(); given += 9001) {
    DeflateParallelDecoder decoder({}, false, tiny_pieces(3000));
    Bytes output(1000);
    decoder.restore(std::span(data).first(given / 2), output);
    decoder.restore(std::span(data).subspan(given / 2, given / 2), output);
  }
}

// All contents share memory. A piece that gets none ends early or is never restored, and the memory of what was
// passed on serves the next pieces.
TEST_WITH_THREADS(DeflateParallel, GoesOnWithLittleMemoryForContents) {
  const Bytes content = wordy_bytes(1'000'000), data = zlib_stream(content, 6, Z_DEFAULT_STRATEGY, 1);
  DeflateParallelLimits limits = tiny_pieces(8192, 4);
  for (const std::uint64_t bytes : {0u, 200'000u, 1'000'000u}) {
    limits.contents_bytes = bytes;
    const ParallelOutcome found = restored_in_parallel(data, limits);
    EXPECT_EQ(found.content == content, true) << bytes;
    if (bytes == 0) {
      EXPECT_EQ(found.linked_bytes, 0u);
    }
  }
  EXPECT_GT(most_linked(data, content, limits), content.size() / 8);
}

TEST(DeflateParallel, TakesNoMoreThanItMay) {
  const DeflateParallelLimits all = deflate_parallel_limits({.threads = 16});
  EXPECT_EQ(all.threads, 16u);
  for (unsigned threads = 2; threads < 100; ++threads) {
    const DeflateParallelLimits limits = deflate_parallel_limits({.threads = threads, .loans = 4});
    EXPECT_EQ(limits.threads, threads);
    EXPECT_LE(limits.memory_bytes(), (threads + 1) * kDeflateStreamThreadBytes);
  }
  const DeflateParallelLimits some = deflate_parallel_limits({.threads = 16, .memory_bytes = 30 << 20});
  EXPECT_LT(some.threads, 16u);
  EXPECT_GT(some.threads, 1u);
  EXPECT_LE(some.memory_bytes(), 30u << 20);
  EXPECT_EQ(deflate_parallel_limits({.threads = 16, .memory_bytes = 1}).threads, 1u);
  EXPECT_EQ(deflate_parallel_limits({.threads = 16, .input_bytes = 1'000'000}).threads, 1u);
  EXPECT_EQ(deflate_parallel_limits({.threads = 1}).threads, 1u);
  EXPECT_EQ(deflate_parallel_limits({.threads = 2}).threads, 2u);
  EXPECT_EQ(deflate_parallel_limits({.threads = 2, .input_bytes = 4'900'000}).threads, 1u)
      << "nothing to share";
  EXPECT_EQ(deflate_parallel_limits({.threads = 3}).threads, 3u);
  EXPECT_EQ(deflate_parallel_limits({.threads = 4}).threads, 4u);
}

// It must find every block but the last if it has dynamic codes, and no other place.
TEST(DeflateFinder, FindsAllBlocksAndNothingElse) {
  for (const Bytes& content : {wordy_bytes(200'000), mixed_bytes(200'000), random_bytes(50'000, 1, 4)}) {
    Bytes data = zlib_stream(content, 6, Z_DEFAULT_STRATEGY, 1);
    std::vector<std::uint64_t> expected;
    DeflateDecoder decoder({});
    Bytes output(content.size() + 1);
    for (std::uint64_t at = 0;;) {
      if ((static_cast<unsigned>(data[at / 8]) >> at % 8 & 1) == 0 &&
          (load_le32(data.data() + at / 8) >> at % 8 & 7) == 4)
        expected.push_back(at);
      decoder.begin({}, data[at / 8], static_cast<unsigned>(at % 8));
      // Without its window a block may be refused; the next header is searched with it.
      decoder = DeflateDecoder({});
      const StreamStep step = decoder.restore_until(static_cast<std::int64_t>(at + 1), data, output);
      if (step.ended) break;
      at = step.input_bytes * 8 - decoder.unread_bits();
    }
    const std::size_t size = data.size();
    data.resize(size + kDeflateReadBehindBytes);
    std::vector<std::uint64_t> found;
    for (std::uint64_t from = 0;;) {
      const auto next = find_deflate_start(std::span(data).first(size), from, size * 8);
      if (!next) break;
      found.push_back(*next);
      from = *next + 1;
    }
    EXPECT_EQ(found, expected);
    EXPECT_GT(found.size(), 3u);
  }
  const Bytes noise = random_bytes(4 << 20);
  EXPECT_EQ(
      find_deflate_start(std::span(noise).first(noise.size() - kDeflateReadBehindBytes), 0, noise.size() * 8),
      std::nullopt);
}

TEST(DeflateFinder, FindsStoredBlocks) {
  const Bytes content = random_bytes(300'000);
  Bytes data = zlib_stream(content, 0);
  const std::size_t size = data.size();
  data.resize(size + kDeflateReadBehindBytes);
  const auto first = find_deflate_start(std::span(data).first(size), 1, size * 8);
  ASSERT_TRUE(first);
  // The sizes of the second block come after its header, which is a whole byte.
  EXPECT_EQ(deflate_start_key(data, *first) % 2, 1u);
  EXPECT_EQ(load_le32(data.data() + (*first + 3) / 8) & 0xFFFF,
            ~load_le32(data.data() + (*first + 3) / 8) >> 16);
  // Any of the bits of 0 may count as its first one.
  for (std::uint64_t at = *first - 5; at <= *first; ++at)
    EXPECT_EQ(deflate_start_key(data, at), deflate_start_key(data, *first));
}

TEST(DeflateMarkers, BecomeTheBytesOfTheWindow) {
  const Bytes window = random_bytes(1000);
  std::vector<std::uint16_t> symbols;
  Bytes expected;
  for (unsigned i = 0; i < 5000; ++i) {
    const bool marks = i % 50 < 20 && i > 200;
    const unsigned value = marks ? i % 1000 : i % 256;
    symbols.push_back(
        static_cast<std::uint16_t>(marks ? kDeflateMarker | (kDeflateWindowBytes - 1000 + value) : value));
    expected.push_back(marks ? window[value] : static_cast<std::byte>(value));
  }
  EXPECT_TRUE(all_bytes(std::span(symbols).first(200)));
  EXPECT_FALSE(all_bytes(symbols));
  EXPECT_EQ(oldest_marker(symbols), kDeflateWindowBytes - 1000);
  EXPECT_EQ(oldest_marker(std::span(symbols).first(200)), kDeflateWindowBytes);
  Bytes bytes(symbols.size());
  resolve_markers(symbols.data(), symbols.size(), window, bytes.data());
  EXPECT_EQ(bytes, expected);
  // In place.
  auto* const place = reinterpret_cast<std::byte*>(symbols.data());
  resolve_markers(symbols.data(), symbols.size(), window, place);
  EXPECT_TRUE(std::equal(expected.begin(), expected.end(), place));
}

// With pieces of the usual size.
TEST_WITH_THREADS(DeflateParallel, RestoresALargeFile) {
  const auto folder = corpora();
  if (!folder) GTEST_SKIP() << "HEMSTITCH_CORPORA is not set";
  const Bytes content = read_file(*folder / "silesia" / "samba", 16 << 20);
  const Bytes data = gzip_of(content) + gzip_of(content, 1);
  for (const unsigned threads : {2u, 5u}) {
    RestoreOptions options;
    options.backend = "cpu";
    options.threads = threads;
    EXPECT_EQ(restore(data, options) == content + content, true);
  }
}

}  // namespace
}  // namespace hemstitch::testing
