// Restoring Zstandard on a CUDA device, compared with restore_zstd_chunk_reference(): bytes, sizes and statuses of sound
// frames and of all kinds of damage. Every output is between guard bytes.
#include <cstdlib>
#include <random>
#include <string>

#include "all_cores.hpp"
#include "cuda_test.hpp"
#include "format/checksum.hpp"
#include "format/zstd/frame/zstd_checksum_cuda.hpp"
#include "format/zstd/frame/zstd_chunk_reference.hpp"
#include "format/zstd/restore/zstd_restore_cuda.hpp"
#include "gpu/cuda/device_buffer.hpp"
#include "restore_batch.hpp"
#include "shapes.hpp"
#include "valid_data/valid_data.hpp"
#include "zstd_frames.hpp"

namespace hemstitch {
namespace {

using testing::Bytes;
using testing::Chunk;
using testing::on_all_cores;
using testing::RestoreBatch;
using testing::Restored;
using testing::written_by_libzstd;

Restored by_reference(const Chunk& chunk) {
  Restored restored{.output = Bytes(chunk.capacity)};
  const ZstdChunkResult result = restore_zstd_chunk_reference(chunk.block, restored.output);
  restored.status = static_cast<hemstitch_status>(result.status);
  restored.bytes = result.output_bytes;
  restored.output.resize(result.output_bytes);
  return restored;
}

// Without outputs, content checksums are not verified.
Restored sizes_by_reference(const Chunk& chunk) {
  Restored restored = by_reference(chunk);
  if (restored.status != HEMSTITCH_CONTENT_CHECKSUM_MISMATCH) return restored;
  const testing::ZstdRead read = testing::read_by_libzstd(chunk.block);
  return {HEMSTITCH_OK, read.content.size()};
}

void restore(RestoreBatch& on_device) {
  const std::size_t scratch_bytes = cuda::restore_zstd_cuda_scratch_bytes(on_device.batch());
  const cuda::DeviceBuffer<std::byte> scratch(scratch_bytes + 1, on_device.stream());
  cuda::restore_zstd_cuda(on_device.batch(), scratch.get() + 1, scratch_bytes, on_device.stream());
}

class ZstdRestoreDeviceTest : public CudaStreamTest {
 protected:
  // With and without output.
  void expect_same(std::span<const Chunk> chunks) const {
    RestoreBatch batch(chunks, stream());
    batch.poison();
    restore(batch);
    ASSERT_TRUE(testing::same(chunks, batch.results(), by_reference));
    batch.poison();
    batch.batch().d_outputs = nullptr;
    restore(batch);
    ASSERT_TRUE(testing::same(chunks, batch.results(), sizes_by_reference, true)) << "sizes alone";
  }
};

TEST_F(ZstdRestoreDeviceTest, RestoresEveryShapeAtEveryLevel) {
  std::vector<Chunk> chunks;
  for (const testing::Shape& shape : testing::boundary_shapes(131'073))
    for (const int level : {-5, 1, 3, 9, 19}) {
      const Bytes frame = written_by_libzstd(shape.bytes, {.level = level, .content_size = level != 9});
      const std::string name = shape.name + ", level " + std::to_string(level);
      chunks.push_back({frame, shape.bytes.size(), {}, name + ", exact"});
      if (!shape.bytes.empty()) chunks.push_back({frame, shape.bytes.size() - 1, {}, name + ", one short"});
      chunks.push_back({frame, shape.bytes.size() + 300, {}, name + ", room left"});
    }
  expect_same(chunks);
}

TEST_F(ZstdRestoreDeviceTest, RestoresFramesThatNoEncoderWrites) {
  std::vector<testing::ValidData> made(3000);
  on_all_cores(made.size(),
               [&](std::size_t i) { made[i] = testing::valid_zstd_frame(i, i % 50 == 0 ? 300'000 : 5000); });
  std::vector<Chunk> chunks;
  for (std::size_t i = 0; i < made.size(); ++i)
    chunks.push_back({made[i].data, made[i].content.size(), {}, "seed " + std::to_string(i)});
  expect_same(chunks);
}

TEST_F(ZstdRestoreDeviceTest, RestoresRealFiles) {
  const char* const folder = std::getenv("HEMSTITCH_CORPORA");
  if (folder == nullptr) GTEST_SKIP() << "HEMSTITCH_CORPORA is not set";
  for (const char* name : {"dickens", "nci", "x-ray", "ooffice"}) {
    Bytes file = testing::read_file(std::filesystem::path(folder) / "silesia" / name);
    file.resize(std::min<std::size_t>(file.size(), 4 << 20));
    for (const std::size_t chunk_bytes : {std::size_t{4096}, std::size_t{65536}, std::size_t{1} << 20}) {
      std::vector<Chunk> chunks((file.size() + chunk_bytes - 1) / chunk_bytes);
      on_all_cores(chunks.size(), [&](std::size_t i) {
        const std::size_t begin = i * chunk_bytes;
        const auto content = std::span(file).subspan(begin, std::min(chunk_bytes, file.size() - begin));
        constexpr int kLevels[] = {1, 3, 12};
        chunks[i] = {written_by_libzstd(content, {.level = kLevels[i % 3]}), content.size(), {}, name};
      });
      expect_same(chunks);
    }
  }
}

// Where a hostile frame could make a kernel slow, or a sum overflow.
TEST_F(ZstdRestoreDeviceTest, RestoresHostileShapes) {
  std::vector<Chunk> chunks;
  const auto add = [&](std::string name, const Bytes& content, testing::ZstdSettings settings) {
    chunks.push_back({written_by_libzstd(content, settings), content.size(), {}, std::move(name)});
  };
  for (const std::size_t period :
       {1, 2, 3, 5, 31, 32, 33, 127, 128, 129, 255, 1023, 1024, 1025, 65536, 131072})
    add("period " + std::to_string(period), testing::periodic_bytes(400'000, period), {.level = 19});
  // Each match is of three bytes, and copies what the one before has copied.
  Bytes short_matches;
  for (unsigned i = 0; i < 40'000; ++i)
    for (const unsigned byte : {i % 7, i % 5, 7u, i * 2654435761u >> 28})
      short_matches.push_back(static_cast<std::byte>(byte));
  add("short matches", short_matches, {.level = 22});
  add("windows of 1 KB", testing::wordy_bytes(300'000), {.window_log = 10});
  // Many blocks, of which most are empty.
  Bytes empty_blocks{std::byte{0x28}, std::byte{0xB5}, std::byte{0x2F},
                     std::byte{0xFD}, std::byte{0},    std::byte{0x58}};
  for (unsigned i = 0; i < 200'000; ++i) empty_blocks.insert(empty_blocks.end(), 3, std::byte{0});
  for (const unsigned byte : {1u, 0u, 0u}) empty_blocks.push_back(static_cast<std::byte>(byte));
  chunks.push_back({empty_blocks, 100, {}, "empty blocks"});
  // Blocks of one byte each that repeats.
  Bytes repeated(empty_blocks.begin(), empty_blocks.begin() + 6);
  for (unsigned i = 0; i < 30'000; ++i)
    for (const unsigned byte : {i == 29'999 ? 11u : 10u, 0u, 0u, i & 0xFF})
      repeated.push_back(static_cast<std::byte>(byte));
  chunks.push_back({repeated, 30'000, {}, "blocks of one byte"});
  expect_same(chunks);
}

TEST_F(ZstdRestoreDeviceTest, JudgesDamageAsTheReference) {
  constexpr std::size_t kCases = 20'000;
  std::vector<Chunk> chunks(kCases);
  on_all_cores(kCases, [&](std::size_t i) {
    std::mt19937 random(static_cast<unsigned>(i));
    Bytes frame, content;
    if (i % 2 == 0) {
      testing::ValidData made = testing::valid_zstd_frame(i, 3000);
      frame = std::move(made.data);
      content = std::move(made.content);
    } else {
      content = i % 3 == 0   ? testing::runs_bytes(100 + i % 3000, static_cast<unsigned>(i))
                : i % 3 == 1 ? testing::wordy_bytes(50 + i % 4000, static_cast<unsigned>(i))
                             : testing::random_bytes(i % 2000, static_cast<unsigned>(i), 20);
      constexpr int kLevels[] = {-3, 1, 3, 19};
      frame = written_by_libzstd(content, {.level = kLevels[i / 2 % 4], .checksum = i % 5 == 0});
    }
    for (auto changes = random() % 4; changes > 0; --changes)
      frame[random() % std::min<std::size_t>(frame.size(), 200)] ^= std::byte{1} << random() % 8;
    if (random() % 8 == 0) frame.resize(random() % (frame.size() + 1));
    if (random() % 8 == 0) frame.insert(frame.end(), frame.begin(), frame.end());
    chunks[i] = {std::move(frame),
                 content.size() + random() % 3 - (content.empty() ? 0 : 1),
                 {},
                 "case " + std::to_string(i)};
  });
  RestoreBatch batch(chunks, stream());
  batch.poison();
  restore(batch);
  ASSERT_TRUE(testing::same(chunks, batch.results(), by_reference));
}

TEST_F(ZstdRestoreDeviceTest, RefusesWhatItDoesNotTake) {
  const std::vector<Chunk> chunks{{written_by_libzstd(testing::wordy_bytes(100)), 100, {}, "text"}};
  RestoreBatch batch(chunks, stream());
  const auto refused = [&](const cuda::DeviceRestore& given, std::size_t scratch_bytes) {
    const cuda::DeviceBuffer<std::byte> scratch(scratch_bytes + 1, stream());
    try {
      cuda::restore_zstd_cuda(given, scratch.get(), scratch_bytes, stream());
    } catch (const Error& error) {
      return error.status() == Status::kInvalidOption;
    }
    return false;
  };
  const std::size_t scratch_bytes = cuda::restore_zstd_cuda_scratch_bytes(batch.batch());
  EXPECT_TRUE(refused(batch.batch(), scratch_bytes - 1));
  cuda::DeviceRestore with_history = batch.batch();
  const std::vector<std::uint32_t> none{0};
  const cuda::DeviceBuffer<std::uint32_t> d_none(1, stream());
  with_history.d_history_bytes = d_none.get();
  EXPECT_TRUE(refused(with_history, scratch_bytes));
  // A chunk above the limits is left out.
  cuda::DeviceRestore limited = batch.batch();
  limited.max_capacity = 99;
  const cuda::DeviceBuffer<std::byte> scratch(cuda::restore_zstd_cuda_scratch_bytes(limited), stream());
  batch.poison();
  cuda::restore_zstd_cuda(limited, scratch.get(), scratch.bytes(), stream());
  EXPECT_EQ(batch.results()[0].status, HEMSTITCH_INVALID_OPTION);
}

TEST_F(ZstdRestoreDeviceTest, HashesSpansOfEverySizeAndAlignment) {
  const Bytes bytes = testing::random_bytes(3000);
  cuda::DeviceBuffer<std::byte> d_bytes(bytes.size(), stream());
  d_bytes.upload({bytes.data(), bytes.size()});
  std::vector<const std::byte*> spans;
  std::vector<std::size_t> sizes;
  for (std::size_t size = 0; size < 400; ++size) {
    spans.push_back(d_bytes.get() + size % 13);
    sizes.push_back(size);
  }
  spans.push_back(d_bytes.get());
  sizes.push_back(bytes.size());
  cuda::DeviceBuffer<const std::byte*> d_spans(spans.size(), stream());
  cuda::DeviceBuffer<std::size_t> d_sizes(sizes.size(), stream());
  cuda::DeviceBuffer<std::uint32_t> d_hashes(sizes.size(), stream());
  d_spans.upload(spans);
  d_sizes.upload(sizes);
  cuda::checksum_zstd_cuda(d_spans.get(), d_sizes.get(), sizes.size(), d_hashes.get(), stream());
  std::vector<std::uint32_t> hashes(sizes.size());
  d_hashes.download(hashes);
  cuda::check(cudaStreamSynchronize(stream()), "cudaStreamSynchronize");
  for (std::size_t i = 0; i < sizes.size(); ++i) {
    const std::size_t begin = static_cast<std::size_t>(spans[i] - d_bytes.get());
    EXPECT_EQ(hashes[i], checksum_of(Checksum::kXxh64, std::span(bytes).subspan(begin, sizes[i])))
        << sizes[i];
  }
}

}  // namespace
}  // namespace hemstitch
