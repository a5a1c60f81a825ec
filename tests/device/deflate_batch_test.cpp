// The DEFLATE part of the batch interface on a device: zlib must read the streams, which contain the twin's
// DEFLATE.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cstring>

#include "captured_graph.hpp"
#include "core/bytes.hpp"
#include "cuda_test.hpp"
#include "format/checksum.hpp"
#include "format/deflate/block/deflate_stored.hpp"
#include "format/deflate/compress/deflate_compress_reference.hpp"
#include "format/deflate/frame/deflate_stream_reference.hpp"
#include "gzip_members.hpp"
#include "hemstitch/batch.h"
#include "hemstitch/hemstitch.hpp"
#include "lz4_batch.hpp"
#include "restore_batch.hpp"
#include "zlib_oracle.hpp"

namespace hemstitch {
namespace {

using namespace testing;

using DeflateBatchDeviceTest = CudaTest;

constexpr std::int32_t kFormats[] = {HEMSTITCH_DEFLATE_RAW, HEMSTITCH_DEFLATE_ZLIB, HEMSTITCH_DEFLATE_GZIP,
                                     HEMSTITCH_DEFLATE_BGZF};

std::size_t lead_bytes(std::int32_t format) {
  constexpr std::size_t kLeads[] = {0, 2, 10, 18};
  return kLeads[format];
}
std::size_t trail_bytes(std::int32_t format) {
  constexpr std::size_t kTrails[] = {0, 4, 8, 8};
  return kTrails[format];
}

Bytes twins_deflate(const FinderCase& one, int level) {
  Bytes block(deflate_data_room(one.input().block_bytes()));
  block.resize(
      compress_deflate_block_reference(one.input(), deflate_level(level), DeflateEnd::kFinal, block).bytes);
  return block;
}

// The arrays of a batch on the device.
struct GivenBlocks {
  GivenBlocks(const std::vector<FinderCase>& cases, const cuda::Stream& stream) : batch(cases, stream) {
    std::vector<const void*> begins;
    std::vector<std::size_t> sizes;
    std::vector<std::uint32_t> histories;
    std::vector<DeviceBlock> blocks(cases.size());
    if (!blocks.empty())
      cuda::check(cudaMemcpy(blocks.data(), batch.blocks().d_blocks, blocks.size() * sizeof(DeviceBlock),
                             cudaMemcpyDeviceToHost),
                  "cudaMemcpy");
    for (const DeviceBlock& block : blocks) {
      begins.push_back(block.d_block);
      sizes.push_back(block.block_bytes);
      histories.push_back(block.history_bytes);
    }
    d_begins = cuda::DeviceBuffer<const void*>(begins.size(), stream.get());
    d_sizes = cuda::DeviceBuffer<std::size_t>(sizes.size(), stream.get());
    d_histories = cuda::DeviceBuffer<std::uint32_t>(histories.size(), stream.get());
    d_begins.upload(begins);
    d_sizes.upload(sizes);
    d_histories.upload(histories);
    stream.synchronize();
    given.blocks = d_begins.get();
    given.block_bytes = d_sizes.get();
    given.history_bytes = batch.blocks().max_history_bytes == 0 ? nullptr : d_histories.get();
    given.count = batch.blocks().block_count;
    given.max_history_bytes = batch.blocks().max_history_bytes;
    given.max_block_bytes = batch.blocks().max_block_bytes;
    given.total_block_bytes = batch.blocks().total_block_bytes;
  }

