// Chunks of Zstandard written by the kernels of the batch interface on the processor, compared with the twin, and restored by libzstd:
// what tests/device does on a device, for machines without one.
#include <gtest/gtest.h>
#include <zstd.h>

#include <memory>
#include <numeric>

#include "batch/zstd_chunk.hpp"
#include "kernel_buffer.hpp"
#include "shapes.hpp"
#include "zstd_batch_kernels.hpp"

namespace hemstitch::testing {
namespace {

constexpr std::byte kFiller{0x5F};
// Of the cases of a short list.
constexpr std::size_t kTriedOneOfFew = (kTriedOneOf + 2) / 3;
constexpr int kRowLevels[] = {1, 3, 5, 10, 16};

struct WrittenChunks {
  std::vector<hemstitch_status> statuses;
  std::vector<std::size_t> sizes;
  std::vector<std::unique_ptr<KernelBuffer>> rooms;
};

// The bounds of a call; 0: what the chunks need.
struct GivenBounds {
  std::size_t max_block_bytes = 0;
  std::uint64_t total_block_bytes = 0;
};

// Without capacities each chunk has the room of the largest one.
WrittenChunks write_chunks(const std::vector<Bytes>& contents, const ZstdChunks& chunks,
                           std::vector<std::size_t> capacities = {}, GivenBounds bounds = {}) {
  const std::size_t count = contents.size();
  std::vector<std::unique_ptr<KernelBuffer>> inputs;
  std::vector<const void*> addresses;
  std::vector<std::size_t> sizes;
  for (const Bytes& content : contents) {
    inputs.push_back(std::make_unique<KernelBuffer>(content));
    addresses.push_back(content.empty() ? nullptr : inputs.back()->bytes().data());
    sizes.push_back(content.size());
  }
  hemstitch_blocks blocks{};
  blocks.blocks = addresses.data();
  blocks.block_bytes = sizes.data();
  blocks.count = static_cast<std::uint32_t>(count);
  blocks.max_block_bytes = bounds.max_block_bytes != 0 ? bounds.max_block_bytes
                           : count == 0                ? 0
                                                       : *std::ranges::max_element(sizes);
  blocks.total_block_bytes = bounds.total_block_bytes != 0
                                 ? bounds.total_block_bytes
                                 : std::accumulate(sizes.begin(), sizes.end(), std::uint64_t{0});
  const std::size_t* const given_capacities = capacities.empty() ? nullptr : capacities.data();
  std::vector<std::size_t> rooms = capacities;
  if (rooms.empty()) rooms.assign(count, zstd_chunk_bound(blocks.max_block_bytes));

  WrittenChunks written{
      std::vector<hemstitch_status>(count, HEMSTITCH_INTERNAL), std::vector<std::size_t>(count, 77), {}};
  std::vector<void*> outputs;
  for (const std::size_t room : rooms) {
    written.rooms.push_back(std::make_unique<KernelBuffer>(room));
    std::ranges::fill(written.rooms.back()->bytes(), kFiller);
    outputs.push_back(written.rooms.back()->bytes().data());
  }
  KernelBuffer temp(zstd_compress_temp_bytes_of_kernels(blocks, chunks));
  // Tables of far take most of it.
  std::ranges::fill(temp.bytes().first(std::min<std::size_t>(temp.bytes().size(), 10 << 20)), kFiller);
  zstd_compress_by_kernels(blocks, chunks,
                           {outputs.data(), given_capacities, written.sizes.data(), written.statuses.data()},
                           {temp.bytes().data(), temp.bytes().size()}, nullptr);
  return written;
}

Bytes twins_chunk(const Bytes& content, const ZstdLevel& level) {
  Bytes chunk(zstd_chunk_bound(content.size()));
  chunk.resize(compress_zstd_chunk_reference(content, level, chunk).bytes);
  return chunk;
}

// Behind what was written there is only filler.
bool holds(KernelBuffer& room, const Bytes& chunk) {
  const std::span<std::byte> bytes = room.bytes();
  return bytes.size() >= chunk.size() && std::ranges::equal(bytes.first(chunk.size()), chunk) &&
         std::ranges::all_of(bytes.subspan(chunk.size()), [](std::byte byte) { return byte == kFiller; });
}

void expect_twins(const std::vector<Bytes>& contents, const ZstdChunks& chunks) {
  const WrittenChunks written = write_chunks(contents, chunks);
  for (std::size_t i = 0; i < contents.size(); ++i) {
    const std::string what = "chunk " + std::to_string(i) + " of " + std::to_string(contents[i].size());
    const Bytes expected = twins_chunk(contents[i], chunks.level);
    ASSERT_EQ(written.statuses[i], HEMSTITCH_OK) << what;
    ASSERT_EQ(written.sizes[i], expected.size()) << what;
    ASSERT_TRUE(holds(*written.rooms[i], expected)) << what;
    ASSERT_EQ(ZSTD_getFrameContentSize(expected.data(), expected.size()), contents[i].size()) << what;
    Bytes back(contents[i].size() + 1);
    ASSERT_EQ(ZSTD_decompress(back.data(), back.size(), expected.data(), expected.size()), contents[i].size())
        << what;
    back.resize(contents[i].size());
    ASSERT_TRUE(back == contents[i]) << what;
  }
}

std::vector<Bytes> some_contents(std::initializer_list<std::size_t> sizes) {
  std::vector<Bytes> contents;
  std::uint32_t seed = 1;
  for (const std::size_t size : sizes)
    for (const Bytes& content :
         {Bytes(size, std::byte{7}), random_bytes(size, seed), mixed_bytes(size, seed)}) {
      contents.push_back(content);
      ++seed;
    }
  return contents;
}

TEST(EmulatedZstdBatch, SmallChunksAreTheTwins) {
  std::vector<Bytes> contents = some_contents({0, 1, 100, 4095});
  contents.push_back(periodic_bytes(9000, 3));
  std::size_t tried = 0;
  for (const int level : kRowLevels)
    if (tried++ % kTriedOneOfFew == 0) expect_twins(contents, {.level = zstd_level(level)});
}

// Of one and two blocks, and of four; what stands before a chunk is none of its own.
TEST(EmulatedZstdBatch, ChunksOfAllSizesAreTheTwins) {
  std::size_t tried = 0;
  const Bytes text = wordy_bytes(65'536, 1);
  for (const int level : kRowLevels) {
    if (tried++ % kTriedOneOf != 0) continue;
    std::vector<Bytes> contents{text, {}, random_bytes(65'537, 3)};
    if (level < 10)  // higher levels take long
      for (const Bytes& content :
           {text, Bytes(65'535, std::byte{0}), mixed_bytes(200'000, 5), wordy_bytes(100, 2)})
        contents.push_back(content);
    expect_twins(contents, {.level = zstd_level(level)});
  }
}

// Chunks that stand one behind the other in memory find nothing of each other.
TEST(EmulatedZstdBatch, NeighboursInMemoryAreSeparate) {
  const Bytes text = wordy_bytes(20'000, 4);
  const Bytes all = text + text + text;
  std::vector<const void*> addresses;
  for (std::size_t i = 0; i < 3; ++i) addresses.push_back(all.data() + i * text.size());
  const std::vector<std::size_t> sizes(3, text.size());
  hemstitch_blocks blocks{};
  blocks.blocks = addresses.data();
  blocks.block_bytes = sizes.data();
  blocks.count = 3;
  blocks.max_block_bytes = text.size();
  blocks.total_block_bytes = all.size();
  for (const int level : {1, 3}) {
    const ZstdChunks chunks{.level = zstd_level(level)};
    const Bytes expected = twins_chunk(text, chunks.level);
    Bytes rooms[3];
    std::vector<void*> outputs;
    for (Bytes& room : rooms) {
      room.resize(zstd_chunk_bound(text.size()));
      outputs.push_back(room.data());
    }
    std::size_t written[3];
    hemstitch_status statuses[3];
    Bytes temp(zstd_compress_temp_bytes_of_kernels(blocks, chunks));
    zstd_compress_by_kernels(blocks, chunks, {outputs.data(), nullptr, written, statuses},
                             {temp.data(), temp.size()}, nullptr);
    for (std::size_t i = 0; i < 3; ++i) {
      ASSERT_EQ(statuses[i], HEMSTITCH_OK);
      rooms[i].resize(written[i]);
      ASSERT_TRUE(rooms[i] == expected) << "chunk " << i << ", level " << level;
    }
  }
}

// Few at once: equal ones by their number, others by their bytes.
TEST(EmulatedZstdBatch, BatchesAreWorkedOnInGroups) {
  std::vector<Bytes> equal;
  for (std::uint32_t i = 0; i < 9; ++i) equal.push_back(mixed_bytes(i == 8 ? 500 : 3000, i));
  std::vector<Bytes> mixed = some_contents({0, 1, 2000});
  mixed.insert(mixed.begin() + 4, wordy_bytes(70'000, 1));
  mixed.push_back(wordy_bytes(30'000, 2));
  mixed.emplace_back();
  std::size_t tried = 0;
  for (const std::uint64_t bytes_at_once : {1, 20'000, 50'000, 100'000}) {
    if (tried++ % kTriedOneOfFew != 0) continue;
    const ZstdChunks chunks{.level = zstd_level(1), .bytes_at_once = bytes_at_once};
    expect_twins(equal, chunks);
    expect_twins(mixed, chunks);
    expect_twins({Bytes(), Bytes(), Bytes()}, chunks);
  }
  expect_twins(mixed, {.level = zstd_level(3), .bytes_at_once = 50'000});
}

// Temporary memory is for what is worked on at once, however many chunks there are.
TEST(EmulatedZstdBatch, TempMemoryIsBounded) {
  for (const std::size_t block_bytes : {1000, 65'536, 16 << 20})
    for (const int level : kRowLevels) {
      hemstitch_blocks blocks{};
      blocks.max_block_bytes = block_bytes;
      std::size_t most = 0;
      for (const std::uint64_t total : {std::uint64_t{1} << 28, std::uint64_t{1} << 33}) {
        blocks.total_block_bytes = total;
        blocks.count = static_cast<std::uint32_t>(total / block_bytes);
        const std::size_t bytes = zstd_compress_temp_bytes_of_kernels(blocks, {.level = zstd_level(level)});
        EXPECT_LT(bytes, (std::uint64_t{23} << 28) + std::uint64_t{100} * blocks.count) << block_bytes;
        most = std::max(most, bytes);
      }
      blocks.total_block_bytes /= 3;  // of several sizes
      EXPECT_LT(zstd_compress_temp_bytes_of_kernels(blocks, {.level = zstd_level(level)}), most + most / 2)
          << block_bytes;
    }
}

TEST(EmulatedZstdBatch, AChunkThatDoesNotFitIsNotWritten) {
  const std::vector<Bytes> contents{
      random_bytes(3000, 1), wordy_bytes(3000, 2), {}, {}, wordy_bytes(70'000, 3)};
  const ZstdChunks chunks{.level = zstd_level(1)};
  std::vector<std::size_t> exact;
  for (const Bytes& content : contents) exact.push_back(twins_chunk(content, chunks.level).size());
  EXPECT_EQ(exact[0], zstd_chunk_bound(3000)) << "no room is left over";
  EXPECT_EQ(exact[2], zstd_chunk_bound(0));
  for (const bool odd_ones : {false, true}) {
    std::vector<std::size_t> capacities = exact;
    for (std::size_t i = odd_ones ? 1 : 0; i < capacities.size(); i += 2) --capacities[i];
    const WrittenChunks written = write_chunks(contents, chunks, capacities);
    for (std::size_t i = 0; i < contents.size(); ++i) {
      const bool fits = capacities[i] == exact[i];
      EXPECT_EQ(written.statuses[i], fits ? HEMSTITCH_OK : HEMSTITCH_OUTPUT_TOO_SMALL) << i;
      EXPECT_EQ(written.sizes[i], fits ? exact[i] : 0) << i;
      EXPECT_TRUE(holds(*written.rooms[i], fits ? twins_chunk(contents[i], chunks.level) : Bytes())) << i;
    }
  }
}

TEST(EmulatedZstdBatch, AChunkThatBreaksABoundIsLeftOut) {
  const std::vector<Bytes> contents{wordy_bytes(5000, 1), wordy_bytes(9000, 2), wordy_bytes(5000, 3),
                                    wordy_bytes(5000, 4)};
  for (const std::uint64_t bytes_at_once : {5000, 100'000}) {
    const ZstdChunks chunks{.level = zstd_level(1), .bytes_at_once = bytes_at_once};
    const WrittenChunks written = write_chunks(contents, chunks, std::vector<std::size_t>(4, 10'000),
                                               {.max_block_bytes = 5000, .total_block_bytes = 14'999});
    EXPECT_EQ(written.statuses, (std::vector<hemstitch_status>{HEMSTITCH_OK, HEMSTITCH_INVALID_OPTION,
                                                               HEMSTITCH_OK, HEMSTITCH_OUTPUT_TOO_SMALL}));
    for (const std::size_t i : {0, 2})
      EXPECT_TRUE(holds(*written.rooms[i], twins_chunk(contents[i], chunks.level))) << i;
    for (const std::size_t i : {1, 3}) {
      EXPECT_EQ(written.sizes[i], 0u);
      EXPECT_TRUE(holds(*written.rooms[i], {})) << i;
    }
  }
}

TEST(EmulatedZstdBatch, NoChunksAndTooLittleMemory) {
  expect_twins({}, {.level = zstd_level(3)});
  hemstitch_blocks blocks{};
  blocks.count = 1;
  blocks.max_block_bytes = blocks.total_block_bytes = 1000;
  const ZstdChunks chunks{.level = zstd_level(3)};
  const std::size_t needed = zstd_compress_temp_bytes_of_kernels(blocks, chunks);
  EXPECT_THROW(zstd_compress_by_kernels(blocks, chunks, {}, {&blocks, needed - 1}, nullptr), Error);
}

}  // namespace
}  // namespace hemstitch::testing
