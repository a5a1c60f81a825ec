// Chunks of Zstandard that the batch interface writes on a device: the twin's bytes, which libzstd reads.
#include <fmt/format.h>
#include <gtest/gtest.h>
#include <zstd.h>

#include "all_cores.hpp"
#include "batch/zstd_chunk.hpp"
#include "batch_pieces.hpp"
#include "lz4_batch.hpp"

namespace hemstitch {
namespace {

using namespace testing;

Bytes twins_chunk(const Bytes& content, int level) {
  Bytes chunk(zstd_chunk_bound(content.size()));
  chunk.resize(compress_zstd_chunk_reference(content, zstd_level(level), chunk).bytes);
  return chunk;
}

std::vector<Bytes> twins(const std::vector<Bytes>& contents, int level) {
  std::vector<Bytes> chunks(contents.size());
  on_all_cores(contents.size(), [&](std::size_t i) { chunks[i] = twins_chunk(contents[i], level); });
  return chunks;
}

class ZstdBatchDeviceTest : public BatchDeviceTest {
 protected:
  struct Written {
    std::vector<Bytes> rooms;
    std::vector<std::size_t> sizes;
    std::vector<hemstitch_status> statuses;
  };
  Written compress(const batch::Blocks& blocks, int level, const std::vector<std::size_t>& capacities,
                   bool as_graph = false) const {
    const Pieces output(capacities, stream());
    const Results results(capacities.size(), stream());
    const TempMemory temp(batch::blocks_compress_temp_bytes(Format::kZstd, blocks, level), stream());
    run(as_graph, [&] {
      batch::blocks_compress(Format::kZstd, blocks, level,
                             {.outputs = output.rooms(),
                              .capacities = output.sizes(),
                              .output_bytes = writable(results.d_bytes),
                              .statuses = writable(results.d_statuses)},
                             temp.span(), stream());
    });
    return {output.now(), download(results.d_bytes, stream()), download(results.d_statuses, stream())};
  }