  FinderBatch batch;
  cuda::DeviceBuffer<const void*> d_begins;
  cuda::DeviceBuffer<std::size_t> d_sizes;
  cuda::DeviceBuffer<std::uint32_t> d_histories;
  hemstitch_deflate_blocks given{};
};

OutputRooms::Result compress(const hemstitch_deflate_blocks& blocks, std::int32_t format, int level,
                             const std::vector<std::size_t>& capacities, bool give_capacities,
                             const cuda::Stream& stream) {
  std::size_t temp_bytes = 0;
  EXPECT_EQ(hemstitch_deflate_compress_temp_bytes(&blocks, format, level, &temp_bytes), HEMSTITCH_OK);
  const OutputRooms rooms(capacities, stream.get());
  const Scratch temp(temp_bytes, stream.get());
  const cuda::DeviceLz4Output output = rooms.output();
  EXPECT_EQ(hemstitch_deflate_compress_async(
                &blocks, format, level, reinterpret_cast<void* const*>(output.d_outputs),
                give_capacities ? output.d_capacities : nullptr, output.d_output_bytes, output.d_statuses,
                temp.get(), temp.bytes(), stream.get()),
            HEMSTITCH_OK)
      << hemstitch_last_error_message();
  return rooms.result();
}

TEST_F(DeflateBatchDeviceTest, StreamsAreReadByZlibAndHoldTheTwinsBytes) {
  const cuda::Stream stream;
  std::vector<FinderCase> cases;
  for (const std::size_t size : {0, 1, 2, 1000, 65279, 65280})
    for (Shape& shape : shapes_of(size)) cases.push_back({std::move(shape.name), std::move(shape.bytes), 0});
  const GivenBlocks blocks(cases, stream);
  for (const std::int32_t format : kFormats)
    for (const int level : {1, 6, 12}) {
      const std::size_t bound = hemstitch_deflate_compress_bound(format, blocks.given.max_block_bytes);
      const OutputRooms::Result got =
          compress(blocks.given, format, level, std::vector<std::size_t>(cases.size(), bound), false, stream);
      EXPECT_EQ(got.guards, "");
      for (std::size_t i = 0; i < cases.size(); ++i) {
        const std::string what =
            fmt::format("format {}, level {}, block {} ({})", format, level, i, cases[i].name);
        ASSERT_EQ(got.statuses[i], HEMSTITCH_OK) << what;
        const Bytes& written = got.blocks[i];
        const std::size_t lead = lead_bytes(format), trail = trail_bytes(format);
        ASSERT_GE(written.size(), lead + trail) << what;
        const Bytes inside(written.begin() + static_cast<std::ptrdiff_t>(lead),
                           written.end() - static_cast<std::ptrdiff_t>(trail));
        ASSERT_EQ(block_difference(what, twins_deflate(cases[i], level), inside), "");
        const auto restored = inflated_by_zlib(written, format == HEMSTITCH_DEFLATE_RAW ? ZlibKind::kDeflate
                                                        : format == HEMSTITCH_DEFLATE_ZLIB ? ZlibKind::kZlib
                                                                                           : ZlibKind::kGzip);
        ASSERT_TRUE(restored && *restored == cases[i].data) << what;
        if (format == HEMSTITCH_DEFLATE_BGZF) {
          EXPECT_EQ(static_cast<std::size_t>(written[16]) + (static_cast<std::size_t>(written[17]) << 8),
                    written.size() - 1)
              << what;
        }
      }
    }
}

// Also determines only sizes; and restores an invalid stream, and one with too little room.
TEST_F(DeflateBatchDeviceTest, RestoresWhatItCompressed) {
  const cuda::Stream stream;
  std::vector<FinderCase> cases;
  for (Shape& shape : shapes_of(70'000)) cases.push_back({std::move(shape.name), std::move(shape.bytes), 0});
  std::vector<std::size_t> capacities(cases.size(), 70'000);
  std::vector<hemstitch_status> expected(cases.size(), HEMSTITCH_OK);
  capacities[1] = 69'999;
  expected[1] = HEMSTITCH_OUTPUT_TOO_SMALL;
  expected[2] = HEMSTITCH_CORRUPT_BLOCK;
  std::vector<cuda::DeviceBuffer<std::byte>> d_streams;
  std::vector<const void*> begins;
  std::vector<std::size_t> sizes;
  for (std::size_t i = 0; i < cases.size(); ++i) {
    Bytes bytes = twins_deflate(cases[i], 6);
    if (i == 2) bytes.push_back(std::byte{0});
    d_streams.emplace_back(bytes.size(), stream.get()).upload(bytes);
    stream.synchronize();
    begins.push_back(d_streams.back().get());
    sizes.push_back(bytes.size());
  }
  cuda::DeviceBuffer<const void*> d_begins(begins.size(), stream.get());
  cuda::DeviceBuffer<std::size_t> d_sizes(sizes.size(), stream.get());
  d_begins.upload(begins);
  d_sizes.upload(sizes);
  const hemstitch_deflate_streams given{d_begins.get(), d_sizes.get(), cases.size(),
                                        *std::max_element(sizes.begin(), sizes.end())};
  std::size_t temp_bytes = 0;
  ASSERT_EQ(hemstitch_deflate_restore_temp_bytes(&given, HEMSTITCH_DEFLATE_RAW, 70'000, &temp_bytes),
            HEMSTITCH_OK);
  const Scratch temp(temp_bytes, stream.get());
  for (const bool sizes_alone : {false, true}) {
    const OutputRooms rooms(capacities, stream.get());
    const cuda::DeviceLz4Output output = rooms.output();
    ASSERT_EQ(hemstitch_deflate_restore_async(
                  &given, HEMSTITCH_DEFLATE_RAW,
                  sizes_alone ? nullptr : reinterpret_cast<void* const*>(output.d_outputs),
                  output.d_capacities, 70'000, nullptr, output.d_output_bytes, output.d_statuses, temp.get(),
                  temp.bytes(), stream.get()),
              HEMSTITCH_OK)
        << hemstitch_last_error_message();
    const OutputRooms::Result got = rooms.result();
    EXPECT_EQ(got.guards, "");
    for (std::size_t i = 0; i < cases.size(); ++i) {
      EXPECT_EQ(got.statuses[i], expected[i]) << cases[i].name;
      const Bytes& content = expected[i] == HEMSTITCH_OK ? cases[i].data : Bytes();
      EXPECT_EQ(got.blocks[i].size(), content.size()) << cases[i].name;
      if (!sizes_alone) {
        EXPECT_TRUE(got.blocks[i] == content) << cases[i].name;
      }
    }
  }
}

Format format_of(std::int32_t format) {
  constexpr Format kIds[] = {Format::kDeflate, Format::kZlib, Format::kGzip, Format::kBgzf};
  return kIds[format];
}

std::vector<Chunk> chunks_of(std::int32_t format) {
  std::vector<StreamCase> cases = format == HEMSTITCH_DEFLATE_ZLIB   ? zlib_cases()
                                  : format == HEMSTITCH_DEFLATE_GZIP ? gzip_cases()
                                                                     : bgzf_cases();
  std::vector<Chunk> chunks;
  for (StreamCase& one : cases)
    chunks.push_back({std::move(one.stream), one.capacity, std::move(one.history), "a case"});
  // Streams of real size.
  for (Shape& shape : shapes_of(60'000)) {
    const Bytes stream = format == HEMSTITCH_DEFLATE_ZLIB
                             ? zlib_stream(shape.bytes, 6, Z_DEFAULT_STRATEGY, 8, MAX_WBITS)
                         : format == HEMSTITCH_DEFLATE_GZIP ? gzip_member(shape.bytes)
                                                            : bgzf_member(shape.bytes);
    chunks.push_back({stream, shape.bytes.size(), {}, shape.name});
    chunks.push_back({changed_at(stream, stream.size() / 2), shape.bytes.size(), {}, shape.name});
  }
  return chunks;
}

Restored restored_by_reference(std::int32_t format, const Chunk& chunk) {
  Restored restored;
  restored.output.resize(chunk.capacity);
  const DeflateStreamRestored got =
      restore_deflate_stream_reference(format_of(format), chunk.block, chunk.history, restored.output);
  restored.status = static_cast<hemstitch_status>(got.status);
  restored.bytes = got.output_bytes;
  restored.output.resize(restored.bytes);
  return restored;
}

// Only sizes are determined, so errors that depend on the content or the dictionary are not found.
Restored sized_by_reference(std::int32_t format, const Chunk& chunk) {
  Restored restored = restored_by_reference(format, chunk);
  if (restored.status != HEMSTITCH_CONTENT_CHECKSUM_MISMATCH &&
      restored.status != HEMSTITCH_BLOCK_CHECKSUM_MISMATCH)
    return restored;
  restored.status = HEMSTITCH_OK;
  if (format != HEMSTITCH_DEFLATE_ZLIB) {
    restored.bytes = load_le32(chunk.block.data() + chunk.block.size() - 4);
    return restored;
  }
  // The stream between the header (and the dictionary's checksum, if there is one) and the trailer.
  const std::ptrdiff_t lead = (std::to_integer<unsigned>(chunk.block[1]) & 0x20) != 0 ? 6 : 2;
  Chunk inside = chunk;
  inside.block = Bytes(chunk.block.begin() + lead, chunk.block.end() - 4);
  if (lead == 2) inside.history.clear();
  restored.bytes = restored_by_reference(HEMSTITCH_DEFLATE_RAW, inside).bytes;
  return restored;
}

// Captured in a graph, which is launched twice.
TEST_F(DeflateBatchDeviceTest, StreamsHaveTheReferencesStatusesSizesAndBytes) {
  const cuda::Stream stream;
  for (const std::int32_t format : {HEMSTITCH_DEFLATE_ZLIB, HEMSTITCH_DEFLATE_GZIP, HEMSTITCH_DEFLATE_BGZF})
    for (const bool sizes_alone : {false, true}) {
      std::vector<Chunk> chunks = chunks_of(format);
      if (sizes_alone)
        std::erase_if(chunks, [&](const Chunk& chunk) {
          return restored_by_reference(format, chunk).status == HEMSTITCH_DICTIONARY_MISMATCH;
        });
      RestoreBatch rooms(chunks, stream.get());
      const cuda::DeviceRestore& batch = rooms.batch();
      const hemstitch_deflate_streams given{reinterpret_cast<const void* const*>(batch.d_blocks),
                                            batch.d_block_bytes, batch.count, batch.max_block_bytes};
      std::size_t temp_bytes = 0;
      ASSERT_EQ(hemstitch_deflate_restore_temp_bytes(&given, format, batch.max_capacity, &temp_bytes),
                HEMSTITCH_OK);
      const Scratch temp(temp_bytes, stream.get());
      stream.synchronize();
      const CapturedGraph graph(stream.get(), [&] {
        ASSERT_EQ(hemstitch_deflate_restore_async(
                      &given, format, sizes_alone ? nullptr : reinterpret_cast<void* const*>(batch.d_outputs),
                      batch.d_capacities, batch.max_capacity, batch.d_history_bytes, batch.d_output_bytes,
                      batch.d_statuses, temp.get(), temp.bytes(), stream.get()),
                  HEMSTITCH_OK)
            << hemstitch_last_error_message();
      });
      for (int launch = 0; launch < 2; ++launch) {
        rooms.poison();
        graph.launch();
        const std::vector<Restored> restored = rooms.results();
        ASSERT_TRUE(same(
            chunks, restored,
            [&](const Chunk& chunk) {
              return sizes_alone ? sized_by_reference(format, chunk) : restored_by_reference(format, chunk);
            },
            sizes_alone))
            << "format " << format << (sizes_alone ? ", sizes alone" : "");
      }
    }
}

// Every stream that exceeds a limit must be reported, and no other.
TEST_F(DeflateBatchDeviceTest, StreamsThatBreakABoundAreToldOf) {
  const cuda::Stream stream;
  const Bytes content = wordy_bytes(1000), small = wordy_bytes(10);
  const std::vector<Chunk> chunks = {{gzip_member(small), 10},
                                     {gzip_member(content), 1000},
                                     {gzip_member(small), 1001},
                                     {gzip_member(small), 10}};
  RestoreBatch rooms(chunks, stream.get());
  const cuda::DeviceRestore& batch = rooms.batch();
  for (const auto& [max_stream_bytes, max_output_bytes] :
       {std::pair(chunks[0].block.size(), std::size_t{1001}),
        std::pair(batch.max_block_bytes, std::size_t{1000})}) {
    const hemstitch_deflate_streams given{reinterpret_cast<const void* const*>(batch.d_blocks),
                                          batch.d_block_bytes, batch.count, max_stream_bytes};
    std::size_t temp_bytes = 0;
    ASSERT_EQ(
        hemstitch_deflate_restore_temp_bytes(&given, HEMSTITCH_DEFLATE_GZIP, max_output_bytes, &temp_bytes),
        HEMSTITCH_OK);
    const Scratch temp(temp_bytes, stream.get());
    const auto restore = [&](std::size_t given_temp_bytes) {
      return hemstitch_deflate_restore_async(
          &given, HEMSTITCH_DEFLATE_GZIP, reinterpret_cast<void* const*>(batch.d_outputs), batch.d_capacities,
          max_output_bytes, nullptr, batch.d_output_bytes, batch.d_statuses, temp.get(), given_temp_bytes,
          stream.get());
    };
    EXPECT_EQ(restore(temp.bytes() - 1), HEMSTITCH_INVALID_OPTION);
    rooms.poison();
    ASSERT_EQ(restore(temp.bytes()), HEMSTITCH_OK) << hemstitch_last_error_message();
    const std::vector<Restored> restored = rooms.results();
    const std::size_t broken = max_output_bytes == 1000 ? 2 : 1;
    for (std::size_t i = 0; i < chunks.size(); ++i) {
      EXPECT_EQ(restored[i].status, i == broken ? HEMSTITCH_INVALID_OPTION : HEMSTITCH_OK) << i;
      EXPECT_EQ(restored[i].bytes, i == broken ? 0 : i == 1 ? 1000u : 10u) << i;
    }
  }
}

TEST_F(DeflateBatchDeviceTest, CapacitiesHoldToTheByte) {
  const cuda::Stream stream;
  std::vector<FinderCase> cases;
  for (Shape& shape : shapes_of(70'000)) cases.push_back({std::move(shape.name), std::move(shape.bytes), 0});
  const GivenBlocks blocks(cases, stream);
  for (const std::int32_t format : {HEMSTITCH_DEFLATE_RAW, HEMSTITCH_DEFLATE_GZIP}) {
    std::vector<std::size_t> capacities;
    for (std::size_t i = 0; i < cases.size(); ++i)
      capacities.push_back(lead_bytes(format) + twins_deflate(cases[i], 6).size() + trail_bytes(format) -
                           i % 2);
    const OutputRooms::Result got = compress(blocks.given, format, 6, capacities, true, stream);
    EXPECT_EQ(got.guards, "");
    for (std::size_t i = 0; i < cases.size(); ++i) {
      EXPECT_EQ(got.statuses[i], i % 2 == 0 ? HEMSTITCH_OK : HEMSTITCH_OUTPUT_TOO_SMALL) << i;
      EXPECT_EQ(got.blocks[i].size(), i % 2 == 0 ? capacities[i] : 0) << i;
    }
  }
}

TEST_F(DeflateBatchDeviceTest, HistoriesServeRawStreams) {
  const cuda::Stream stream;
  const std::vector<FinderCase> cases = row_cases(wordy_bytes(300'000), 50'000, 32768);
  const GivenBlocks blocks(cases, stream);
  const std::size_t bound = hemstitch_deflate_compress_bound(HEMSTITCH_DEFLATE_RAW, 50'000);
  const OutputRooms::Result got = compress(blocks.given, HEMSTITCH_DEFLATE_RAW, 6,
                                           std::vector<std::size_t>(cases.size(), bound), false, stream);
  for (std::size_t i = 0; i < cases.size(); ++i) {
    ASSERT_EQ(got.statuses[i], HEMSTITCH_OK);
    ASSERT_EQ(block_difference(fmt::format("block {}", i), twins_deflate(cases[i], 6), got.blocks[i]), "");
  }
}

TEST_F(DeflateBatchDeviceTest, ABlockThatBreaksABoundIsLeftOutAndToldOf) {
  const cuda::Stream stream;
  const std::vector<FinderCase> cases = {{"first", wordy_bytes(1000), 0},
                                         {"too large", wordy_bytes(2000), 0},
                                         {"last", wordy_bytes(900), 0},
                                         {"behind the end", wordy_bytes(1000), 0}};
  GivenBlocks blocks(cases, stream);
  blocks.given.max_block_bytes = 1000;
  blocks.given.total_block_bytes = 1900;
  const OutputRooms::Result got = compress(blocks.given, HEMSTITCH_DEFLATE_GZIP, 6,
                                           std::vector<std::size_t>(cases.size(), 3000), true, stream);
  EXPECT_EQ(got.guards, "");
  EXPECT_EQ(got.statuses, (std::vector<hemstitch_status>{HEMSTITCH_OK, HEMSTITCH_INVALID_OPTION, HEMSTITCH_OK,
                                                         HEMSTITCH_OUTPUT_TOO_SMALL}));
  for (const std::size_t i : {0, 2}) {
    const auto restored = inflated_by_zlib(got.blocks[i], ZlibKind::kGzip);
    EXPECT_TRUE(restored && *restored == cases[i].data) << i;
  }
  EXPECT_TRUE(got.blocks[1].empty() && got.blocks[3].empty());
}

TEST_F(DeflateBatchDeviceTest, EmptyBatchesAreNothing) {
  const hemstitch_deflate_blocks none{};
  std::size_t temp_bytes = 0;
  ASSERT_EQ(hemstitch_deflate_compress_temp_bytes(&none, HEMSTITCH_DEFLATE_GZIP, 6, &temp_bytes),
            HEMSTITCH_OK);
  const cuda::Stream stream;
  const Scratch temp(temp_bytes, stream.get());
  EXPECT_EQ(hemstitch_deflate_compress_async(&none, HEMSTITCH_DEFLATE_GZIP, 6, nullptr, nullptr, nullptr,
                                             nullptr, temp.get(), temp.bytes(), stream.get()),
            HEMSTITCH_OK)
      << hemstitch_last_error_message();
  EXPECT_EQ(hemstitch_crc32_async(nullptr, nullptr, 0, nullptr, stream.get()), HEMSTITCH_OK);
}

TEST_F(DeflateBatchDeviceTest, TooLittleTemporaryMemoryIsAnError) {
  const cuda::Stream stream;
  const GivenBlocks blocks({{"one", wordy_bytes(1000), 0}}, stream);
  std::size_t temp_bytes = 0;
  ASSERT_EQ(hemstitch_deflate_compress_temp_bytes(&blocks.given, HEMSTITCH_DEFLATE_RAW, 6, &temp_bytes),
            HEMSTITCH_OK);
  const OutputRooms rooms({3000}, stream.get());
  const Scratch temp(temp_bytes, stream.get());
  const cuda::DeviceLz4Output output = rooms.output();
  EXPECT_EQ(hemstitch_deflate_compress_async(&blocks.given, HEMSTITCH_DEFLATE_RAW, 6,
                                             reinterpret_cast<void* const*>(output.d_outputs), nullptr,
                                             output.d_output_bytes, output.d_statuses, temp.get(),
                                             temp.bytes() - 1, stream.get()),
            HEMSTITCH_INVALID_OPTION);
}

}  // namespace
}  // namespace hemstitch
