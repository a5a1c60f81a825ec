// Restoring LZ4 blocks on a CUDA device, compared with restore_lz4_block_reference: bytes, sizes and statuses
// of valid blocks and of all kinds of damage. Every output is between guard bytes.
#include <algorithm>
#include <array>
#include <cstring>
#include <random>
#include <thread>

#include "all_cores.hpp"
#include "captured_graph.hpp"
#include "core/page.hpp"
#include "cuda_test.hpp"
#include "format/lz4/restore/lz4_restore_cuda.hpp"
#include "format/lz4/restore/lz4_restore_reference.hpp"
#include "format/lz4/restore/lz4_restore_ways_cuda.hpp"
#include "gpu/cuda/device_buffer.hpp"
#include "lz4_restore_cases.hpp"
#include "restore_batch.hpp"
#include "shapes.hpp"
#include "valid_data/valid_data.hpp"

namespace hemstitch {
namespace {

using testing::block_by_liblz4;
using testing::Bytes;
using testing::Chunk;
using testing::Lz4BlockWriter;
using testing::on_all_cores;
using testing::RestoreBatch;
using testing::Restored;
using testing::same;

Restored by_reference(const Chunk& chunk) {
  Restored expected;
  expected.output.resize(chunk.capacity);
  const DecodedBlock decoded = restore_lz4_block_reference(chunk.block, chunk.history, expected.output);
  expected.status = static_cast<hemstitch_status>(decoded.status);
  expected.bytes = decoded.bytes;
  expected.output.resize(decoded.bytes);
  return expected;
}

// How a batch is restored: as its sizes decide, or as a batch of many blocks or of few.
enum class Way { kChosen, kManyPages, kFewPages, kManyBlocks, kFewBlocks };

void restore(testing::RestoreBatch& on_device, Way way) {
  const cuda::DeviceRestore& batch = on_device.batch();
  cudaStream_t const stream = on_device.stream();
  if (way == Way::kManyPages)
    cuda::restore_many_lz4_pages_cuda(batch, stream);
  else if (way == Way::kFewPages)
    cuda::restore_few_lz4_pages_cuda(batch, stream);
  else if (way == Way::kManyBlocks)
    cuda::restore_many_lz4_blocks_cuda(batch, stream);
  else if (way == Way::kFewBlocks)
    cuda::restore_few_lz4_blocks_cuda(batch, stream);
  else
    cuda::restore_lz4_cuda(batch, nullptr, 0, stream);
}

class Lz4RestoreDeviceTest : public CudaStreamTest {
 protected:
  // Restores with every kernel that may get the batch, with and without output.
  void expect_same(std::span<const Chunk> chunks) const {
    RestoreBatch batch(chunks, stream());
    std::byte* const* const d_outputs = batch.batch().d_outputs;
    for (const Way way : ways(batch)) {
      SCOPED_TRACE("way " + std::to_string(static_cast<int>(way)));
      batch.poison();
      batch.batch().d_outputs = d_outputs;
      restore(batch, way);
      ASSERT_TRUE(same(chunks, batch.results(), by_reference));
      batch.poison();
      batch.batch().d_outputs = nullptr;
      restore(batch, way);
      ASSERT_TRUE(same(chunks, batch.results(), by_reference, true)) << "sizes alone";
    }
  }
  static std::vector<Way> ways(RestoreBatch& batch) {
    if (batch.batch().max_capacity > kPageBytes) return {Way::kManyBlocks, Way::kFewBlocks};
    if (batch.batch().d_history_bytes != nullptr) return {Way::kChosen};
    return {Way::kManyPages, Way::kFewPages};
  }
};

TEST_F(Lz4RestoreDeviceTest, RestoresWhatLiblz4Writes) {
  for (const std::size_t most : {std::size_t{4096}, std::size_t{65537}}) {
    std::vector<Chunk> chunks;
    for (const testing::Shape& shape : testing::boundary_shapes(most))
      for (const int level : {0, 9, 12}) {
        const Bytes block = block_by_liblz4(shape.bytes, level);
        chunks.push_back({block, shape.bytes.size(), {}, shape.name + ", exact"});
        if (!shape.bytes.empty())
          chunks.push_back({block, shape.bytes.size() - 1, {}, shape.name + ", one short"});
        if (shape.bytes.size() < most) chunks.push_back({block, most, {}, shape.name + ", room left"});
      }
    expect_same(chunks);
  }
}

TEST_F(Lz4RestoreDeviceTest, RestoresBlocksThatNoEncoderWrites) {
  for (const std::size_t most : {std::size_t{4096}, std::size_t{200'000}}) {
    std::vector<Chunk> chunks;
    for (std::uint64_t seed = 0; seed < 1500; ++seed) {
      testing::ValidData made = testing::valid_lz4_block(seed, seed % 50 == 0 ? most : 4096);
      chunks.push_back({std::move(made.data), made.content.size(), std::move(made.dictionary),
                        "seed " + std::to_string(seed)});
    }
    expect_same(chunks);
  }
}

TEST_F(Lz4RestoreDeviceTest, RestoresRealFilesOfEveryBlockSize) {
  const auto folder = testing::corpora();
  if (!folder) GTEST_SKIP() << "HEMSTITCH_CORPORA names no folder of real files";
  for (const char* name : {"dickens", "nci", "mr", "osdb", "xml", "x-ray"}) {
    const Bytes raw = testing::read_file(*folder / "silesia" / name, 9'000'000);
    for (const std::size_t block_bytes : {1000u, 4096u, 65536u, 262144u, 4194304u}) {
      std::vector<Chunk> chunks((std::min<std::size_t>(raw.size(), 1000 * block_bytes) + block_bytes - 1) /
                                block_bytes);
      on_all_cores(chunks.size(), [&](std::size_t i) {
        const auto part =
            std::span(raw).subspan(i * block_bytes, std::min(block_bytes, raw.size() - i * block_bytes));
        chunks[i] = {block_by_liblz4(part, i % 2 == 0 ? 0 : 6), part.size(), {}, std::string(name)};
      });
      expect_same(chunks);
      if (HasFatalFailure()) FAIL() << name << ", blocks of " << block_bytes;
    }
  }
}

TEST_F(Lz4RestoreDeviceTest, LargeBlocksOfEveryShape) {
  std::vector<Chunk> chunks;
  std::vector<testing::Shape> shapes = testing::shapes_of(5'000'000);
  shapes.push_back({"mixed, 16 MB", testing::mixed_bytes(16 << 20)});
  for (const testing::Shape& shape : shapes)
    chunks.push_back({block_by_liblz4(shape.bytes, 0), shape.bytes.size(), {}, shape.name});
  expect_same(chunks);
}

TEST_F(Lz4RestoreDeviceTest, MatchesReachIntoTheHistory) {
  std::vector<Chunk> chunks;
  std::mt19937 random(1);
  for (const std::size_t history_bytes : {1u, 5u, 31u, 32u, 4096u, 65535u, 65536u, 100'000u})
    for (const std::size_t raw_bytes : {1u, 100u, 4096u, 65536u, 200'000u})
      for (Chunk& chunk :
           testing::lz4_chunks_with_history(history_bytes, raw_bytes, static_cast<std::uint32_t>(random())))
        chunks.push_back(std::move(chunk));
  expect_same(chunks);
  std::vector<Chunk> pages;
  for (const Chunk& chunk : chunks)
    if (chunk.capacity <= kPageBytes) pages.push_back(chunk);
  expect_same(pages);
}

// Offsets around every period up to 70, with lengths around every stride, and the largest offsets.
TEST_F(Lz4RestoreDeviceTest, OverlapsOfEveryPeriod) {
  std::vector<Chunk> chunks, larger;
  for (std::size_t offset = 1; offset <= 70; ++offset)
    for (const std::size_t length :
         {4u, 5u, 18u, 19u, 31u, 32u, 33u, 64u, 100u, 273u, 274u, 528u, 1000u, 3000u}) {
      const Bytes literals = testing::random_bytes(70, static_cast<std::uint32_t>(offset));
      const Bytes block = Lz4BlockWriter()
                              .sequence(literals, offset, length)
                              .sequence(testing::random_bytes(offset % 20), 70, 9)
                              .sequence(testing::random_bytes(5), 0, 0)
                              .take();
      chunks.push_back(
          {block, 4096, {}, "offset " + std::to_string(offset) + ", length " + std::to_string(length)});
      larger.push_back(chunks.back());
      larger.back().capacity = 5000;
    }
  expect_same(chunks);
  for (const std::size_t offset : {4095u, 4096u, 8191u, 8192u, 32768u, 65534u, 65535u})
    for (const std::size_t length : {4u, 40u, 70'000u, 300'000u}) {
      Lz4BlockWriter writer;
      writer.sequence(testing::random_bytes(offset), offset, length);
      writer.sequence(testing::random_bytes(3), 65535, 50'000).sequence({}, 1, 4);
      writer.sequence(testing::random_bytes(66'000), 65535, 66'000).sequence(testing::random_bytes(5), 0, 0);
      larger.push_back({writer.take(), 600'000, {}, "offset " + std::to_string(offset)});
    }
  expect_same(larger);
}

// Lengths around those that chains of sequences skip, at places around the boundaries of what the kernels
// process at a time.
TEST_F(Lz4RestoreDeviceTest, LengthsAroundTheBordersOfWindows) {
  std::vector<Chunk> chunks;
  const Bytes history(65535, std::byte{3});
  const auto add = [&](std::size_t lead, std::size_t literals, std::size_t length) {
    const std::string name = "behind " + std::to_string(lead) + " bytes, " + std::to_string(literals) +
                             " literals, length " + std::to_string(length);
    Chunk chunk{testing::lz4_block_with_long_sequence(lead, literals, length), 100'000, history, name};
    chunk.capacity = by_reference(chunk).bytes;
    chunks.push_back(chunk);
    chunk.capacity -= 1;
    chunks.push_back(chunk);
    chunk.history.clear();
    chunks.push_back(chunk);
  };
  for (const std::size_t lead : {930u, 940u, 950u, 957u, 958u, 959u, 960u, 961u, 962u, 990u, 1230u, 1920u})
    for (const std::size_t literals : {0u, 1u, 14u, 15u, 16u, 268u, 269u, 270u, 271u, 524u, 525u, 3000u})
      for (const std::size_t length : {4u, 18u, 19u, 20u, 272u, 273u, 274u, 275u, 528u, 9000u})
        add(lead, literals, length);
  for (const std::size_t lead : {960u, 7679u, 7680u, 11'000u, 15'359u, 15'360u, 15'361u})
    for (const std::size_t literals : {0u, 271u, 4093u, 4094u, 4095u, 20'000u})
      for (const std::size_t length : {4u, 275u, 4097u, 4098u, 4099u, 20'000u}) add(lead, literals, length);
  expect_same(chunks);
}

// Blocks of mostly literals: few sequences, which are walked over one by one; runs and far matches are copied
// in larger steps. The numbers of sequences are around those that are walked over together. Some blocks are
// damaged at one of them.
TEST_F(Lz4RestoreDeviceTest, FewLongSequences) {
  std::vector<Chunk> pages, blocks;
  std::mt19937 random(7);
  for (const std::size_t most : {std::size_t{1000}, kPageBytes, std::size_t{5000}, std::size_t{60'000}})
    for (const std::size_t sequences : {0u, 1u, 2u, 5u, 16u, 31u, 32u, 33u, 40u, 63u, 64u, 65u, 100u})
      for (unsigned variant = 0; variant < 24; ++variant) {
        Lz4BlockWriter writer;
        const std::size_t damaged = variant % 6 == 5 ? random() % (sequences + 1) : sequences + 1;
        const std::size_t mean = most / (sequences + 1);
        std::size_t written = 0;
        for (std::size_t i = 0; i < sequences; ++i) {
          // Long and short sequences, or long matches.
          const bool is_match = variant % 4 == 3 && i % 3 == 2 && written > 1;
          std::size_t literals = is_match ? 0 : random() % (2 * mean) + (written == 0 ? 1 : 0);
          if (variant % 4 == 1 && i % 8 != 0) literals = random() % 20 + 1;
          const std::size_t reach = written + literals;
          const std::size_t length = is_match ? 4 + random() % (2 * mean) : 4 + random() % 3;
          if (reach + length + 300 > most) break;
          const std::size_t near = std::array<std::size_t, 5>{1, 100, 128, 511, 513}[random() % 5];
          const std::size_t offset = random() % 2 == 0 ? std::min(near, reach) : 1 + random() % reach;
          writer.sequence(testing::random_bytes(literals, static_cast<std::uint32_t>(random())),
                          i == damaged ? (i % 2 == 0 ? 0 : reach + 1) : std::min<std::size_t>(offset, 65535),
                          length);
          written = reach + length;
        }
        const std::size_t last = variant % 3 == 0 ? 1 + random() % 8 : most - written - random() % 200;
        writer.sequence(testing::random_bytes(last, static_cast<std::uint32_t>(random())), 0, 0);
        const std::string name = std::to_string(sequences) + " sequences, variant " + std::to_string(variant);
        std::vector<Chunk>& chunks = most <= kPageBytes ? pages : blocks;
        chunks.push_back({writer.take(), written + last, {}, name});
        chunks.push_back({writer.take(), written + last - 1, {}, name + ", one short"});
        chunks.push_back({writer.take(), written + last, {}, name + ", truncated"});
        chunks.back().block.resize(random() % (chunks.back().block.size() + 1));
      }
  expect_same(pages);
  expect_same(blocks);
}

// As many sequences as a block can have, of each shortest kind.
TEST_F(Lz4RestoreDeviceTest, CraftedWorstCases) {
  std::vector<Chunk> pages, blocks;
  for (const std::size_t capacity : {std::size_t{4096}, std::size_t{65536}, std::size_t{1'000'000}}) {
    std::vector<Chunk>& chunks = capacity <= kPageBytes ? pages : blocks;
    for (const std::size_t literals : {0u, 1u, 2u, 3u, 14u, 15u, 16u})
      for (const std::size_t offset : {1u, 2u, 4u, 5u, 31u, 33u, 100u, 4000u})
        for (const std::size_t length : {4u, 5u, 18u, 19u, 20u}) {
          Lz4BlockWriter writer;
          const Bytes noise = testing::random_bytes(16 + 4096);
          const std::size_t lead = std::min<std::size_t>(offset, 100);
          writer.sequence(testing::random_bytes(lead), lead, 4);
          std::size_t written = lead + 4;
          while (written + literals + length <= capacity) {
            const auto some = noise.begin() + static_cast<std::ptrdiff_t>(written % 4096);
            writer.sequence(Bytes(some, some + static_cast<std::ptrdiff_t>(literals)),
                            std::min(offset, written), length);
            written += literals + length;
          }
          writer.sequence(testing::random_bytes(capacity - written), 0, 0);
          const std::string name = std::to_string(literals) + " literals, offset " + std::to_string(offset) +
                                   ", length " + std::to_string(length);
          chunks.push_back({writer.take(), capacity, {}, name});
          chunks.push_back({writer.take(), capacity - 1, {}, name + ", one short"});
        }
  }
  // Chains of 255, with and without an end, in literals and in matches; and blocks far larger than their
  // room.
  for (const std::size_t chain : {1u, 31u, 32u, 33u, 1000u, 4000u, 4100u, 70'000u, 300'000u})
    for (const unsigned token : {0xF0u, 0x1Fu, 0x0Fu, 0xFFu})
      for (const bool ends : {false, true}) {
        const Bytes block = testing::lz4_block_of_a_chain(token, chain, ends);
        for (const std::size_t capacity : {std::size_t{0}, std::size_t{300}, std::size_t{4096}})
          pages.push_back({block, capacity, {}, "chain of " + std::to_string(chain)});
        blocks.push_back({block, 300 * chain, {}, "chain of " + std::to_string(chain)});
        blocks.push_back({block, 2 * chain, {}, "chain of " + std::to_string(chain)});
      }
  for (const std::size_t block_bytes : {4200u, 10'000u, 1'000'000u})
    for (const unsigned byte : {0x00u, 0x10u, 0x11u, 0x20u, 0xF0u, 0xFFu, 0x01u})
      pages.push_back({Bytes(block_bytes, static_cast<std::byte>(byte)), 4096, {}, "one byte repeated"});
  expect_same(pages);
  expect_same(blocks);
}

TEST_F(Lz4RestoreDeviceTest, EveryTruncation) {
  for (const std::size_t capacity : {std::size_t{1500}, kPageBytes, std::size_t{6000}}) {
    std::vector<Chunk> chunks;
    for (const testing::Shape& shape : testing::shapes_of(capacity)) {
      const Bytes block = block_by_liblz4(shape.bytes, 9);
      for (std::size_t kept = 0; kept < block.size(); ++kept)
        chunks.push_back({Bytes(block.begin(), block.begin() + static_cast<std::ptrdiff_t>(kept)),
                          capacity,
                          {},
                          shape.name + ", truncated"});
    }
    expect_same(chunks);
    ASSERT_FALSE(HasFatalFailure());
  }
}

TEST_F(Lz4RestoreDeviceTest, EveryBitFlipped) {
  for (const std::size_t capacity : {std::size_t{1200}, std::size_t{5000}}) {
    std::vector<Chunk> chunks;
    for (const testing::Shape& shape : testing::shapes_of(capacity)) {
      const Bytes block = block_by_liblz4(shape.bytes, 9);
      if (block.size() > 1300) continue;
      for (std::size_t bit = 0; bit < 8 * block.size(); ++bit) {
        chunks.push_back({block, capacity, {}, shape.name + ", bit " + std::to_string(bit)});
        chunks.back().block[bit / 8] ^= static_cast<std::byte>(1 << bit % 8);
      }
    }
    expect_same(chunks);
    ASSERT_FALSE(HasFatalFailure());
  }
}

// Random changes to valid blocks of all shapes, and random bytes: as pages, with history, and as larger
// blocks.
TEST_F(Lz4RestoreDeviceTest, MutationsGetTheReferencesVerdict) {
  const std::vector<Chunk> sound = testing::sound_lz4_pages();
  constexpr std::size_t kBatch = 100'000;
  constexpr std::size_t kBatches = 100;
  std::size_t accepted = 0;
  for (std::size_t round = 0; round < kBatches; ++round) {
    std::vector<Chunk> chunks(kBatch);
    on_all_cores(100, [&](std::size_t part) {
      std::mt19937 random(static_cast<std::uint32_t>(round * 100 + part));
      for (std::size_t i = part * (kBatch / 100); i < (part + 1) * (kBatch / 100); ++i) {
        Chunk& chunk = chunks[i];
        chunk = testing::damaged_lz4_page(sound, i, random);
        if (round % 4 == 1) chunk.history = Bytes(random() % 300, static_cast<std::byte>(i));
      }
    });
    if (round % 2 == 1) chunks[0].capacity = 5000;  // the whole batch is then processed like larger blocks
    const bool are_pages =
        std::ranges::all_of(chunks, [](const Chunk& chunk) { return chunk.capacity <= kPageBytes; });
    ASSERT_EQ(are_pages, round % 2 == 0);
    RestoreBatch batch(chunks, stream());
    for (const Way way : ways(batch)) {
      batch.poison();
      restore(batch, way);
      const std::vector<Restored> restored = batch.results();
      ASSERT_TRUE(same(chunks, restored, by_reference)) << "round " << round;
      for (const Restored& one : restored) accepted += one.status == HEMSTITCH_OK;
    }
  }
  EXPECT_GT(accepted, kBatch * kBatches / 100);
}

TEST_F(Lz4RestoreDeviceTest, BatchesOfAnyNumberOfChunks) {
  expect_same({});
  const Bytes raw = testing::wordy_bytes(300);
  const Bytes block = block_by_liblz4(raw, 9);
  expect_same(std::vector<Chunk>(1, {block, raw.size(), {}, "one"}));
  std::vector<Chunk> small(
      (1 << 20) + 3,
      {Lz4BlockWriter().sequence(testing::random_bytes(3), 2, 7).sequence({}, 0, 0).take(), 10});
  for (std::size_t i = 0; i < small.size(); i += 3) small[i] = {Bytes(1), 0};  // an empty chunk
  for (std::size_t i = 1; i < small.size(); i += 5) small[i] = {{}, 0};        // no block at all
  expect_same(small);
  small.resize(5000);
  small[77].capacity = 70'000;
  expect_same(small);
}

TEST_F(Lz4RestoreDeviceTest, ChunksAboveTheBoundsAreLeftOut) {
  const Bytes raw = testing::wordy_bytes(3000);
  const Bytes block = block_by_liblz4(raw, 9);
  std::vector<Chunk> chunks(9, {block, 3000, {}, "in bounds"});
  chunks[4].capacity = 3001;
  chunks[7].block.push_back(std::byte{0});
  RestoreBatch batch(chunks, stream());
  batch.batch().max_capacity = 3000;
  batch.batch().max_block_bytes = block.size();
  batch.poison();
  restore(batch, Way::kChosen);
  const std::vector<Restored> restored = batch.results();
  for (std::size_t i = 0; i < chunks.size(); ++i) {
    const bool is_out = i == 4 || i == 7;
    EXPECT_EQ(restored[i].status, is_out ? HEMSTITCH_INVALID_OPTION : HEMSTITCH_OK) << i;
    EXPECT_EQ(restored[i].bytes, is_out ? 0u : 3000u) << i;
  }
  cuda::DeviceRestore too_large = batch.batch();
  too_large.max_capacity = cuda::kLz4RestoreMaxBytes + 1;
  EXPECT_THROW(cuda::restore_lz4_cuda_scratch_bytes(too_large), Error);
}

std::vector<Chunk> mixed_chunks(std::size_t raw_bytes, std::size_t count) {
  std::vector<Chunk> chunks(count);
  on_all_cores(count, [&](std::size_t i) {
    const auto seed = static_cast<std::uint32_t>(i);
    const Bytes raw = i % 7 == 0   ? testing::random_bytes(raw_bytes, seed)
                      : i % 7 == 1 ? testing::runs_bytes(raw_bytes, seed)
                                   : testing::wordy_bytes(raw_bytes, seed);
    chunks[i] = {block_by_liblz4(raw, 0), raw_bytes, {}, "mixed"};
    if (i % 11 == 0) chunks[i].block[raw_bytes / 50] ^= std::byte{0x10};
  });
  return chunks;
}

TEST_F(Lz4RestoreDeviceTest, RunsAreEqualAlsoOnTwoStreamsAtOnce) {
  for (const std::size_t raw_bytes : {std::size_t{4096}, std::size_t{65536}}) {
    const std::vector<Chunk> chunks = mixed_chunks(raw_bytes, 500);
    cuda::Stream other;
    RestoreBatch left(chunks, stream()), right(chunks, other.get());
    for (int run = 0; run < 5; ++run) {
      left.poison();
      right.poison();
      restore(left, Way::kChosen);
      restore(right, Way::kChosen);
      ASSERT_TRUE(same(chunks, left.results(), by_reference)) << "run " << run;
      ASSERT_TRUE(same(chunks, right.results(), by_reference)) << "run " << run;
    }
  }
}

TEST_F(Lz4RestoreDeviceTest, AGraphIsReplayedWithChangingData) {
  for (const std::size_t raw_bytes : {std::size_t{4096}, std::size_t{30'000}}) {
    std::vector<std::vector<Chunk>> data;
    constexpr std::size_t kRoom = 70'000;
    for (std::uint32_t version = 0; version < 4; ++version) {
      std::vector<Chunk> chunks;
      for (std::uint32_t i = 0; i < 64; ++i) {
        const Bytes raw = testing::wordy_bytes(raw_bytes, version * 64 + i);
        chunks.push_back({block_by_liblz4(raw, 0), raw_bytes, {}, "version " + std::to_string(version)});
      }
      data.push_back(std::move(chunks));
    }
    cuda::DeviceBuffer<std::byte> d_blocks(64 * kRoom, stream()), d_outputs(64 * raw_bytes, stream());
    std::vector<const std::byte*> blocks;
    std::vector<std::byte*> outputs;
    for (std::size_t i = 0; i < 64; ++i) {
      blocks.push_back(d_blocks.get() + i * kRoom);
      outputs.push_back(d_outputs.get() + i * raw_bytes);
    }
    cuda::DeviceBuffer<const std::byte*> d_block_pointers(64, stream());
    cuda::DeviceBuffer<std::byte*> d_output_pointers(64, stream());
    cuda::DeviceBuffer<std::size_t> d_block_bytes(64, stream()), d_capacities(64, stream()),
        d_sizes(64, stream());
    cuda::DeviceBuffer<hemstitch_status> d_statuses(64, stream());
    d_block_pointers.upload(blocks);
    d_output_pointers.upload(outputs);
    d_capacities.upload(std::vector<std::size_t>(64, raw_bytes));
    cuda::check(cudaStreamSynchronize(stream()), "cudaStreamSynchronize");
    cuda::DeviceRestore batch;
    batch.d_blocks = d_block_pointers.get();
    batch.d_block_bytes = d_block_bytes.get();
    batch.d_outputs = d_output_pointers.get();
    batch.d_capacities = d_capacities.get();
    batch.d_output_bytes = d_sizes.get();
    batch.d_statuses = d_statuses.get();
    batch.count = 64;
    batch.max_capacity = raw_bytes;
    batch.max_block_bytes = kRoom;
    cuda::DeviceBuffer<std::byte> d_scratch(cuda::restore_lz4_cuda_scratch_bytes(batch) + 1, stream());
    const testing::CapturedGraph graph(
        stream(), [&] { cuda::restore_lz4_cuda(batch, d_scratch.get(), d_scratch.bytes(), stream()); });
    for (std::size_t replay = 0; replay < 100; ++replay) {
      const std::vector<Chunk>& chunks = data[replay % data.size()];
      Bytes packed(64 * kRoom);
      std::vector<std::size_t> sizes;
      for (std::size_t i = 0; i < 64; ++i) {
        std::copy(chunks[i].block.begin(), chunks[i].block.end(),
                  packed.begin() + static_cast<std::ptrdiff_t>(i * kRoom));
        sizes.push_back(chunks[i].block.size());
      }
      d_blocks.upload(packed);
      d_block_bytes.upload(sizes);
      graph.launch();
      Bytes output(64 * raw_bytes);
      std::vector<hemstitch_status> statuses(64);
      d_outputs.download(output);
      d_statuses.download(statuses);
      cuda::check(cudaStreamSynchronize(stream()), "cudaStreamSynchronize");
      for (std::size_t i = 0; i < 64; ++i) {
        ASSERT_EQ(statuses[i], HEMSTITCH_OK) << "replay " << replay << ", chunk " << i;
        ASSERT_TRUE(std::equal(output.begin() + static_cast<std::ptrdiff_t>(i * raw_bytes),
                               output.begin() + static_cast<std::ptrdiff_t>((i + 1) * raw_bytes),
                               by_reference(chunks[i]).output.begin()))
            << "replay " << replay << ", chunk " << i;
      }
    }
  }
}

}  // namespace
}  // namespace hemstitch
