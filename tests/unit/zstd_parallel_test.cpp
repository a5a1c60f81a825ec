// One frame of Zstandard by several threads beside the reference restorer: the same content, verdict, place and
// message.
#include <gtest/gtest.h>

#include <cstdlib>
#include <deque>
#include <memory>
#include <random>
#include <string>

#include "format/zstd/stream/zstd_parallel_decoder.hpp"
#include "threads.hpp"
#include "tried_one_of.hpp"
#include "valid_data/valid_data.hpp"
#include "zstd_block_by_block.hpp"
#include "zstd_frames.hpp"

namespace hemstitch::testing {
namespace {

// Other threads begin at once, and work on one block each.
ZstdParallelLimits tiny_limits(unsigned threads) {
  ZstdParallelLimits limits;
  limits.threads = threads;
  limits.groups = threads + 1;
  limits.group_bytes = limits.group_blocks = 1;
  limits.begin_groups = 0;
  limits.lent_bytes = 100;
  return limits;
}

ZstdRead read_by_threads(std::span<const std::byte> data, const ZstdParallelLimits& limits,
                         std::size_t piece_bytes = 1 << 14, std::uint64_t* decoded_elsewhere = nullptr,
                         std::span<const std::byte> dictionary = {}) {
  std::unique_ptr<ZstdParallelDecoder> decoder;
  ZstdRead read = read_in_pieces(
      data, dictionary, piece_bytes, [&](std::uint64_t window_bytes, const ZstdDictionary& before) {
        decoder = std::make_unique<ZstdParallelDecoder>(window_bytes, limits, before);
        if (limits.loans != 0) decoder->lend_content();
        return decoder.get();
      });
  if (decoder && decoded_elsewhere != nullptr) *decoded_elsewhere = decoder->decoded_elsewhere();
  return read;
}

void expect_equal(const ZstdRead& ours, const ZstdRead& expected) {
  SCOPED_TRACE(ours.why + " | " + expected.why);
  ASSERT_EQ(ours.outcome, expected.outcome);
  // Said by whoever counts the content, when it is passed on: perhaps before damage behind it is reached.
  if (ours.why == "content size" || expected.why == "content size") return;
  ASSERT_EQ(ours.why, expected.why);
  ASSERT_EQ(ours.content.size(), expected.content.size());
  ASSERT_TRUE(ours.content == expected.content);
  ASSERT_EQ(ours.used_bytes, expected.used_bytes);
}

Bytes mixed(std::size_t bytes) {
  Bytes content = wordy_bytes(bytes / 2);
  const Bytes noise = random_bytes(bytes / 4, 3, 40), run = periodic_bytes(bytes / 8, 1),
              short_period = periodic_bytes(bytes / 16, 7), again = wordy_bytes(bytes / 8);
  for (const Bytes* part : {&noise, &run, &short_period, &again})
    content.insert(content.end(), part->begin(), part->end());
  return content;
}

TEST_WITH_THREADS(ZstdParallel, LevelsThreadsAndPieces) {
  const Bytes content = mixed(400'000);
  for (const int level : {-5, 3, 19}) {
    const Bytes frame = written_by_libzstd(content, {.level = level});
    for (const unsigned threads : {1, 2, 8})
      for (const std::size_t piece_bytes : {1'000, 10'000'000})
        for (const unsigned loans : {0, 3}) {
          SCOPED_TRACE(std::to_string(level) + " " + std::to_string(threads) + " " +
                       std::to_string(piece_bytes));
          ZstdParallelLimits limits = tiny_limits(threads);
          limits.loans = loans;
          const ZstdRead read = read_by_threads(frame, limits, piece_bytes);
          ASSERT_EQ(read.outcome, ZstdOutcome::kWhole) << read.why;
          ASSERT_TRUE(read.content == content);
          ASSERT_EQ(read.used_bytes, frame.size());
        }
  }
}

TEST_WITH_THREADS(ZstdParallel, OtherThreadsDecode) {
  const Bytes content = mixed(3'000'000), frame = written_by_libzstd(content);
  for (const ZstdParallelLimits& limits : {tiny_limits(8), ZstdParallelLimits{.threads = 8}}) {
    std::uint64_t decoded_elsewhere = 0;
    const ZstdRead read = read_by_threads(frame, limits, 1 << 20, &decoded_elsewhere);
    EXPECT_TRUE(read.content == content);
    EXPECT_GT(decoded_elsewhere, 0U);
  }
}

TEST_WITH_THREADS(ZstdParallel, WindowsAndFramesWithoutSize) {
  const Bytes content = mixed(400'000);
  for (const int window_log : {10, 17, 27})
    for (const bool content_size : {false, true}) {
      SCOPED_TRACE(window_log);
      const Bytes frame = written_by_libzstd(
          content,
          {.level = 5, .window_log = window_log, .checksum = content_size, .content_size = content_size});
      const ZstdRead expected = read_by_reference(frame);
      for (const unsigned threads : {1, 2, 8}) {
        ZstdParallelLimits limits = tiny_limits(threads);
        expect_equal(read_by_threads(frame, limits), expected);
        limits.loans = 2;
        expect_equal(read_by_threads(frame, limits), expected);
      }
    }
}

// Content stays where it was lent as long as it is kept, also if one piece is kept longer than others.
TEST_WITH_THREADS(ZstdParallel, LentContentStays) {
  const Bytes content = mixed(4'000'000);
  for (const int window_log : {12, 18}) {
    const Bytes frame = written_by_libzstd(content, {.window_log = window_log, .checksum = false});
    const std::size_t header_bytes = 4 + zstd_header_rest_bytes(frame[4]);
    const auto header = read_zstd_header(std::span(frame).subspan(4, header_bytes - 4));
    ZstdParallelLimits limits = tiny_limits(2);
    limits.loans = 2;
    ZstdParallelDecoder decoder(header->window_bytes, limits);
    decoder.lend_content();
    struct Kept {
      std::size_t at;
      std::span<const std::byte> bytes;
      std::shared_ptr<const std::byte> owner;
    };
    std::vector<Kept> kept;
    std::span<const std::byte> input = std::span(frame).subspan(header_bytes);
    Bytes room(1 << 16);
    std::size_t at = 0, lent_bytes = 0, loans = 0;
    for (StreamStep step; !step.ended;) {
      step = decoder.restore(input, room);
      ASSERT_EQ(step.status, Status::kOk);
      input = input.subspan(step.input_bytes);
      lent_bytes += step.lent.size();
      if (!step.lent.empty() && loans++ % 10 == 0) kept.push_back({at, step.lent, step.owner});
      at += step.output_bytes;
    }
    EXPECT_EQ(at, content.size());
    EXPECT_GT(lent_bytes, content.size() / 2);
    for (const Kept& one : kept)
      ASSERT_TRUE(std::equal(one.bytes.begin(), one.bytes.end(),
                             content.begin() + static_cast<std::ptrdiff_t>(one.at)));
  }
}

// A match may reach back as far as the window, and no farther.
TEST(ZstdParallel, TheWindowEnds) {
  const Bytes window = random_bytes(1024);
  for (const std::uint32_t offset : {1023, 1024, 1025, 2000}) {
    const std::vector<ZstdSequence> sequences{{0, 5, offset + 3}};
    HandMadeFrame frame(1024);
    frame.raw(window).raw(window);
    const Bytes whole = frame.compressed(joined({plain_literals({}, 1), sequences_section(sequences)})).end();
    const ZstdRead expected = read_by_reference(whole);
    EXPECT_EQ(expected.outcome == ZstdOutcome::kWhole, offset <= 1024);
    expect_equal(read_by_threads(whole, tiny_limits(2)), expected);
  }
}

TEST_WITH_THREADS(ZstdParallel, RawRleEmptyBlocksAndRepeatedTables) {
  const Bytes raw = random_bytes(1000), ten = random_bytes(10);
  std::vector<Bytes> frames;
  frames.push_back(HandMadeFrame().raw({}).raw(raw).raw({}).rle(7, 131072).rle(9, 0).raw({}).end());
  frames.push_back(HandMadeFrame().raw(raw).compressed({}).raw(raw).end());  // damaged
  HandMadeFrame many;
  for (int i = 0; i < 5'000; ++i) many.raw({});
  frames.push_back(many.end());
  const std::vector<ZstdSequence> sequences{{2, 3, 2 + 3}, {2, 3, 4 + 3}, {2, 3, 3 + 3}};
  const Bytes block = joined({plain_literals(ten, 1), sequences_section(sequences, {2, 2, 0})});
  const Bytes literals = joined({coded_literals(1000, 3, true, false), numbers({0})}),
              treeless = joined({coded_literals(1000, 3, true, true), numbers({0})});
  frames.push_back(HandMadeFrame()
                       .compressed(block)
                       .rle(1, 5)
                       .compressed(block)
                       .compressed(literals)
                       .raw(raw)
                       .compressed(treeless)
                       .end());
  frames.push_back(HandMadeFrame().raw(raw).compressed(treeless).end());  // there was no table
  for (const Bytes& frame : frames)
    for (const unsigned threads : {1, 2, 8})
      for (const std::size_t piece_bytes : {1, 500, 1 << 20}) {
        SCOPED_TRACE(piece_bytes);
        const ZstdRead expected = read_by_reference(frame, {}, piece_bytes);
        expect_equal(read_by_threads(frame, tiny_limits(threads), piece_bytes), expected);
        expect_equal(read_by_threads(frame, {.threads = threads}, piece_bytes), expected);
      }
}

// Offsets that repeat those of earlier blocks, in all ways, with many blocks in a row.
TEST_WITH_THREADS(ZstdParallel, RepeatOffsetsGoFromBlockToBlock) {
  const Bytes literals = random_bytes(64);
  std::mt19937 random(3);
  for (int round = 0; round < 300; ++round) {
    HandMadeFrame frame;
    frame.raw(random_bytes(200));
    for (int block = 0; block < 12; ++block) {
      std::vector<ZstdSequence> sequences;
      for (unsigned long count = 1 + random() % 4; count > 0; --count)
        sequences.push_back({static_cast<std::uint32_t>(random() % 3),
                             3 + static_cast<std::uint32_t>(random() % 40),
                             random() % 4 != 0 ? 1 + static_cast<std::uint32_t>(random() % 3)
                                               : 4 + static_cast<std::uint32_t>(random() % 100)});
      frame.compressed(joined({plain_literals(literals, 2), sequences_section(sequences)}));
    }
    const Bytes bytes = frame.end();
    SCOPED_TRACE(round);
    expect_equal(read_by_threads(bytes, tiny_limits(round % 2 == 0 ? 2 : 1)), read_by_reference(bytes));
    if (HasFatalFailure()) return;
  }
}

TEST(ZstdParallel, CutAtEachByteAndDamagedInEachByte) {
  const std::vector<Bytes> frames{
      written_by_libzstd(wordy_bytes(1500), {.level = 19, .content_size = false}),
      written_by_libzstd(mixed(5000), {.level = 1, .window_log = 10, .checksum = false}),
      written_by_libzstd(random_bytes(900, 1, 30),
                         {.window_log = 10, .checksum = false, .content_size = false}),
  };
  for (const Bytes& frame : frames)
    for (std::size_t i = 0; i < frame.size(); i += kTriedOneOf) {
      SCOPED_TRACE(i);
      const auto cut = std::span(frame).first(i);
      expect_equal(read_by_threads(cut, tiny_limits(1)), read_by_reference(cut));
      for (const unsigned bits : {1U << i % 8, 0x5AU}) {
        Bytes damaged = frame;
        damaged[i] ^= static_cast<std::byte>(bits);
        expect_equal(read_by_threads(damaged, tiny_limits(1)), read_by_reference(damaged));
        if (HasFatalFailure()) return;
      }
    }
}

TEST_WITH_THREADS(ZstdParallel, FramesThatNoEncoderWrites) {
  for (unsigned seed = 0; seed < 1000; ++seed) {
    const ValidData made = valid_zstd_frame(seed, seed % 25 == 0 ? 300'000 : 5000);
    SCOPED_TRACE(seed);
    const ZstdRead expected = read_by_reference(made.data, made.dictionary);
    ASSERT_TRUE(expected.content == made.content);
    expect_equal(
        read_by_threads(made.data, tiny_limits(1 + seed % 3), 1 + seed % 3000, nullptr, made.dictionary),
        expected);
    expect_equal(read_by_threads(made.data, {.threads = 8, .loans = 2, .begin_groups = 0}, 1 << 14, nullptr,
                                 made.dictionary),
                 expected);
    if (HasFatalFailure()) return;
  }
}

// 6000, or as many as HEMSTITCH_MUTATED_STREAMS says.
TEST(ZstdParallel, RandomMutations) {
  const char* const asked = std::getenv("HEMSTITCH_MUTATED_STREAMS");
  const unsigned long rounds = asked != nullptr ? std::strtoul(asked, nullptr, 10) : 6000 / kTriedOneOf;
  std::mt19937 random(11);
  struct Frame {
    Bytes data, dictionary;
  };
  std::vector<Frame> frames;
  for (const int level : {-3, 1, 4, 12, 19})
    for (const std::size_t bytes : {900, 9000})
      for (const Bytes& dictionary : {Bytes(), wordy_bytes(700), trained_dictionary()})
        frames.push_back({written_by_libzstd(mixed(bytes), {.level = level,
                                                            .window_log = level == 4 ? 10 : 0,
                                                            .checksum = false,
                                                            .content_size = level > 4,
                                                            .dictionary = dictionary}),
                          dictionary});
  for (std::uint64_t seed = 0; seed < 60; ++seed) {
    ValidData made = valid_zstd_frame(seed, 4000);
    frames.push_back({std::move(made.data), std::move(made.dictionary)});
  }
  for (unsigned long round = 0; round < rounds; ++round) {
    auto [frame, dictionary] = frames[random() % frames.size()];
    for (unsigned long count = 1 + random() % 3; count > 0; --count)
      frame[random() % frame.size()] = static_cast<std::byte>(random());
    SCOPED_TRACE(round);
    expect_equal(read_by_threads(frame, tiny_limits(1), 1 << 14, nullptr, dictionary),
                 read_by_reference(frame, dictionary));
    if (HasFatalFailure()) return;
  }
}

// Content alone and trained, smaller and larger than windows; frames that forget it, and damaged ones.
TEST_WITH_THREADS(ZstdParallel, Dictionaries) {
  const Bytes content = mixed(150'000), trained = trained_dictionary(20'000);
  std::mt19937 random(5);
  for (const Bytes& dictionary : {wordy_bytes(3), wordy_bytes(5'000), mixed(200'000), trained})
    for (const int window_log : {0, 12, 17})
      for (const int level : {1, 19}) {
        SCOPED_TRACE(std::to_string(dictionary.size()) + " " + std::to_string(window_log));
        Bytes frame =
            written_by_libzstd(content, {.level = level, .window_log = window_log, .dictionary = dictionary});
        for (int round = 0; round < 2; ++round) {
          const ZstdRead expected = read_by_reference(frame, dictionary);
          EXPECT_TRUE(round > 0 || expected.content == content);
          for (const unsigned threads : {1, 3}) {
            ZstdParallelLimits limits = tiny_limits(threads);
            limits.loans = round == 1 ? 2 : 0;
            expect_equal(read_by_threads(frame, limits, 1 << 12, nullptr, dictionary), expected);
          }
          expect_equal(read_by_threads(frame, {.threads = 4}, 1 << 20, nullptr, dictionary), expected);
          expect_equal(read_by_threads(frame, tiny_limits(2)), read_by_reference(frame));
          if (HasFatalFailure()) return;
          frame[20 + random() % (frame.size() - 20)] ^= std::byte{8};
        }
      }
}

// A dictionary is before the content until there is more of that than the window has.
TEST(ZstdParallel, TheDictionaryIsReachedWithinTheWindow) {
  const Bytes dictionary = random_bytes(3000, 5);
  for (const std::size_t before : {0, 1000, 1019, 1020, 1024, 1025, 2048})
    for (const std::size_t offset : {before, before + 1, before + 2999, before + 3000, before + 3001}) {
      SCOPED_TRACE(std::to_string(before) + " " + std::to_string(offset));
      if (offset == 0) continue;
      HandMadeFrame frame(1024);
      const Bytes content = random_bytes(before);
      frame.raw(std::span(content).first(before / 2)).raw(std::span(content).subspan(before / 2));
      // The second match follows on the first one, which may reach from the dictionary into the content.
      const std::vector<ZstdSequence> sequences{{0, 5, static_cast<std::uint32_t>(offset + 3)},
                                                {0, 300, static_cast<std::uint32_t>(offset + 5 + 3)}};
      const Bytes whole = frame.compressed(joined({plain_literals({}, 1), sequences_section(sequences)}))
                              .raw(content)
                              .raw(content)
                              .end();
      const ZstdRead expected = read_by_reference(whole, dictionary);
      expect_equal(read_by_threads(whole, tiny_limits(2), 1 << 14, nullptr, dictionary), expected);
    }
}

// Damage far inside, with the window full and content behind it.
TEST_WITH_THREADS(ZstdParallel, DamageInLargeFrames) {
  const Bytes content = mixed(400'000);
  std::mt19937 random(7);
  for (const int window_log : {0, 14, 18}) {
    const Bytes frame = written_by_libzstd(content, {.window_log = window_log});
    for (int round = 0; round < 4; ++round) {
      Bytes damaged = frame;
      damaged[20 + random() % (damaged.size() - 20)] ^= static_cast<std::byte>(1U << random() % 8);
      SCOPED_TRACE(round);
      const ZstdRead expected = read_by_reference(damaged);
      expect_equal(read_by_threads(damaged, tiny_limits(2)), expected);
      expect_equal(read_by_threads(damaged, {.threads = 8, .loans = 2, .begin_groups = 1}, 1 << 20),
                   expected);
      if (HasFatalFailure()) return;
    }
  }
}

// From a pipe: what has come is restored, as far as blocks are whole, though more will come.
TEST_WITH_THREADS(ZstdParallel, BlocksThatHaveComeAreNotHeldBack) {
  const Bytes content = mixed(3'000'000), frame = written_by_libzstd(content, {.content_size = false});
  const std::size_t header_bytes = 4 + zstd_header_rest_bytes(frame[4]);
  const auto header = read_zstd_header(std::span(frame).subspan(4, header_bytes - 4));
  ZstdParallelDecoder decoder(header->window_bytes, {.threads = 2});
  expect_block_by_block(decoder, frame, content);
}

TEST(ZstdParallel, LimitsFitTheMemory) {
  const std::uint64_t window = 2 << 20, mb = 1 << 20;
  EXPECT_EQ(zstd_parallel_limits({.threads = 8, .input_bytes = 1000}, window, {}).threads, 1U);
  EXPECT_EQ(zstd_parallel_limits({.threads = 8}, window, 100'000).threads, 1U);
  const ZstdParallelLimits all = zstd_parallel_limits({.threads = 8, .loans = 4}, window, {});
  EXPECT_EQ(all.threads, 8U);
  EXPECT_LE(all.memory_bytes(window), window + 8 * 8 * mb);
  const ZstdParallelLimits some = zstd_parallel_limits({.threads = 8, .memory_bytes = 16 * mb}, window, {});
  EXPECT_LT(some.threads, 8U);
  EXPECT_LE(some.memory_bytes(window), 16 * mb);
  // Damage would take a large window twice.
  EXPECT_EQ(zstd_parallel_limits({.threads = 8, .memory_bytes = 200 * mb}, 128 * mb, {}).threads, 1U);
  EXPECT_EQ(zstd_parallel_limits({.threads = 8, .memory_bytes = 300 * mb}, 128 * mb, {}).threads, 8U);
  EXPECT_EQ(zstd_parallel_limits({.threads = 8, .memory_bytes = 300 * mb, .dictionary_bytes = 60 * mb},
                                 128 * mb, {})
                .threads,
            1U);
}

}  // namespace
}  // namespace hemstitch::testing
