// Zstandard's encoder for CUDA devices on the processor, but for its near finders (finders_by_twins.cpp), compared with its twin: parts of frames, with
// and without history.
#include <gtest/gtest.h>

#include <memory>

#include "format/zstd/compress/zstd_compress_cuda.hpp"
#include "format/zstd/compress/zstd_compress_reference.hpp"
#include "format/zstd/zstd_limits.hpp"
#include "gpu/cuda/scratch.hpp"
#include "kernel_buffer.hpp"
#include "shapes.hpp"

namespace hemstitch::testing {
namespace {

// A piece of memory, cut into parts: each with all that is before it as history, or the last `history_bytes`.
struct CutFile {
  Bytes bytes;
  std::size_t first_history;  // of the bytes
  std::size_t part_bytes;
  std::size_t most_history = 8 << 20;
};

void expect_twin(const std::vector<CutFile>& files, int level, std::size_t lead_bytes = 0,
                 std::size_t trail_bytes = 0) {
  std::vector<std::unique_ptr<KernelBuffer>> memory;
  std::vector<DeviceBlock> parts;
  std::vector<FinderInput> inputs;
  DeviceBlocks batch;
  std::size_t room = 0;
  for (const CutFile& file : files) {
    memory.push_back(std::make_unique<KernelBuffer>(file.bytes));
    const std::span<const std::byte> data = memory.back()->bytes();
    std::size_t begin = file.first_history;
    do {
      const std::size_t bytes = std::min(file.part_bytes, data.size() - begin);
      const std::size_t history = std::min(begin, file.most_history);
      inputs.push_back({data.subspan(begin - history, history + bytes), history});
      parts.push_back({data.data() + begin, static_cast<std::uint32_t>(bytes),
                       static_cast<std::uint32_t>(history), batch.total_block_bytes});
      batch.max_block_bytes = std::max(batch.max_block_bytes, parts.back().block_bytes);
      batch.max_history_bytes = std::max(batch.max_history_bytes, parts.back().history_bytes);
      batch.total_block_bytes += bytes;
      room += lead_bytes + zstd_data_room(bytes) + trail_bytes;
      begin += bytes;
    } while (begin < data.size());
  }
  batch.d_blocks = parts.data();
  batch.block_count = static_cast<std::uint32_t>(parts.size());

  const ZstdLevel numbers = zstd_level(level);
  KernelBuffer output(room);
  std::ranges::fill(output.bytes(), std::byte{0x5F});
  std::vector<std::uint64_t> offsets(parts.size() + 1);
  std::vector<std::uint32_t> sizes(parts.size());
  std::vector<hemstitch_status> statuses(parts.size(), HEMSTITCH_INTERNAL);
  KernelBuffer scratch(cuda::compress_zstd_span_cuda_scratch_bytes(batch, numbers));
  // Tables of far take most of it.
  std::ranges::fill(scratch.bytes().first(std::min<std::size_t>(scratch.bytes().size(), 10 << 20)),
                    std::byte{0x5F});
  cuda::compress_zstd_span_cuda(batch, numbers,
                                {.d_span = output.bytes().data(),
                                 .capacity_bytes = room,
                                 .lead_bytes = static_cast<std::uint32_t>(lead_bytes),
                                 .trail_bytes = static_cast<std::uint32_t>(trail_bytes),
                                 .d_offsets = offsets.data(),
                                 .d_sizes = sizes.data(),
                                 .d_statuses = statuses.data()},
                                scratch.bytes().data(), scratch.bytes().size(), nullptr);
  for (std::size_t i = 0; i < parts.size(); ++i) {
    const std::string what = "level " + std::to_string(level) + ", part " + std::to_string(i);
    Bytes expected(zstd_data_room(inputs[i].block_bytes()));
    const EncodedBlock encoded = compress_zstd_part_reference(inputs[i], numbers, expected);
    ASSERT_EQ(statuses[i], HEMSTITCH_OK) << what;
    ASSERT_EQ(sizes[i], encoded.bytes) << what;
    ASSERT_EQ(offsets[i + 1] - offsets[i], lead_bytes + encoded.bytes + trail_bytes) << what;
    const auto written = output.bytes().subspan(offsets[i], lead_bytes + encoded.bytes + trail_bytes);
    ASSERT_TRUE(std::ranges::equal(written.subspan(lead_bytes, encoded.bytes),
                                   std::span(expected).first(encoded.bytes)))
        << what;
    for (const auto around : {written.first(lead_bytes), written.last(trail_bytes)})
      for (const std::byte byte : around) ASSERT_EQ(byte, std::byte{0x5F}) << what;
  }
}

constexpr int kLevels[] = {1, 3, 5, 10, 16};

TEST(EmulatedZstdCompress, SmallParts) {
  std::size_t tried = 0;
  for (const int level : kLevels) {
    std::vector<CutFile> files{{{}, 0, 10}};
    std::uint32_t seed = 1;
    for (const std::size_t bytes : {1, 2, 3, 4, 100, 8191, 8192, 20'000})
      if (tried++ % kTriedOneOf == 0)
        files.push_back({mixed_bytes(bytes + (bytes % 2) * 5000, seed++), bytes % 2 * 5000, 1 + bytes / 3});
    expect_twin(files, level, 3, 5);
  }
}

// Parts of one and two blocks, and one byte more; genomes, whose short matches are dropped.
TEST(EmulatedZstdCompress, Blocks) {
  std::size_t tried = 0;
  for (const int level : kLevels) {
    if (tried++ % kTriedOneOf != 0) continue;
    expect_twin({{wordy_bytes(65'536 + 40'001, 1), 40'000, 65'536},
                 {random_bytes(65'537 + 9000, 2, 4), 9000, 65'537},
                 {random_bytes(65'536, 3), 0, 65'535}},
                level);
  }
}

// Matches do not go over the end of what is searched, and are found far behind it.
TEST(EmulatedZstdCompress, PiecesOfAPart) {
  const Bytes words = wordy_bytes(300'000, 7);
  expect_twin({{words + random_bytes(700'000, 9) + words + Bytes(200'000, std::byte{0}), 150'001, 2 << 20}},
              3);
}

TEST(EmulatedZstdCompress, ScratchOfLargeBatches) {
  for (const int level : kLevels)
    for (const std::uint32_t megabytes : {256u, 1024u}) {
      const DeviceBlocks batch{.d_blocks = nullptr,
                               .block_count = megabytes / 4,
                               .max_block_bytes = 4 << 20,
                               .max_history_bytes = 8 << 20,
                               .total_block_bytes = std::uint64_t{megabytes} << 20};
      EXPECT_LE(cuda::compress_zstd_span_cuda_scratch_bytes(batch, zstd_level(level)),
                20 * batch.total_block_bytes)
          << "level " << level << ", " << megabytes << " MB";
    }
}

TEST(EmulatedZstdCompress, NoParts) {
  for (const int level : kLevels) expect_twin({}, level);
}

// A part that does not fit is not written, and those behind it say what would be needed.
TEST(EmulatedZstdCompress, TooLittleRoom) {
  const Bytes content = random_bytes(3000, 4);
  const DeviceBlock parts[] = {{content.data(), 1000, 0, 0}, {content.data() + 1000, 2000, 0, 1000}};
  const DeviceBlocks batch{
      .d_blocks = parts, .block_count = 2, .max_block_bytes = 2000, .total_block_bytes = 3000};
  KernelBuffer output(3000);
  std::uint64_t offsets[3];
  std::uint32_t sizes[2];
  hemstitch_status statuses[2];
  Bytes scratch(cuda::compress_zstd_span_cuda_scratch_bytes(batch, zstd_level(1)));
  const cuda::DeviceSpan span{.d_span = output.bytes().data(),
                              .capacity_bytes = 3000,
                              .lead_bytes = 0,
                              .trail_bytes = 0,
                              .d_offsets = offsets,
                              .d_sizes = sizes,
                              .d_statuses = statuses};
  cuda::compress_zstd_span_cuda(batch, zstd_level(1), span, scratch.data(), scratch.size(), nullptr);
  EXPECT_EQ(statuses[0], HEMSTITCH_OK);
  EXPECT_EQ(statuses[1], HEMSTITCH_OUTPUT_TOO_SMALL);
  EXPECT_EQ(offsets[2], 3006u);
  EXPECT_THROW(
      cuda::compress_zstd_span_cuda(batch, zstd_level(1), span, scratch.data(), scratch.size() - 1, nullptr),
      Error);
}

}  // namespace
}  // namespace hemstitch::testing
