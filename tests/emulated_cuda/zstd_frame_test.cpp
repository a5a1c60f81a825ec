// One frame of Zstandard of many blocks, restored by kernels on the processor, and compared with the reference restorer.
#include <cuda_runtime.h>
#include <gtest/gtest.h>

#include <random>
#include <string>

#include "format/zstd/stream/zstd_frame_stages.cuh"
#include "valid_data/valid_data.hpp"
#include "zstd_device_reads.hpp"
#include "zstd_frame_kernels.hpp"
#include "zstd_kernel_pieces.hpp"

namespace hemstitch {
namespace {

using namespace testing;

std::size_t blocks_of(std::span<const std::byte> frame) {
  return find_zstd_blocks(frame.subspan(4 + zstd_header_rest_bytes(frame[4])), ~std::size_t{0}).at.size();
}

// Outcome, content, place and message are the reference's.
ReadByZstdFrameKernels expect_by_reference(std::span<const std::byte> frame, const ZstdPieces& pieces = {}) {
  const ZstdRead expected = read_by_reference(frame);
  const ReadByZstdFrameKernels restored = read_by_zstd_frame_kernels(frame, pieces);
  SCOPED_TRACE(restored.read.why + " | " + expected.why);
  EXPECT_EQ(restored.read.outcome, expected.outcome);
  // Said by whoever counts the content: perhaps before damage behind it is reached.
  if (restored.read.why == "content size" || expected.why == "content size") return restored;
  EXPECT_EQ(restored.read.why, expected.why);
  EXPECT_EQ(restored.read.used_bytes, expected.used_bytes);
  EXPECT_TRUE(restored.read.content == expected.content);
  return restored;
}
// All of it by the kernels.
void expect_restored(std::span<const std::byte> frame, const ZstdPieces& pieces = {}) {
  const ReadByZstdFrameKernels restored = expect_by_reference(frame, pieces);
  EXPECT_EQ(restored.read.outcome, ZstdOutcome::kWhole);
  EXPECT_EQ(restored.blocks, blocks_of(frame));
}

Bytes content_of_every_kind(std::size_t size) {
  // Noise gives raw blocks.
  return joined({wordy_bytes(size / 4), random_bytes(size / 8, 3, 40), equal_bytes(size / 8),
                 runs_bytes(size / 8, 5), random_bytes(size / 8, 9), wordy_bytes(size / 4, 2)});
}

TEST(EmulatedZstdFrame, LevelsAndWindows) {
  const Bytes content = content_of_every_kind(kTriedOneOf == 1 ? 300'000 : 150'000);
  for (const int level : {1, 3, 19})
    for (const int window_log : {0, 10, 14, 17})
      if (kTriedOneOf == 1 || (level == 3) == (window_log == 14)) {
        SCOPED_TRACE(std::to_string(level) + " " + std::to_string(window_log));
        expect_restored(written_by_libzstd(content, {.level = level, .window_log = window_log}),
                        {.against = window_log == 14 ? Against::kLowerGuard : Against::kUpperGuard});
      }
}

// Tables, repeat offsets and content come from earlier pieces; and a piece may have room for fewer blocks than it is given.
TEST(EmulatedZstdFrame, Pieces) {
  const Bytes content = content_of_every_kind(kTriedOneOf == 1 ? 20'000 : 10'000);
  for (const int level : {3, 19}) {
    const Bytes frame = written_by_libzstd(content, {.level = level, .window_log = 10});
    const std::size_t blocks = blocks_of(frame);
    EXPECT_GE(blocks, 9);
    for (const ZstdPieces& pieces :
         {ZstdPieces{.blocks = 1, .capacity = 1024}, ZstdPieces{.blocks = 3, .capacity = 1 << 16},
          ZstdPieces{.capacity = 1024}, ZstdPieces{.capacity = 3500},
          ZstdPieces{.blocks = 4, .capacity = 3000}}) {
      SCOPED_TRACE(std::to_string(level) + " " + std::to_string(pieces.blocks) + " " +
                   std::to_string(pieces.capacity));
      expect_restored(frame, pieces);
    }
    EXPECT_EQ(read_by_zstd_frame_kernels(frame, {.blocks = 1, .capacity = 1024}).pieces, blocks);
  }
}

TEST(EmulatedZstdFrame, FramesThatNoEncoderWrites) {
  std::size_t blocks = 0, by_kernels = 0;
  for (std::uint64_t seed = 0; seed < 200; seed += kTriedOneOf) {
    SCOPED_TRACE(seed);
    const bool is_large = seed % 70 == 0;
    const Bytes frame = valid_zstd_frame(seed, is_large ? 200'000 : 4000).data;
    const ZstdPieces pieces{.blocks = seed % 3 == 0 ? 1 + seed / 3 % 5 : 1000,
                            .capacity = is_large ? std::size_t{1} << 18 : 5000};
    const ReadByZstdFrameKernels restored = expect_by_reference(frame, pieces);
    blocks += blocks_of(frame);
    by_kernels += restored.blocks;
  }
  // Codes of 12 bits are left, and what is behind them. Where few frames are tried, one large one may be a third of them.
  EXPECT_GT(10 * by_kernels, (kTriedOneOf == 1 ? 8 : 5) * blocks) << by_kernels << " of " << blocks;
}

// Each match repeats the block before: the longest chains that blocks allow. Once from the piece before.
TEST(EmulatedZstdFrame, MatchesOfExactlyOneBlock) {
  constexpr std::uint32_t kBytes = 30;
  HandMadeFrame frame(1024);
  frame.raw(random_bytes(kBytes));
  const ZstdSequence match{.literals = 0, .match = kBytes, .offset_value = kBytes + kZstdRepeatCount};
  const Bytes block = joined({plain_literals({}, 1), sequences_section(std::span(&match, 1))});
  for (int i = 0; i < 600; ++i) frame.compressed(block);
  const Bytes whole = frame.end();
  expect_restored(whole, {.capacity = 20'000});
  expect_restored(whole, {.blocks = 290, .capacity = 9000});
}

// "Repeat 1 minus 1", exchanged offsets, and blocks between that leave them as they are.
TEST(EmulatedZstdFrame, RepeatOffsetsAcrossBlocks) {
  std::mt19937 engine(5);
  const auto random = [&](std::uint32_t count) { return static_cast<std::uint32_t>(engine() % count); };
  std::size_t by_kernels = 0;
  for (int round = 0; round < 3; ++round) {
    HandMadeFrame frame(1 << 16);
    frame.raw(random_bytes(2000, static_cast<std::uint32_t>(round)));
    for (int i = 0; i < 300; ++i) {
      std::vector<ZstdSequence> sequences;
      std::size_t literals = 0;
      for (std::uint32_t count = random(40); count > 0; --count) {
        const std::uint32_t value = i == 0 || random(4) == 0 ? 100 + random(1000) : 1 + random(3);
        sequences.push_back(
            {.literals = random(2) * random(5), .match = 3 + random(20), .offset_value = value});
        literals += sequences.back().literals;
      }
      if (sequences.empty())
        frame.rle(7, 5);
      else
        frame.compressed(
            joined({plain_literals(random_bytes(literals + 3), 2), sequences_section(sequences)}));
    }
    const Bytes whole = frame.end();
    // "Repeat 1 minus 1" may come to 0: damage, where the reference says so.
    by_kernels += expect_by_reference(whole, {.capacity = 1 << 17}).blocks;
    expect_by_reference(whole, {.blocks = 11, .capacity = 20'000});
  }
  EXPECT_GT(by_kernels, 600);
}

// A block of 43,690 sequences takes more scratch memory than its content gives: a piece ends before the next one.
TEST(EmulatedZstdFrame, ShortSequencesEndAPiece) {
  const Bytes literals = random_bytes(3);
  std::vector<ZstdSequence> sequences(1, {.literals = 3, .match = 3, .offset_value = 1 + kZstdRepeatCount});
  sequences.resize((kZstdMostBlockBytes - 6) / 3,
                   {.literals = 0, .match = 3, .offset_value = 3 + kZstdRepeatCount});
  const Bytes block = joined({plain_literals(literals, 1), sequences_section(sequences)});
  HandMadeFrame frame(1 << 18);
  for (int i = 0; i < 3; ++i) frame.compressed(block);
  const Bytes whole = frame.end();
  const ReadByZstdFrameKernels restored = expect_by_reference(whole, {.capacity = 2 * kZstdMostBlockBytes});
  EXPECT_EQ(restored.blocks, 3);
  EXPECT_EQ(restored.pieces, 3);
}

// A difference that a name cannot say is no offset, and not one from another slot.
TEST(EmulatedZstdFrame, NamesOverManyBlocks) {
  using cuda::ZstdPlaced;
  constexpr std::uint32_t kLess = 20'000'000;
  const cuda::ZstdDeviceRepeats names = cuda::zstd_same_repeats();
  const ZstdPlaced some{100, {names.first + kLess, names.first, names.second}};
  const ZstdPlaced twice = some.then(some);
  EXPECT_EQ(twice.bytes, 200);
  EXPECT_EQ(twice.repeats.first, 0);
  EXPECT_EQ(twice.repeats.second, names.first + kLess);
  EXPECT_EQ(twice.repeats.third, names.first);
  const ZstdPlaced known{0, {60'000'000, 4, 8}};
  EXPECT_EQ(known.then(some).then(some).repeats.first, 60'000'000 - 2 * kLess);
  EXPECT_EQ(known.then(twice).repeats.first, 0);
}

// Whatever byte is wrong: what the kernels say is right is right, and the reference finds the rest as it would by itself.
TEST(EmulatedZstdFrame, DamageInEachByte) {
  const Bytes content = joined({wordy_bytes(700), runs_bytes(900, 1), wordy_bytes(600, 3)});
  const Bytes frame = written_by_libzstd(content, {.level = 19, .window_log = 10, .checksum = false});
  ASSERT_GE(blocks_of(frame), 3);
  std::size_t by_kernels = 0;
  for (std::size_t at = 4; at < frame.size(); at += kTriedOneOf) {
    SCOPED_TRACE(at);
    Bytes damaged = frame;
    damaged[at] ^= std::byte{1} << at % 8;
    by_kernels += expect_by_reference(damaged, {.blocks = at % 8 == 0 ? 2u : 1000u, .capacity = 3072}).blocks;
    if (HasFailure()) return;
  }
  EXPECT_GT(by_kernels, frame.size() / kTriedOneOf / 2);
}

TEST(EmulatedZstdFrame, DamagedFramesThatNoEncoderWrites) {
  std::mt19937 random(2);
  for (std::uint64_t seed = 0; seed < 200; seed += kTriedOneOf) {
    SCOPED_TRACE(seed);
    Bytes frame = valid_zstd_frame(seed, 3000).data;
    for (auto changes = 1 + random() % 3; changes > 0; --changes)
      frame[random() % frame.size()] ^= std::byte{1} << random() % 8;
    if (random() % 8 == 0) frame.resize(random() % (frame.size() + 1));
    expect_by_reference(frame, {.blocks = random() % 2 == 0 ? 3u : 1000u, .capacity = 4000});
    if (HasFailure()) return;
  }
}

// ---- Through the decoder of streams (zstd_device_decoder.hpp) ----

std::unique_ptr<ZstdPieceDevice> kernel_pieces(std::uint64_t window_bytes, const ZstdDeviceLimits& limits) {
  return std::make_unique<ZstdKernelPieces>(window_bytes, limits);
}

TEST(EmulatedZstdFrame, AsAStream) {
  const Bytes content = content_of_every_kind(kTriedOneOf == 1 ? 60'000 : 12'000);
  for (const int window_log : {10, 13})
    for (const PieceSize size : kPieceSizes) {
      const Bytes frame = written_by_libzstd(content, {.level = 5, .window_log = window_log});
      const ReadByDevice result =
          require_by_reference(frame, {.size = size, .settles = size == PieceSize::kSome}, kernel_pieces);
      EXPECT_EQ(result.device_bytes, content.size());
    }
}

// Where a piece has room for fewer blocks than it has, what was decoded of the one behind counts for nothing, and neither do the tables that both carried on.
TEST(EmulatedZstdFrame, AsAStreamWhosePiecesHaveTooManyBlocks) {
  const auto small_rooms = [](std::uint64_t window_bytes, const ZstdDeviceLimits& limits) {
    ZstdDeviceLimits less = limits;
    less.content_bytes = 1'500;  // most blocks have less
    return kernel_pieces(window_bytes, less);
  };
  std::uint64_t device_bytes = 0;
  for (std::uint64_t seed = 0; seed < 40; seed += kTriedOneOf) {
    SCOPED_TRACE(seed);
    const ValidData made = valid_zstd_frame(seed, 12'000);
    if (!made.dictionary.empty()) continue;
    device_bytes +=
        require_by_reference(made.data, {.size = PieceSize::kMany, .piece_bytes = 100'000}, small_rooms)
            .device_bytes;
    if (HasFailure()) return;
  }
  // Of 158'523: larger blocks are the processor's, and all behind them. With wrong tables the device is in doubt earlier.
  EXPECT_GT(device_bytes, kTriedOneOf == 1 ? 20'000 : 0);
}

TEST(EmulatedZstdFrame, AsAStreamThatIsDamaged) {
  std::mt19937 random(6);
  std::uint64_t device_bytes = 0;
  for (std::uint64_t seed = 0; seed < 24; seed += kTriedOneOf) {
    SCOPED_TRACE(seed);
    const ValidData made = valid_zstd_frame(seed, 3000);
    if (!made.dictionary.empty()) continue;
    Bytes frame = made.data;
    if (seed % 2 == 0) frame[random() % frame.size()] ^= std::byte{1} << random() % 8;
    device_bytes +=
        require_by_reference(frame, {.size = kPieceSizes[seed % 2], .piece_bytes = 500}, kernel_pieces)
            .device_bytes;
    if (HasFailure()) return;
  }
  EXPECT_GT(device_bytes, 0);
}

}  // namespace
}  // namespace hemstitch
