// The decoders of DEFLATE, compared with zlib's inflate: the same verdict, the same bytes, the same end, for
// any input.
#include "format/deflate/restore/deflate_restore.hpp"

#include <gtest/gtest.h>
#include <isa-l/igzip_lib.h>

#include <functional>
#include <random>

#include "deflate_streams.hpp"
#include "engine/backend.hpp"
#include "engine/registry.hpp"
#include "guarded_buffer.hpp"
#include "libdeflate_stream.hpp"

namespace hemstitch::testing {
namespace {

struct Outcome {
  DeflateRestored restored;
  Bytes content;
};

using RestoreWhole = std::function<DeflateRestored(std::span<const std::byte>, std::span<const std::byte>,
                                                   std::span<std::byte>)>;

constexpr std::size_t kRoom = 100'000;

// Restores between guard pages.
Outcome restored_whole(const RestoreWhole& restore, std::span<const std::byte> data,
                       std::span<const std::byte> history, Against against) {
  GuardedBuffer input(data, against), before(history, against);
  static GuardedBuffer upper(kRoom, Against::kUpperGuard), lower(kRoom, Against::kLowerGuard);
  const std::span<std::byte> output = (against == Against::kUpperGuard ? upper : lower).bytes();
  Outcome outcome{restore(input.bytes(), before.bytes(), output), {}};
  const auto content = output.first(outcome.restored.output_bytes);
  outcome.content.assign(content.begin(), content.end());
  return outcome;
}

// Restores in pieces of random sizes, as a stream.
Outcome restored_in_pieces(StreamDecoder& decoder, std::span<const std::byte> data, std::size_t room,
                           std::mt19937& random) {
  constexpr std::size_t kMostBytes = 900;
  static GuardedBuffer inputs(kMostBytes), outputs(kMostBytes);
  Outcome outcome;
  outcome.restored.status = Status::kTruncated;
  std::span<const std::byte> left = data;
  for (;;) {
    const std::size_t in =
        std::min<std::size_t>(left.size(), random() % (random() % 4 == 0 ? kMostBytes : 9));
    const std::size_t out = 1 + random() % (random() % 3 == 0 ? kMostBytes : 5);
    const std::span<std::byte> input = inputs.bytes().last(in),
                               output = outputs.bytes().last(std::min(out, room));
    std::ranges::copy(left.first(in), input.begin());
    const StreamStep step = decoder.restore(input, output);
    EXPECT_LE(step.input_bytes, in);
    left = left.subspan(step.input_bytes);
    room -= step.output_bytes;
    outcome.content.insert(outcome.content.end(), output.begin(),
                           output.begin() + static_cast<std::ptrdiff_t>(step.output_bytes));
    if (step.status != Status::kOk) {
      outcome.restored.status = step.status;
      outcome.restored.detail = step.detail;
      break;
    }
    if (step.ended) outcome.restored.status = Status::kOk;
    if (step.ended || (left.empty() && step.input_bytes == 0 && step.output_bytes == 0)) break;
  }
  outcome.restored.input_bytes = data.size() - left.size();
  return outcome;
}

void require_same(const ZlibVerdict& expected, const Outcome& found, std::string_view what) {
  ASSERT_EQ(found.restored.status, expected.status)
      << what << ": " << found.restored.detail << " / " << expected.message;
  ASSERT_EQ(found.content, expected.content) << what;
  if (expected.status == Status::kOk) {
    ASSERT_EQ(found.restored.input_bytes, expected.input_bytes) << what;
  }
  ASSERT_EQ(found.restored.detail.empty(), expected.status != Status::kCorruptBlock) << what;
}

// Runs each of our decoders, whole and in pieces. The details of an error must be the reference's.
void require_zlibs_verdict(std::span<const std::byte> data, std::span<const std::byte> history = {},
                           std::uint32_t seed = 1) {
  static DeflateDecoder whole({});
  const RestoreWhole fast = [&](auto input, auto before, auto output) {
    return whole.restore_whole(input, before, output);
  };
  const ZlibVerdict expected = zlib_verdict(data, history);
  std::mt19937 random(seed);
  const Against against = random() % 2 == 0 ? Against::kUpperGuard : Against::kLowerGuard;
  const Outcome reference = restored_whole(deflate_restore_reference, data, history, against);
  ASSERT_NO_FATAL_FAILURE(require_same(expected, reference, "reference"));
  const Outcome found = restored_whole(fast, data, history, against);
  ASSERT_NO_FATAL_FAILURE(require_same(expected, found, "whole"));
  ASSERT_EQ(found.restored.detail, reference.restored.detail);
  if (expected.status == Status::kOk) {
    ASSERT_EQ(found.restored.last_byte_bits, reference.restored.last_byte_bits);
  }
  DeflateReferenceDecoder slow_pieces(history);
  ASSERT_NO_FATAL_FAILURE(
      require_same(expected, restored_in_pieces(slow_pieces, data, kRoom, random), "reference in pieces"));
  DeflateDecoder pieces(history);
  ASSERT_NO_FATAL_FAILURE(require_same(expected, restored_in_pieces(pieces, data, kRoom, random), "pieces"));
}

std::vector<Bytes> small_streams() {
  std::vector<Bytes> streams;
  for (const auto& [level, strategy, mem_level] : {std::tuple{0, Z_DEFAULT_STRATEGY, 8},
                                                   {1, Z_DEFAULT_STRATEGY, 1},
                                                   {6, Z_DEFAULT_STRATEGY, 8},
                                                   {9, Z_FIXED, 8},
                                                   {6, Z_HUFFMAN_ONLY, 8},
                                                   {6, Z_RLE, 8}})
    for (const Bytes& content : {Bytes(), equal_bytes(300), wordy_bytes(350), random_bytes(60, 3),
                                 copied_bytes(400, 5), random_bytes(300, 9, 3)})
      streams.push_back(zlib_stream(content, level, strategy, mem_level));
  return streams;
}

TEST(DeflateRestore, EveryTruncatedStreamHasZlibsVerdict) {
  for (const Bytes& stream : small_streams())
    for (std::size_t bytes = 0; bytes <= stream.size(); ++bytes)
      ASSERT_NO_FATAL_FAILURE(require_zlibs_verdict(std::span(stream).first(bytes), {}, 7));
}

TEST(DeflateRestore, EveryFlippedBitHasZlibsVerdict) {
  std::uint32_t seed = 0;
  std::size_t damaged = 0;
  for (const Bytes& stream : small_streams())
    for (std::size_t bit = 0; bit < stream.size() * 8; ++bit) {
      Bytes other = stream;
      other[bit / 8] ^= std::byte{1} << bit % 8;
      ASSERT_NO_FATAL_FAILURE(require_zlibs_verdict(other, {}, ++seed)) << "bit " << bit;
      if (zlib_verdict(other).status == Status::kCorruptBlock) ++damaged;
    }
  EXPECT_GT(damaged, 1000u);  // otherwise this shows nothing
}

TEST(DeflateRestore, MutatedStreamsHaveZlibsVerdict) {
  std::mt19937 random(11);
  const std::vector<Bytes> streams = small_streams();
  for (int i = 0; i < 4000; ++i) {
    Bytes other = streams[random() % streams.size()];
    // Half of the changes are in the headers, which come first.
    for (auto left = 1 + random() % 3; left > 0; --left) {
      const std::size_t reach = random() % 2 == 0 ? other.size() : std::min<std::size_t>(other.size(), 40);
      other[random() % reach] = static_cast<std::byte>(random());
    }
    ASSERT_NO_FATAL_FAILURE(require_zlibs_verdict(other, {}, static_cast<std::uint32_t>(random()))) << i;
  }
}

std::vector<std::uint8_t> lengths(std::size_t count, std::initializer_list<std::pair<int, int>> set) {
  std::vector<std::uint8_t> all(count);
  for (const auto& [symbol, bits] : set)
    all[static_cast<std::size_t>(symbol)] = static_cast<std::uint8_t>(bits);
  return all;
}

// The literal 'a' and the end of the block have a bit each; distances as given.
DeflateBitWriter two_codes(const std::vector<std::uint8_t>& distances) {
  DeflateBitWriter writer;
  writer.dynamic(true, lengths(257, {{'a', 1}, {256, 1}}), distances);
  return writer;
}

TEST(DeflateRestore, WhatTheRfcForbidsIsRefusedWithItsReason) {
  using W = DeflateBitWriter;
  const auto litlens = lengths(258, {{'a', 2}, {256, 2}, {257, 1}});
  struct Case {
    const char* what;
    Bytes stream;
  };
  const std::vector<Case> cases{
      {"reserved", W().block(true, 3).bits(0, 32).bytes()},
      {"two sizes", W().block(true, 0).align().bits(5, 16).bits(5, 16).bits(0, 32).bytes()},
      {"more lengths or distances", W().block(true, 2).bits(30, 5).bits(0, 5).bits(0, 32).bytes()},
      {"more lengths or distances", W().block(true, 2).bits(0, 5).bits(30, 5).bits(0, 32).bytes()},
      // Four codes of one bit, for the code lengths 16, 17, 18 and 0; and a single code of two bits.
      {"code of the code lengths", W().block(true, 2)
                                       .bits(0, 10)
                                       .bits(0, 4)
                                       .bits(1, 3)
                                       .bits(1, 3)
                                       .bits(1, 3)
                                       .bits(1, 3)
                                       .bits(0, 32)
                                       .bytes()},
      {"code of the code lengths", W().block(true, 2)
                                       .bits(0, 10)
                                       .bits(0, 4)
                                       .bits(2, 3)
                                       .bits(0, 3)
                                       .bits(0, 3)
                                       .bits(0, 3)
                                       .bits(0, 32)
                                       .bytes()},
      // Lengths 16 and 0, with a bit each: the first one has nothing to repeat.
      {"repeats an earlier one",
       W().block(true, 2).bits(0, 10).bits(0, 4).bits(1, 3).bits(0, 6).bits(1, 3).bits(~0u, 32).bytes()},
      // Lengths 18 and 0, again and again.
      {"more code lengths than codes",
       W().block(true, 2).bits(0, 10).bits(0, 4).bits(0, 6).bits(1, 3).bits(1, 3).bits(~0u, 32).bytes()},
      {"end of a block has no code", W().dynamic(true, lengths(257, {{'a', 1}, {'b', 1}}), {0}).bytes()},
      {"literals and lengths is",
       W().dynamic(true, lengths(257, {{'a', 1}, {'b', 1}, {256, 1}}), {0}).bytes()},
      {"literals and lengths is", W().dynamic(true, lengths(257, {{'a', 2}, {256, 2}}), {0}).bytes()},
      {"literals and lengths is", W().dynamic(true, lengths(257, {{256, 2}}), {0}).bytes()},
      {"distances is", W().dynamic(true, litlens, {1, 1, 1}).bytes()},
      {"distances is", W().dynamic(true, litlens, {2}).bytes()},
      {"distances is", W().dynamic(true, litlens, {1, 2}).bytes()},
      // The fixed codes of symbol 286 and of distance 30.
      {"not a code of a literal", W().block(true, 1).code(0b11000110, 8).bits(0, 16).bytes()},
      {"not a code of a distance",
       W().block(true, 1).code(0x30 + 'a', 8).code(1, 7).code(30, 5).bits(0, 16).bytes()},
      // A single distance has the code 0, and 1 is not a code; without distances neither is.
      {"not a code of a distance", W().dynamic(true, litlens, {1}).code(2, 2).code(0, 1).code(1, 1).bytes()},
      {"not a code of a distance", W().dynamic(true, litlens, {0}).code(2, 2).code(0, 1).code(0, 1).bytes()},
      // A single symbol, the end of the block: the other bit is not a code.
      {"not a code of a literal",
       W().dynamic(true, lengths(257, {{256, 1}}), {0}).code(1, 1).bits(0, 8).bytes()},
      {"begins before the content", W().block(true, 1).code(1, 7).code(0, 5).bits(0, 16).bytes()},
      {"begins before the content",
       W().block(true, 1).code(0x30 + 'a', 8).code(1, 7).code(1, 5).bits(0, 16).bytes()},
  };
  for (const Case& one : cases) {
    SCOPED_TRACE(one.what);
    Bytes stream = one.stream;
    stream.resize(stream.size() + 80);
    EXPECT_EQ(zlib_verdict(stream).status, Status::kCorruptBlock);
    for (std::size_t bytes = 0; bytes <= stream.size(); ++bytes)
      ASSERT_NO_FATAL_FAILURE(require_zlibs_verdict(std::span(stream).first(bytes), {}, 3)) << bytes;
    Bytes room(kRoom);
    EXPECT_NE(deflate_restore_reference(stream, {}, room).detail.find(one.what), std::string_view::npos)
        << deflate_restore_reference(stream, {}, room).detail;
  }
}

TEST(DeflateRestore, WhatTheRfcAllowsIsRestored) {
  using W = DeflateBitWriter;
  // A single symbol, the end of the block. No distances. A single distance of one bit.
  Bytes room(kRoom);
  const auto content = [&](const Bytes& stream) {
    require_zlibs_verdict(stream);
    const DeflateRestored restored = deflate_restore_reference(stream, {}, room);
    EXPECT_EQ(restored.status, Status::kOk) << restored.detail;
    return Bytes(room.begin(), room.begin() + static_cast<std::ptrdiff_t>(restored.output_bytes));
  };
  EXPECT_EQ(content(W().dynamic(true, lengths(257, {{256, 1}}), {0}).code(0, 1).bytes()), Bytes());
  EXPECT_EQ(content(two_codes({0}).code(0, 1).code(0, 1).code(1, 1).bytes()), bytes_of("aa"));
  const auto litlens = lengths(258, {{'a', 2}, {256, 2}, {257, 1}});
  EXPECT_EQ(content(W().dynamic(true, litlens, {1}).code(2, 2).code(0, 1).code(0, 1).code(3, 2).bytes()),
            bytes_of("aaaa"));
  // Length 258 as symbol 285, and as 284 with the largest extra bits.
  const Bytes as_285 =
      W().block(true, 1).code(0x30 + 'a', 8).code(0b11000101, 8).code(0, 5).code(0, 7).bytes();
  const Bytes as_284 =
      W().block(true, 1).code(0x30 + 'a', 8).code(0b11000100, 8).bits(31, 5).code(0, 5).code(0, 7).bytes();
  EXPECT_EQ(content(as_285), equal_bytes(259));
  EXPECT_EQ(content(as_284), equal_bytes(259));
  // Codes of every length up to 15 bits in both alphabets: a comb.
  std::vector<std::uint8_t> comb(258), distances(16);
  for (unsigned i = 0; i < 14; ++i) comb['a' + i] = static_cast<std::uint8_t>(i + 1);
  comb[256] = comb[257] = 15;
  for (unsigned i = 0; i < 15; ++i) distances[i] = static_cast<std::uint8_t>(i + 1);
  distances[15] = 15;
  W writer;
  writer.dynamic(true, comb, distances);
  Bytes expected;
  for (unsigned i = 0; i < 14; ++i) {
    writer.code((1u << (i + 1)) - 2, i + 1);
    expected.push_back(static_cast<std::byte>('a' + i));
  }
  writer.code((1u << 15) - 1, 15).code(0, 1);  // length 3, distance 1
  expected.insert(expected.end(), 3, expected.back());
  writer.code((1u << 15) - 2, 15);
  EXPECT_EQ(content(writer.bytes()), expected);
}

TEST(DeflateRestore, MatchesReachAsFarAsHistory) {
  using W = DeflateBitWriter;
  const Bytes history = random_bytes(40'000, 3);
  // Length 3 with the largest distance: symbol 29 with all extra bits set.
  const Bytes farthest = W().block(true, 1).code(1, 7).code(29, 5).bits(8191, 13).code(0, 7).bytes();
  Bytes room(100);
  const auto within = [&](std::size_t bytes) {
    const auto before = std::span(history).last(bytes);
    require_zlibs_verdict(farthest, before);
    return deflate_restore_reference(farthest, before, room).status;
  };
  EXPECT_EQ(within(32'768), Status::kOk);
  EXPECT_EQ(Bytes(room.begin(), room.begin() + 3), Bytes(history.end() - 32'768, history.end() - 32'765));
  EXPECT_EQ(within(40'000), Status::kOk);
  EXPECT_EQ(within(32'767), Status::kCorruptBlock);
  EXPECT_EQ(within(0), Status::kCorruptBlock);
  // Content that continues its history, in pieces.
  Bytes content(history.end() - 33'000, history.end() - 2'000);
  require_zlibs_verdict(zlib_stream(content, 9, Z_DEFAULT_STRATEGY, 8, -MAX_WBITS, history), history);
}

TEST(DeflateRestore, RoomThatDoesNotSufficeIsTold) {
  DeflateDecoder decoder({});
  const Bytes content = copied_bytes(5000, 2), stream = zlib_stream(content);
  for (const std::size_t room : {0u, 1u, 100u, 4999u, 5000u, 5001u}) {
    GuardedBuffer output(room), other(room);
    const Status expected = room < 5000 ? Status::kOutputTooSmall : Status::kOk;
    const DeflateRestored reference = deflate_restore_reference(stream, {}, other.bytes());
    EXPECT_EQ(reference.status, expected) << room;
    EXPECT_EQ(reference.output_bytes, std::min<std::size_t>(room, 5000));
    const DeflateRestored restored = decoder.restore_whole(stream, {}, output.bytes());
    EXPECT_EQ(restored.status, expected) << room;
    EXPECT_TRUE(std::ranges::equal(output.bytes().first(restored.output_bytes),
                                   std::span(content).first(std::min<std::size_t>(room, 5000))));
  }
  // After an empty stream nothing is left to write.
  EXPECT_EQ(decoder.restore_whole(zlib_stream(Bytes()), {}, {}).status, Status::kOk);
  EXPECT_EQ(deflate_restore_reference(zlib_stream(Bytes()), {}, {}).status, Status::kOk);
}

TEST(DeflateRestore, NothingBehindTheEndIsTaken) {
  std::mt19937 random(5);
  for (const Bytes& stream : small_streams()) {
    const Bytes more = stream + random_bytes(40, 8);
    DeflateDecoder decoder({});
    const Outcome outcome = restored_in_pieces(decoder, more, kRoom, random);
    EXPECT_EQ(outcome.restored.status, Status::kOk);
    EXPECT_EQ(outcome.restored.input_bytes, stream.size());
  }
}

Bytes by_isal(Bytes content, int level) {
  std::vector<std::uint8_t> working(ISAL_DEF_LVL3_DEFAULT);
  isal_zstream stream;
  isal_deflate_stateless_init(&stream);
  stream.level = static_cast<std::uint32_t>(level);
  stream.level_buf = working.data();
  stream.level_buf_size = static_cast<std::uint32_t>(working.size());
  Bytes data(content.size() + content.size() / 8 + 1000);
  stream.next_in = reinterpret_cast<std::uint8_t*>(content.data());
  stream.avail_in = static_cast<std::uint32_t>(content.size());
  stream.next_out = reinterpret_cast<std::uint8_t*>(data.data());
  stream.avail_out = static_cast<std::uint32_t>(data.size());
  stream.end_of_stream = 1;
  EXPECT_EQ(isal_deflate_stateless(&stream), COMP_OK);
  data.resize(stream.total_out);
  return data;
}

// Restores with the engine of a backend, in pieces as the pipeline does.
void require_restored(const Bytes& stream, const Bytes& content, std::string_view backend) {
  const auto engine = BackendRegistry::instance().find_usable(backend).make_engine({});
  const auto decoder = engine->make_stream_decoder(Format::kGzip, {}, {}, {});
  ASSERT_TRUE(decoder);
  Bytes room(std::size_t{256} << 10);
  std::span<const std::byte> in = stream, expected = content;
  for (bool ended = false; !ended;) {
    const auto piece = in.first(std::min<std::size_t>(in.size(), 100'000));
    const StreamStep step = decoder->restore(piece, room);
    ASSERT_EQ(step.status, Status::kOk) << step.detail;
    ASSERT_LE(step.output_bytes, expected.size());
    ASSERT_TRUE(
        std::ranges::equal(std::span(room).first(step.output_bytes), expected.first(step.output_bytes)));
    in = in.subspan(step.input_bytes);
    expected = expected.subspan(step.output_bytes);
    ended = step.ended;
    ASSERT_TRUE(ended || step.input_bytes + step.output_bytes != 0);
  }
  EXPECT_TRUE(in.empty());
  EXPECT_TRUE(expected.empty());
}

void require_restored_of_every_writer(const Bytes& content, std::string_view backend) {
  for (const int level : {0, 1, 4, 6, 9}) require_restored(zlib_stream(content, level), content, backend);
  for (const int strategy : {Z_FILTERED, Z_HUFFMAN_ONLY, Z_RLE, Z_FIXED})
    require_restored(zlib_stream(content, 6, strategy), content, backend);
  for (const int level : {1, 6, 9, 12}) require_restored(libdeflate_stream(content, level), content, backend);
  for (const int level : {0, 1, 2, 3}) require_restored(by_isal(content, level), content, backend);
}

TEST(DeflateRestore, EveryWritersStreamsAreRestored) {
  for (const char* backend : {"cpu", "reference"})
    for (const std::size_t bytes : {0u, 1u, 2u, 258u, 259u, 32'768u, 65'536u, 300'000u})
      for (const Shape& shape : shapes_of(bytes)) {
        SCOPED_TRACE(shape.name);
        if (bytes > 70'000 && backend == std::string_view("reference")) continue;  // the reference is slow
        require_restored_of_every_writer(shape.bytes, backend);
      }
}

TEST(DeflateRestore, RealFilesAreRestored) {
  const auto folder = corpora();
  if (!folder) GTEST_SKIP() << "HEMSTITCH_CORPORA is not set";
  for (const auto& entry : std::filesystem::directory_iterator(*folder / "silesia")) {
    SCOPED_TRACE(entry.path());
    const Bytes content = read_file(entry.path(), 1'000'000);
    require_restored_of_every_writer(content, "cpu");
  }
}

}  // namespace
}  // namespace hemstitch::testing
