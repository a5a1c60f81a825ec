// LZ4's restoring kernels on the processor, compared with the reference decoder and with liblz4: what tests/device does on a
// device, for machines without one.
#include <gtest/gtest.h>

#include <random>

#include "core/page.hpp"
#include "lz4_differences.hpp"
#include "lz4_kernels.hpp"
#include "lz4_restore_cases.hpp"
#include "valid_data/valid_data.hpp"

namespace hemstitch {
namespace {

using namespace testing;

// A thread block of 512 restores each block of a batch of few, which takes the processor long: one in so many goes there.
struct Shares {
  std::size_t few_blocks = 1;
};

void expect_same(std::span<const KernelBlock> blocks, Lz4Way way, Against against) {
  for (const bool sizes_alone : {false, true}) {
    if (sizes_alone && against == Against::kLowerGuard) continue;
    const auto restored = restored_by_lz4_kernels(blocks, way, against, sizes_alone);
    for (std::size_t i = 0; i < blocks.size(); ++i) {
      const RestoredByKernel expected = restored_by_lz4_reference(blocks[i]);
      ASSERT_EQ(restored[i].status, expected.status) << "block " << i;
      ASSERT_EQ(restored[i].content.size(), expected.content.size()) << "block " << i;
      if (!sizes_alone) {
        ASSERT_TRUE(restored[i].content == expected.content) << "block " << i;
      }
    }
  }
}

// By every kernel that may get them; pages only by those of pages.
void expect_same(std::span<const Chunk> cases, Shares shares = {}) {
  std::vector<KernelBlock> all, pages, few;
  bool has_history = false;
  for (std::size_t i = 0; i < cases.size(); i += kTriedOneOf) {
    const KernelBlock block{cases[i].block, cases[i].history, cases[i].capacity};
    has_history |= !block.history.empty();
    all.push_back(block);
    if (block.capacity <= kPageBytes) pages.push_back(block);
    if (i / kTriedOneOf % shares.few_blocks == 0) few.push_back(block);

    const auto content = restored_by_lz4_reference(block);
    ASSERT_TRUE(
        lz4_block_as_meant(block.data, block.capacity,
                           content.status == HEMSTITCH_OK ? std::optional(content.content) : std::nullopt,
                           restored_by_liblz4(block.data, block.history, block.capacity)))
        << "block " << i;
  }
  for (const Against against : {Against::kUpperGuard, Against::kLowerGuard}) {
    SCOPED_TRACE(against == Against::kUpperGuard ? "upper guard" : "lower guard");
    {
      SCOPED_TRACE("many blocks");
      ASSERT_NO_FATAL_FAILURE(expect_same(all, Lz4Way::kManyBlocks, against));
    }
    {
      SCOPED_TRACE("few blocks");
      ASSERT_NO_FATAL_FAILURE(expect_same(few, Lz4Way::kFewBlocks, against));
    }
    if (has_history) {
      SCOPED_TRACE("pages with history");
      ASSERT_NO_FATAL_FAILURE(expect_same(pages, Lz4Way::kChosen, against));
      continue;
    }
    for (const Lz4Way way : {Lz4Way::kManyPages, Lz4Way::kFewPages}) {
      SCOPED_TRACE(way == Lz4Way::kManyPages ? "many pages" : "few pages");
      ASSERT_NO_FATAL_FAILURE(expect_same(pages, way, against));
    }
  }
}

TEST(EmulatedLz4Restore, WhatLiblz4Writes) {
  std::vector<Chunk> cases;
  for (const std::size_t count : {0u, 1u, 5u, 13u, 33u, 1000u, 4096u, 4097u, 20'000u})
    for (const Shape& shape : shapes_of(count))
      cases.push_back({block_by_liblz4(shape.bytes, cases.size() % 2 == 0 ? 0 : 9), shape.bytes.size()});
  expect_same(cases, {.few_blocks = 5});
}

TEST(EmulatedLz4Restore, BlocksThatNoEncoderWrites) {
  for (const bool with_history : {false, true}) {
    std::vector<Chunk> cases;
    for (std::uint64_t seed = 0; seed < 600; ++seed) {
      ValidData made = valid_lz4_block(seed, seed % 10 == 0 ? 70'000 : 4096);
      if (made.dictionary.empty() != with_history)
        cases.push_back({std::move(made.data), made.content.size(), std::move(made.dictionary)});
    }
    expect_same(cases, {.few_blocks = 5});
  }
}

TEST(EmulatedLz4Restore, MatchesReachIntoTheHistory) {
  std::vector<Chunk> cases;
  for (const std::size_t history_bytes : {1u, 31u, 4096u, 65535u, 70'000u})
    for (const std::size_t raw_bytes : {100u, 4096u, 9000u})
      for (Chunk& chunk :
           lz4_chunks_with_history(history_bytes, raw_bytes, static_cast<std::uint32_t>(raw_bytes)))
        cases.push_back(std::move(chunk));
  // The farthest byte that an offset names, and one before it.
  for (const std::size_t history_bytes : {65534u, 65535u})
    cases.push_back({Lz4BlockWriter().sequence({}, 65535, 40).sequence(random_bytes(5), 0, 0).take(), 45,
                     random_bytes(history_bytes)});
  expect_same(cases, {.few_blocks = 4});
}

// A block restores what those before it have, one after the other.
TEST(EmulatedLz4Restore, BlocksOfAChainReferToThoseBeforeThem) {
  const Bytes all = wordy_bytes(30'000);
  const std::vector<std::size_t> sizes{10'000, 1, 4999, 0, 15'000};
  std::vector<std::unique_ptr<KernelBuffer>> blocks;
  std::vector<const std::byte*> block_at;
  std::vector<std::size_t> block_bytes;
  std::vector<std::uint32_t> histories;
  KernelBuffer output(all.size());
  std::vector<std::byte*> output_at;
  std::size_t before = 0;
  for (const std::size_t size : sizes) {
    const Bytes block =
        block_by_liblz4(std::span(all).subspan(before, size), 9, std::span(all).first(before));
    blocks.push_back(std::make_unique<KernelBuffer>(block));
    block_at.push_back(blocks.back()->bytes().data());
    block_bytes.push_back(block.size());
    histories.push_back(static_cast<std::uint32_t>(before));
    output_at.push_back(output.bytes().data() + before);
    before += size;
  }
  cuda::DeviceRestore batch;
  batch.d_blocks = block_at.data();
  batch.d_block_bytes = block_bytes.data();
  batch.d_outputs = output_at.data();
  batch.d_capacities = sizes.data();
  batch.d_history_bytes = histories.data();
  batch.count = sizes.size();
  batch.max_capacity = batch.max_block_bytes = 20'000;
  for (const std::uint32_t count : {5u, 3u, 9u}) {
    std::ranges::fill(output.bytes(), std::byte{0xA5});
    std::vector<std::size_t> restored(sizes.size(), 99);
    std::vector<hemstitch_status> statuses(sizes.size(), HEMSTITCH_INTERNAL);
    batch.d_output_bytes = restored.data();
    batch.d_statuses = statuses.data();
    cuda::restore_lz4_chain_cuda(batch, &count, nullptr);
    std::size_t done = 0;
    for (std::size_t i = 0; i < sizes.size(); ++i) {
      EXPECT_EQ(statuses[i], i < count ? HEMSTITCH_OK : HEMSTITCH_INTERNAL) << i;
      EXPECT_EQ(restored[i], i < count ? sizes[i] : 99) << i;
      if (i < count) done += sizes[i];
    }
    EXPECT_TRUE(std::ranges::equal(output.bytes().first(done), std::span(all).first(done)));
    EXPECT_TRUE(std::ranges::all_of(output.bytes().subspan(done),
                                    [](std::byte byte) { return byte == std::byte{0xA5}; }));
  }
}

// Offsets of every period, with lengths around every stride.
TEST(EmulatedLz4Restore, OverlapsOfEveryPeriod) {
  std::vector<Chunk> cases;
  for (const std::size_t length : {4u, 19u, 31u, 33u, 100u, 273u, 274u, 528u}) {
    Lz4BlockWriter writer;
    writer.sequence(random_bytes(70, 1), 70, 4);
    std::size_t written = 74;
    for (std::size_t offset = 1; offset <= 70; ++offset) {
      const Bytes literals = random_bytes(offset % 20, static_cast<std::uint32_t>(offset));
      if (written + literals.size() + length + 5 > 4096) {
        cases.push_back({writer.sequence(random_bytes(5), 0, 0).take(), written + 5});
        writer = {};
        writer.sequence(random_bytes(70, 1), 70, 4);
        written = 74;
      }
      writer.sequence(literals, offset, length);
      written += literals.size() + length;
    }
    cases.push_back({writer.sequence(random_bytes(5), 0, 0).take(), written + 5});
  }
  expect_same(cases, {.few_blocks = 6});
}

// Long numbers of literals and long matches, where what is processed at a time ends: at 960 bytes of a block, and at 15,360.
TEST(EmulatedLz4Restore, LengthsAroundTheBordersOfWindows) {
  std::vector<Chunk> cases;
  const Bytes history(65535, std::byte{3});
  std::mt19937 random(3);
  for (const std::size_t lead : {958u, 959u, 960u, 961u, 15'359u, 15'361u})
    for (const std::size_t literals : {0u, 15u, 269u, 270u, 271u, 3000u, 4095u})
      for (const std::size_t length : {4u, 19u, 273u, 274u, 275u, 4097u, 9000u}) {
        if (random() % (lead < 1000 ? 10 : 25) != 0) continue;
        Chunk sound{lz4_block_with_long_sequence(lead, literals, length), 0, history};
        sound.capacity = static_cast<std::size_t>(lz4_block_facts(sound.block).restored_bytes);
        cases.push_back(sound);
        sound.capacity -= 1;
        cases.push_back(sound);
        sound.history.clear();
        cases.push_back(sound);
      }
  expect_same(cases, {.few_blocks = 10});
}

// Blocks of mostly literals, whose few sequences are walked over one by one, around the number that is walked over together.
TEST(EmulatedLz4Restore, FewLongSequences) {
  std::vector<Chunk> cases;
  std::mt19937 random(7);
  for (const std::size_t most : {std::size_t{1000}, kPageBytes, std::size_t{6000}})
    for (const std::size_t sequences : {0u, 1u, 5u, 31u, 32u, 33u, 65u})
      for (unsigned variant = 0; variant < 6; ++variant) {
        Lz4BlockWriter writer;
        const std::size_t damaged = variant == 5 ? random() % (sequences + 1) : sequences + 1;
        const std::size_t mean = most / (sequences + 1);
        std::size_t written = 0;
        for (std::size_t i = 0; i < sequences; ++i) {
          const bool is_match = variant % 4 == 3 && i % 3 == 2 && written > 1;
          const std::size_t literals = is_match ? 0 : random() % (2 * mean) + (written == 0 ? 1 : 0);
          const std::size_t reach = written + literals;
          const std::size_t length = is_match ? 4 + random() % (2 * mean) : 4 + random() % 3;
          if (reach + length + 300 > most) break;
          const std::size_t offset =
              random() % 2 == 0 ? std::min<std::size_t>(128, reach) : 1 + random() % reach;
          writer.sequence(random_bytes(literals, static_cast<std::uint32_t>(random())),
                          i == damaged ? (i % 2 == 0 ? 0 : reach + 1) : offset, length);
          written = reach + length;
        }
        const std::size_t last = variant % 3 == 0 ? 1 + random() % 8 : most - written - random() % 200;
        writer.sequence(random_bytes(last, static_cast<std::uint32_t>(random())), 0, 0);
        cases.push_back({writer.take(), written + last - (variant == 4 ? 1 : 0)});
      }
  expect_same(cases, {.few_blocks = 25});
}

// As many sequences as a block can have, and numbers that go on and on, with and without an end.
TEST(EmulatedLz4Restore, CraftedWorstCases) {
  std::vector<Chunk> cases;
  for (const std::size_t capacity : {std::size_t{4096}, std::size_t{9000}})
    for (const std::size_t literals : {0u, 1u, 2u, 15u})
      for (const std::size_t length : {4u, 5u, 19u}) {
        Lz4BlockWriter writer;
        writer.sequence(random_bytes(33), 33, 4);
        std::size_t written = 37;
        for (; written + literals + length <= capacity; written += literals + length)
          writer.sequence(random_bytes(literals, static_cast<std::uint32_t>(written)), 1 + written % 33,
                          length);
        writer.sequence(random_bytes(capacity - written), 0, 0);
        cases.push_back({writer.take(), capacity});
        cases.push_back({writer.take(), capacity - 1});
      }
  for (const std::size_t chain : {1u, 31u, 32u, 33u, 4100u, 17'000u})
    for (const unsigned token : {0xF0u, 0x1Fu, 0x0Fu, 0xFFu})
      for (const bool ends : {false, true}) {
        if (chain > 5000 && token != 0x1F) continue;
        const Bytes block = lz4_block_of_a_chain(token, chain, ends);
        for (const std::size_t capacity : {std::size_t{0}, kPageBytes, 300 * chain})
          if (chain < 1000 || capacity > kPageBytes) cases.push_back({block, capacity});
      }
  for (const std::size_t block_bytes : {4200u, 10'000u})
    for (const unsigned byte : {0x00u, 0x10u, 0x11u, 0x20u, 0xF0u, 0xFFu, 0x01u})
      cases.push_back({Bytes(block_bytes, static_cast<std::byte>(byte)), 4096});
  for (const std::size_t offset : {0u, 2u, 65535u})
    for (const std::size_t literals : {0u, 1u, 15u})
      cases.push_back(
          {Lz4BlockWriter().sequence(random_bytes(literals), offset, 300).sequence({}, 0, 0).take(), 4000});
  expect_same(cases, {.few_blocks = 25});
}

TEST(EmulatedLz4Restore, DamagedBlocksGetTheReferencesVerdict) {
  const std::vector<Chunk> sound = sound_lz4_pages();
  std::mt19937 random(1);
  std::size_t accepted = 0, refused = 0;
  for (const bool with_history : {false, true}) {
    std::vector<Chunk> cases(300);
    for (std::size_t i = 0; i < cases.size(); ++i) {
      Chunk& one = cases[i] = damaged_lz4_page(sound, i, random);
      if (with_history) one.history = Bytes(random() % 300, static_cast<std::byte>(i));
      const bool is_sound =
          restored_by_lz4_reference({one.block, one.history, one.capacity}).status == HEMSTITCH_OK;
      ++(is_sound ? accepted : refused);
    }
    expect_same(cases, {.few_blocks = 31});
  }
  EXPECT_GT(accepted, 80u);
  EXPECT_GT(refused, 80u);
}

// Matches end at the room's end, before it and behind it.
TEST(EmulatedLz4Restore, RoomsOfEverySize) {
  const Bytes raw = wordy_bytes(6000), block = block_by_liblz4(raw, 9);
  std::vector<Chunk> cases;
  for (const std::size_t room : {2999u, 0u, 1u, 100u, 1000u, 4096u, 5000u, 5999u, 6000u})
    cases.push_back({block, room});
  expect_same(cases);
}

// What breaks the batch's bounds is left out, and its neighbours are restored.
TEST(EmulatedLz4Restore, BlocksAboveTheBoundsAreLeftOut) {
  const Bytes raw = wordy_bytes(3000), block = block_by_liblz4(raw, 9);
  const std::vector<KernelBlock> blocks(7, {block, {}, raw.size()});
  for (const Lz4Way way : {Lz4Way::kManyPages, Lz4Way::kFewPages, Lz4Way::kManyBlocks, Lz4Way::kFewBlocks}) {
    const auto restored = restored_by_kernels(blocks, [&](cuda::DeviceRestore batch) {
      std::vector<std::size_t> capacities(blocks.size(), raw.size()), sizes(blocks.size(), block.size());
      capacities[1] = kPageBytes + 5000;
      sizes[3] = ~std::size_t{0};
      sizes[4] = block.size() + 1;
      batch.d_capacities = capacities.data();
      batch.d_block_bytes = sizes.data();
      if (way == Lz4Way::kManyPages) cuda::restore_many_lz4_pages_cuda(batch, nullptr);
      if (way == Lz4Way::kFewPages) cuda::restore_few_lz4_pages_cuda(batch, nullptr);
      if (way == Lz4Way::kManyBlocks) cuda::restore_many_lz4_blocks_cuda(batch, nullptr);
      if (way == Lz4Way::kFewBlocks) cuda::restore_few_lz4_blocks_cuda(batch, nullptr);
    });
    for (std::size_t i = 0; i < blocks.size(); ++i) {
      const bool is_left_out = i == 1 || i == 3 || i == 4;
      EXPECT_EQ(restored[i].status, is_left_out ? HEMSTITCH_INVALID_OPTION : HEMSTITCH_OK) << i;
      EXPECT_EQ(restored[i].content, is_left_out ? Bytes() : raw) << i;
    }
  }
}

}  // namespace
}  // namespace hemstitch
