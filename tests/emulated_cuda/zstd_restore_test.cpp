// Zstandard's kernels on the processor, compared with the reference: what tests/device does on a device, for machines without
// one.
#include <cuda_runtime.h>
#include <gtest/gtest.h>

#include <random>
#include <utility>

#include "conformance_files.hpp"
#include "format/zstd/frame/zstd_frame_header.hpp"
#include "format/zstd/restore/zstd_restore_reference.hpp"
#include "valid_data/valid_data.hpp"
#include "zstd_frames.hpp"
#include "zstd_kernels.hpp"

namespace hemstitch {
namespace {

using namespace testing;

constexpr std::uint32_t kAny = ~0u;

// `left`: how many chunks the stages should leave to the last kernel.
void expect_by_reference(std::span<const KernelBlock> chunks, std::uint32_t left = kAny,
                         Against against = Against::kUpperGuard, ZstdRoom room = {}) {
  for (const bool sizes_alone : {false, true}) {
    std::uint32_t were_left = 0;
    const auto restored = restored_by_zstd_kernels(chunks, against, sizes_alone, &were_left, room);
    if (left != kAny) {
      EXPECT_EQ(were_left, left);
    }
    for (std::size_t i = 0; i < chunks.size(); ++i) {
      RestoredByKernel expected = restored_by_zstd_reference(chunks[i]);
      // Without outputs, checksums are not verified.
      if (sizes_alone && expected.status == HEMSTITCH_CONTENT_CHECKSUM_MISMATCH) continue;
      ASSERT_EQ(restored[i].status, expected.status) << i;
      ASSERT_EQ(restored[i].content.size(), expected.content.size()) << i;
      if (!sizes_alone) {
        ASSERT_TRUE(restored[i].content == expected.content) << i;
      }
    }
  }
}

Bytes mixed_bytes(std::size_t size) {
  Bytes content = wordy_bytes(size / 2);
  for (const Bytes& part : {random_bytes(size / 4, 3, 40), equal_bytes(size / 8), runs_bytes(size / 8, 5)})
    content.insert(content.end(), part.begin(), part.end());
  return content;
}

TEST(EmulatedZstdRestore, FramesOfEveryKind) {
  std::vector<Bytes> frames, contents;
  for (const Bytes& content :
       {Bytes(), equal_bytes(1), equal_bytes(3000), wordy_bytes(5000), wordy_bytes(40), runs_bytes(3000, 1),
        random_bytes(2500, 7, 240), random_bytes(2000, 3), random_bytes(700, 4, 3), mixed_bytes(9000)})
    for (const int level : {-5, 1, 3, 9, 19})
      for (const bool plain : {false, true}) {
        frames.push_back(
            written_by_libzstd(content, {.level = level, .checksum = !plain, .content_size = plain}));
        contents.push_back(content);
      }
  std::vector<KernelBlock> chunks;
  for (std::size_t i = 0; i < frames.size(); i += kTriedOneOf)
    chunks.push_back({frames[i], {}, contents[i].size()});
  expect_by_reference(chunks, 0);
  expect_by_reference(chunks, 0, Against::kLowerGuard);
}

// Tables and offsets that later blocks repeat, and windows that end before the content.
TEST(EmulatedZstdRestore, SeveralBlocks) {
  const Bytes content = mixed_bytes(kTriedOneOf == 1 ? 300'000 : 140'000);
  std::vector<Bytes> frames;
  for (const int level : {1, 3, 19})
    for (const int window_log : {0, 10, 14})
      if (kTriedOneOf == 1 || (level == 3) != (window_log == 14))
        frames.push_back(written_by_libzstd(content, {.level = level, .window_log = window_log}));
  std::vector<KernelBlock> chunks;
  for (const Bytes& frame : frames) chunks.push_back({frame, {}, content.size()});
  expect_by_reference(chunks, 0);
  expect_by_reference(std::span(chunks).last(chunks.size() / 2), 0, Against::kLowerGuard,
                      {.blocks_at_once = true});
}

TEST(EmulatedZstdRestore, FramesThatNoEncoderWrites) {
  std::vector<ValidData> made;
  for (std::uint64_t seed = 0; seed < 1000; seed += kTriedOneOf) made.push_back(valid_zstd_frame(seed, 3000));
  for (std::uint64_t seed = 0; seed < 8; seed += kTriedOneOf) made.push_back(valid_zstd_frame(seed, 140'000));
  std::vector<KernelBlock> chunks;
  for (const ValidData& one : made) chunks.push_back({one.data, {}, one.content.size()});
  expect_by_reference(chunks);
  expect_by_reference(std::span(chunks).first(std::min<std::size_t>(chunks.size(), 300)), kAny,
                      Against::kUpperGuard, {.blocks_at_once = true});
}

// Block by block only those with little content, since the memory for symbols is as large for each.
TEST(EmulatedZstdRestore, ConformanceFiles) {
  const std::vector<ConformanceFile> files = conformance_files("zstd");
  for (const bool blocks_at_once : {false, true}) {
    std::vector<KernelBlock> chunks;
    std::vector<const ConformanceFile*> of_chunk;
    for (std::size_t i = 0; i < files.size(); i += kTriedOneOf) {
      if (blocks_at_once && files[i].room > 2000) continue;
      chunks.push_back({files[i].data, {}, files[i].room});
      of_chunk.push_back(&files[i]);
    }
    ASSERT_FALSE(chunks.empty());
    const auto restored = restored_by_zstd_kernels(chunks, Against::kUpperGuard, false, nullptr,
                                                   {.blocks_at_once = blocks_at_once});
    for (std::size_t i = 0; i < chunks.size(); ++i) {
      const ConformanceFile& file = *of_chunk[i];
      SCOPED_TRACE(file.name);
      EXPECT_EQ(restored[i], restored_by_zstd_reference(chunks[i]));
      const bool is_whole = restored[i].status == HEMSTITCH_OK;
      if (file.verdict != "choice") {
        EXPECT_EQ(is_whole, file.verdict == "valid");
      }
      if (is_whole) {
        EXPECT_EQ(restored[i].content.size(), file.room);
      }
    }
  }
}

TEST(EmulatedZstdRestore, WhatIsLeftToTheLastKernel) {
  const Bytes text = wordy_bytes(3000), other = runs_bytes(900, 2);
  const Bytes first = written_by_libzstd(text, {}), second = written_by_libzstd(other, {});
  const auto joined = [](std::initializer_list<Bytes> parts) {
    Bytes whole;
    for (const Bytes& part : parts) whole.insert(whole.end(), part.begin(), part.end());
    return whole;
  };
  const auto bytes = [](std::initializer_list<unsigned> numbers) {
    Bytes made;
    for (const unsigned number : numbers) made.push_back(static_cast<std::byte>(number));
    return made;
  };
  const Bytes skippable = bytes({0x53, 0x2A, 0x4D, 0x18, 3, 0, 0, 0, 9, 9, 9});
  Bytes wrong_checksum = first, wrong_size = first, reserved = first;
  wrong_checksum.back() ^= std::byte{1};
  wrong_size[5] ^= std::byte{1};
  reserved[4] |= std::byte{8};
  const Bytes dictionary = wordy_bytes(3000, 9), trained = trained_dictionary();
  std::vector<Bytes> made;
  for (const Bytes& chunk :
       {joined({first, second}), joined({skippable, first, skippable}), skippable,
        joined({first, bytes({1, 2, 3, 4})}), joined({first, bytes({0x28, 0xB5})}),
        joined({first, bytes({0x28, 0xB5, 0x2F, 0xFD})}), Bytes(), bytes({0x28}),
        bytes({0x28, 0xB5, 0x2F, 0xFD}), bytes({1, 2, 3, 4, 5}), wrong_checksum, wrong_size, reserved,
        joined({first, wrong_checksum}), bytes({0x53, 0x2A, 0x4D, 0x18, 3, 0, 0}),
        bytes({0x53, 0x2A, 0x4D, 0x18, 3, 0, 0, 0, 1}), written_by_libzstd(text, {.dictionary = trained}),
        // A window of 2 GB and an eighth; one of 2 GB.
        bytes({0x28, 0xB5, 0x2F, 0xFD, 0, 0xA9, 1, 0, 0}), bytes({0x28, 0xB5, 0x2F, 0xFD, 0, 0xA8, 1, 0, 0})})
    made.push_back(chunk);
  std::vector<KernelBlock> chunks;
  for (const Bytes& chunk : made)
    for (const std::size_t room :
         {std::size_t{2999}, std::size_t{3000}, std::size_t{3900}, std::size_t{7000}})
      chunks.push_back({chunk, {}, room});
  expect_by_reference(chunks);
}

TEST(EmulatedZstdRestore, DamagedFramesBesideSoundOnes) {
  std::mt19937 random(1);
  std::vector<Bytes> frames;
  std::vector<std::size_t> rooms;
  for (std::uint32_t i = 0; i < (kTriedOneOf == 1 ? 1500 : 200); ++i) {
    const Bytes content = i % 3 == 0   ? runs_bytes(100 + i, i)
                          : i % 3 == 1 ? wordy_bytes(50 + 2 * i, i)
                                       : random_bytes(i, i, 20);
    constexpr int kLevels[] = {-3, 1, 3, 19};
    Bytes frame = written_by_libzstd(content, {.level = kLevels[i % 4], .checksum = i % 5 == 0});
    for (auto changes = random() % 4; changes > 0; --changes)
      frame[random() % std::min<std::size_t>(frame.size(), 100)] ^= std::byte{1} << random() % 8;
    if (random() % 8 == 0) frame.resize(random() % (frame.size() + 1));
    rooms.push_back(content.size() + random() % 3 - (content.empty() ? 0 : 1));
    frames.push_back(std::move(frame));
  }
  std::vector<KernelBlock> chunks;
  for (std::size_t i = 0; i < frames.size(); ++i) chunks.push_back({frames[i], {}, rooms[i]});
  expect_by_reference(chunks);
  expect_by_reference(std::span(chunks).first(100), kAny, Against::kLowerGuard);
  expect_by_reference(std::span(chunks).last(100), kAny, Against::kUpperGuard, {.blocks_at_once = true});
}

// As in files whose frames' places are known.
TEST(EmulatedZstdRestore, BlocksWithoutTheirFrame) {
  std::vector<Bytes> frames;
  std::vector<std::size_t> rooms;
  for (const Bytes& content : {Bytes(), wordy_bytes(4000), mixed_bytes(10'000), random_bytes(3000, 7, 240)})
    for (const int level : {1, 3, 19}) {
      // Of several blocks.
      const Bytes frame = written_by_libzstd(content, {.level = level, .window_log = 10, .checksum = false});
      const auto blocks = std::span(frame).subspan(4 + zstd_header_rest_bytes(frame[4]));
      frames.emplace_back(blocks.begin(), blocks.end());
      rooms.push_back(content.size());
    }
  std::mt19937 random(1);
  for (std::size_t i = 3; i < 9; ++i)
    for (unsigned round = 0; round < 20; ++round) {
      Bytes changed = frames[i];
      if (round % 4 == 0)
        changed.resize(random() % changed.size());
      else
        changed[random() % changed.size()] ^= std::byte{1} << random() % 8;
      if (round % 4 == 1) changed.push_back(std::byte{1});
      frames.push_back(std::move(changed));
      rooms.push_back(rooms[i] + random() % 3 - 1);
    }
  std::vector<KernelBlock> chunks;
  for (std::size_t i = 0; i < frames.size(); ++i) chunks.push_back({frames[i], {}, rooms[i]});
  for (const bool at_once : {false, true}) {
    const auto restored =
        restored_by_zstd_kernels(chunks, Against::kUpperGuard, false, nullptr,
                                 {.blocks_at_once = at_once, .form = cuda::ZstdChunkForm::kBlocks});
    for (std::size_t i = 0; i < chunks.size(); ++i) {
      Bytes expected(chunks[i].capacity);
      ZstdReferenceDecoder decoder(expected.size(), ZstdDictionary());
      bool sound = false;
      try {
        const StreamStep step = decoder.restore(chunks[i].data, expected);
        sound = step.ended && step.input_bytes == chunks[i].data.size();
        expected.resize(step.output_bytes);
      } catch (const Error&) {
      }
      ASSERT_EQ(restored[i].status == HEMSTITCH_OK, sound) << i;
      if (sound) {
        ASSERT_TRUE(restored[i].content == expected) << i;
      }
    }
  }
}

// Chunks for which there is no room are restored all the same.
TEST(EmulatedZstdRestore, LittleRoomForStages) {
  const Bytes content = wordy_bytes(4000);
  const Bytes frame = written_by_libzstd(content, {});
  const std::vector<KernelBlock> chunks(5, {frame, {}, content.size()});
  expect_by_reference(chunks, 2, Against::kUpperGuard, {.blocks = 3});
  expect_by_reference(chunks, 4, Against::kUpperGuard, {.tables = 1});
  expect_by_reference(chunks, 5, Against::kUpperGuard, {.units = 4});
}

TEST(EmulatedZstdRestore, ABatchIsRestoredInWaves) {
  const Bytes content = wordy_bytes(4000);
  const Bytes frame = written_by_libzstd(content, {});
  const std::vector<KernelBlock> chunks(3, {frame, {}, content.size()});
  const auto restored = restored_by_kernels(chunks, [](const cuda::DeviceRestore& batch) {
    constexpr std::uint64_t kWaveBytes = 9000;  // two chunks
    Bytes scratch(cuda::zstd_waves_scratch_bytes(batch, kWaveBytes));
    cuda::restore_zstd_waves(batch, kWaveBytes, scratch.data(), scratch.size(), nullptr);
  });
  for (const RestoredByKernel& one : restored) {
    EXPECT_EQ(one.status, HEMSTITCH_OK);
    EXPECT_TRUE(one.content == content);
  }
}

}  // namespace
}  // namespace hemstitch