  void expect_twins(const std::vector<Bytes>& contents, std::initializer_list<int> levels,
                    bool as_graph = false) const {
    const Pieces input(contents, stream());
    std::vector<std::size_t> capacities;
    for (const Bytes& content : contents) capacities.push_back(zstd_chunk_bound(content.size()));
    for (const int level : levels) {
      Written written = compress(blocks_of(input, contents), level, capacities, as_graph);
      const std::vector<Bytes> expected = twins(contents, level);
      for (std::size_t i = 0; i < contents.size(); ++i) {
        const std::string what = fmt::format("level {}, chunk {} of {} bytes", level, i, contents[i].size());
        ASSERT_EQ(written.statuses[i], HEMSTITCH_OK) << what;
        ASSERT_EQ(written.sizes[i], expected[i].size()) << what;
        Bytes room(capacities[i], Pieces::kGuard);  // and nothing behind the chunk
        std::ranges::copy(expected[i], room.begin());
        ASSERT_EQ(block_difference(what, room, written.rooms[i]), "");
        Bytes back(contents[i].size() + 1);
        ASSERT_EQ(ZSTD_decompress(back.data(), back.size(), expected[i].data(), expected[i].size()),
                  contents[i].size())
            << what;
        back.resize(contents[i].size());
        ASSERT_TRUE(back == contents[i]) << what;
      }
    }
  }
};

TEST_F(ZstdBatchDeviceTest, SmallChunksAreTheTwins) {
  std::vector<Bytes> contents;
  for (const std::size_t size : {0, 1, 2, 3, 100, 1000, 4095, 4096, 4097})
    for (Shape& shape : shapes_of(size)) contents.push_back(std::move(shape.bytes));
  expect_twins(contents, {-7, 0, 1, 3, 5});
  expect_twins({contents.begin(), contents.begin() + 60}, {10, 16, 22});
}

TEST_F(ZstdBatchDeviceTest, ChunksOfAllSizesAreTheTwins) {
  std::vector<Bytes> contents;
  for (const std::size_t size : {65'535, 65'536, 65'537, 200'000})
    for (Shape& shape : shapes_of(size)) contents.push_back(std::move(shape.bytes));
  contents.emplace_back();
  expect_twins(contents, {1, 3, 5});
  expect_twins({contents.end() - 12, contents.end()}, {10, 16});
  const Bytes words = wordy_bytes(500'000, 3);
  expect_twins({Bytes(), mixed_bytes(3'000'000, 1), Bytes(16 << 20, std::byte{3}), wordy_bytes(100, 1),
                words + random_bytes((8 << 20) - 200'000, 4) + words, random_bytes((1 << 20) + 1, 2)},
               {1, 3});
}

TEST_F(ZstdBatchDeviceTest, MayBeCapturedInAGraph) {
  std::vector<Bytes> contents;
  for (Shape& shape : shapes_of(70'000)) contents.push_back(std::move(shape.bytes));
  expect_twins(contents, {1, 5}, true);
}

// Chunks of one buffer, each behind the one before it, find nothing of each other.
TEST_F(ZstdBatchDeviceTest, ChunksOfOneBufferAreSeparate) {
  constexpr std::size_t kChunkBytes = 40'000;
  const Bytes words = wordy_bytes(kChunkBytes, 4);
  Bytes text;
  for (int i = 0; i < 8; ++i) text = text + words;
  const TextBlocks cut(text, kChunkBytes, 0, stream());
  for (const int level : {1, 3, 16}) {
    const Bytes expected = twins_chunk(words, level);
    const Written written =
        compress(cut.blocks, level, std::vector<std::size_t>(8, expected.size()));  // exactly enough
    for (std::size_t i = 0; i < 8; ++i) {
      ASSERT_EQ(written.statuses[i], HEMSTITCH_OK) << "level " << level;
      ASSERT_TRUE(written.rooms[i] == expected) << "level " << level << ", chunk " << i;
    }
  }
}

// More than is worked on at once: many small ones, and pointers to the same large ones.
TEST_F(ZstdBatchDeviceTest, LargeBatchesAreDividedIntoGroups) {
  struct Batch {
    std::size_t count;
    std::vector<Bytes> contents;  // in turn
  };
  for (const Batch& given :
       {Batch{40'000, {wordy_bytes(1000, 1), random_bytes(1000, 2), Bytes(1000)}},
        Batch{5000, {wordy_bytes(65'536, 1), wordy_bytes(65'536, 2)}},
        Batch{20'000, {Bytes(), wordy_bytes(70'000, 1), random_bytes(10, 1), wordy_bytes(3000, 2)}}}) {
    const Pieces input(given.contents, stream());
    std::vector<const void*> begins;
    std::vector<std::size_t> sizes, capacities;
    std::vector<Bytes> expected = twins(given.contents, 1);
    batch::Blocks blocks;
    for (std::size_t i = 0; i < given.count; ++i) {
      const std::size_t which = i % given.contents.size();
      begins.push_back(input.d_begin(which));
      sizes.push_back(given.contents[which].size());
      capacities.push_back(expected[which].size());
      blocks.max_block_bytes = std::max(blocks.max_block_bytes, sizes.back());
      blocks.total_block_bytes += sizes.back();
    }
    const auto d_begins = upload(begins, stream());
    const auto d_sizes = upload(sizes, stream());
    blocks.blocks = as_span(d_begins);
    blocks.block_bytes = as_span(d_sizes);
    const Written written = compress(blocks, 1, capacities);
    for (std::size_t i = 0; i < given.count; ++i) {
      ASSERT_EQ(written.statuses[i], HEMSTITCH_OK) << i << " of " << given.count;
      ASSERT_TRUE(written.rooms[i] == expected[i % given.contents.size()]) << i << " of " << given.count;
    }
  }
}

TEST_F(ZstdBatchDeviceTest, AChunkThatDoesNotFitIsNotWritten) {
  const std::vector<Bytes> contents{random_bytes(3000, 1),  wordy_bytes(3000, 2),   {}, {},
                                    wordy_bytes(70'000, 3), wordy_bytes(200'000, 4)};
  const Pieces input(contents, stream());
  for (const int level : {1, 5}) {
    const std::vector<Bytes> expected = twins(contents, level);
    for (const std::size_t odd : {0, 1}) {
      std::vector<std::size_t> capacities;
      for (std::size_t i = 0; i < contents.size(); ++i)
        capacities.push_back(expected[i].size() - (i % 2 == odd ? 1 : 0));
      const Written written = compress(blocks_of(input, contents), level, capacities);
      for (std::size_t i = 0; i < contents.size(); ++i) {
        const bool fits = i % 2 != odd;
        EXPECT_EQ(written.statuses[i], fits ? HEMSTITCH_OK : HEMSTITCH_OUTPUT_TOO_SMALL) << i;
        EXPECT_EQ(written.sizes[i], fits ? expected[i].size() : 0) << i;
        EXPECT_TRUE(written.rooms[i] == (fits ? expected[i] : Bytes(capacities[i], Pieces::kGuard))) << i;
      }
    }
  }
}

TEST_F(ZstdBatchDeviceTest, RealFilesAreTheTwins) {
  if (!corpora()) GTEST_SKIP() << "HEMSTITCH_CORPORA is not set";
  for (const char* const name : {"dickens", "nci", "samba", "x-ray"}) {
    const Bytes file = read_file(*corpora() / "silesia" / name, 1 << 20);
    std::vector<Bytes> chunks;
    for (std::size_t at = 0; at < file.size(); at += 65'536)
      chunks.emplace_back(file.begin() + static_cast<std::ptrdiff_t>(at),
                          file.begin() + static_cast<std::ptrdiff_t>(std::min(at + 65'536, file.size())));
    chunks.push_back(file);
    expect_twins(chunks, {1, 3, 5, 10, 16});
  }
}

}  // namespace
}  // namespace hemstitch
