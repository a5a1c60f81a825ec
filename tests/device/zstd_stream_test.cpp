// One frame of Zstandard through the decoder of streams and its device, in pieces of all sizes, beside the reference restorer. The kernels have
// a test of their own (zstd_frame_test.cpp), as the decoder has with a device that the processor plays.
#include <algorithm>
#include <random>

#include "collect_sink.hpp"
#include "cuda_test.hpp"
#include "format/zstd/stream/zstd_piece_device_cuda.hpp"
#include "pipeline/stream.hpp"
#include "restored_file.hpp"
#include "valid_data/valid_data.hpp"
#include "zstd_device_reads.hpp"

namespace hemstitch {
namespace {

using namespace testing;

std::unique_ptr<ZstdPieceDevice> cuda_pieces(std::uint64_t window_bytes, const ZstdDeviceLimits& limits) {
  return std::make_unique<cuda::CudaZstdPieces>(cuda::open_device({}), limits, window_bytes, nullptr);
}

class ZstdStreamTest : public EngineTest {
 protected:
  // Returns how many bytes the device restored.
  static std::uint64_t require_right(std::span<const std::byte> frame, const DeviceOptions& options) {
    const ReadByDevice result = require_by_reference(frame, options, cuda_pieces);
    EXPECT_TRUE(result.failures.empty()) << result.failures[0];
    return result.device_bytes;
  }
};

Bytes content_of_every_kind(std::size_t bytes) {
  return joined({wordy_bytes(bytes / 4), random_bytes(bytes / 8, 3, 40), equal_bytes(bytes / 8),
                 runs_bytes(bytes / 8, 5), random_bytes(bytes / 8, 9), wordy_bytes(bytes / 4, 2)});
}

TEST_F(ZstdStreamTest, RestoresLevelsAndWindows) {
  for (const int window_log : {12, 17, 20}) {
    const Bytes content = content_of_every_kind(window_log == 12 ? 200'000 : 12'000'000);
    for (const int level : {1, 3, 12}) {
      const Bytes frame = written_by_libzstd(content, {.level = level, .window_log = window_log});
      for (const PieceSize size : kPieceSizes)
        for (const bool settles : {false, true}) {
          SCOPED_TRACE(std::to_string(level) + " " + std::to_string(window_log));
          EXPECT_EQ(require_right(frame, {.size = size, .settles = settles, .piece_bytes = 1 << 20}),
                    content.size());
        }
    }
  }
}

TEST_F(ZstdStreamTest, FramesThatNoEncoderWrites) {
  std::uint64_t device_bytes = 0;
  for (unsigned seed = 0; seed < 200; ++seed) {
    SCOPED_TRACE(seed);
    const ValidData made = valid_zstd_frame(seed, seed % 50 == 0 ? 300'000 : 5000);
    if (made.dictionary.empty())
      device_bytes += require_right(made.data, {.size = kPieceSizes[seed % 3], .settles = seed % 2 == 0});
    if (HasFailure()) return;
  }
  EXPECT_GT(device_bytes, 100'000);
}

TEST_F(ZstdStreamTest, JudgesDamageAsTheReferenceDoes) {
  const Bytes frame = written_by_libzstd(content_of_every_kind(1'000'000), {.level = 5, .window_log = 16});
  std::mt19937 random(1);
  for (unsigned round = 0; round < 100; ++round) {
    SCOPED_TRACE(round);
    Bytes changed = frame;
    const std::size_t at = 20 + random() % (frame.size() - 20);
    if (round % 3 == 0)
      changed.resize(at);
    else
      changed[at] ^= std::byte{1} << random() % 8;
    require_right(changed,
                  {.size = kPieceSizes[round % 3], .settles = round % 2 == 0, .threads = 1 + round % 4});
    if (HasFailure()) return;
  }
}

// Less memory than the pieces take is a failure of the device before the frame begins.
TEST_F(ZstdStreamTest, NeedsNoMoreMemoryThanItSays) {
  const ZstdDeviceLimits limits{.content_bytes = std::size_t{8} << 20};
  constexpr std::uint64_t kWindowBytes = std::uint64_t{2} << 20;
  const std::uint64_t bytes = cuda::cuda_zstd_pieces_bytes(limits, kWindowBytes);
  const cuda::DeviceFacts facts = cuda::open_device({}).facts();
  cuda::Device room(facts,
                    cuda::Device::Limits{.memory_bytes = static_cast<std::size_t>(bytes + (bytes >> 10))});
  EXPECT_NO_THROW(cuda::CudaZstdPieces(room, limits, kWindowBytes, nullptr));
  cuda::Device less(facts, cuda::Device::Limits{.memory_bytes = static_cast<std::size_t>(bytes / 2)});
  EXPECT_THROW(cuda::CudaZstdPieces(less, limits, kWindowBytes, nullptr), Error);
}

// ---- Files ----

testing::RestoredFile restored(const Bytes& data, std::string_view backend, std::uint64_t gpu_memory = 0,
                               unsigned threads = 0) {
  RestoreOptions options;
  options.backend = backend;
  options.gpu_memory_limit_bytes = gpu_memory;
  options.threads = threads;
  return testing::restored_file(data, options);
}

class ZstdFilesTest : public EngineTest {
 protected:
  // Too large to be left to the processor.
  static const Bytes& content() {
    static const Bytes bytes = content_of_every_kind(80'000'000);
    return bytes;
  }
  static const Bytes& file() {
    static const Bytes data = written_by_libzstd(content(), {.level = 1});
    return data;
  }
};

TEST_F(ZstdFilesTest, AreRestoredOnTheDevice) {
  for (const unsigned threads : {0u, 1u}) {
    const testing::RestoredFile found = restored(file(), "cuda", 0, threads);
    EXPECT_EQ(found.error, "");
    EXPECT_TRUE(found.content == content());
    EXPECT_EQ(found.report.fallback_blocks, 0u) << found.report.fallback_reason;
    EXPECT_GT(found.report.planned_device_bytes, 0u);
    for (const Stage stage : {Stage::kUpload, Stage::kKernel, Stage::kDownload})
      EXPECT_GT(found.report.times.of(stage).busy_seconds, 0);
  }
  const testing::RestoredFile little = restored(file(), "cuda", std::size_t{1} << 20);
  EXPECT_EQ(little.error, "");
  EXPECT_TRUE(little.content == content());
}

TEST_F(ZstdFilesTest, FramesInARowAndWhatIsWrong) {
  const Bytes small = written_by_libzstd(wordy_bytes(100'000));
  Bytes wrong_checksum = file(), damaged = joined({file(), small}), cut = file();
  wrong_checksum.back() ^= std::byte{1};
  damaged[file().size() / 2] ^= std::byte{4};
  cut.resize(file().size() * 3 / 4);
  const Bytes row = joined({small, file(), small, file(), bytes_of("garbage behind")});
  for (const Bytes& data : {wrong_checksum, damaged, cut, row}) {
    const testing::RestoredFile found = restored(data, "cuda"), expected = restored(data, "cpu");
    EXPECT_EQ(found.error, expected.error);
    EXPECT_TRUE(found.content == expected.content);
    EXPECT_EQ(found.report.trailing_garbage_at, expected.report.trailing_garbage_at);
    EXPECT_EQ(found.report.frame_count, expected.report.frame_count);
  }
}

// Frames whose places are known: batches of blocks.
TEST_F(ZstdFilesTest, SeekableOnesAreRestoredByBatches) {
  const auto some = std::span(content()).first(20'000'000);
  for (const std::size_t frame_bytes : {std::size_t{64} << 10, std::size_t{4} << 20}) {
    CompressOptions options;
    options.format = Format::kZstd;
    options.seekable_bytes = frame_bytes;
    MemorySource source(some);
    CollectSink sink;
    compress_stream(source, sink, options);
    const Bytes& data = sink.content;
    const testing::RestoredFile found = restored(data, "cuda");
    EXPECT_EQ(found.error, "");
    EXPECT_TRUE(std::ranges::equal(found.content, some));
    EXPECT_EQ(found.report.fallback_blocks, 0u) << found.report.fallback_reason;
    EXPECT_GT(found.report.times.of(Stage::kKernel).busy_seconds, 0);
    std::mt19937 random(1);
    for (unsigned round = 0; round < 10; ++round) {
      Bytes damaged = data;
      damaged[random() % (data.size() - 1000)] ^= std::byte{1} << random() % 8;
      const testing::RestoredFile wrong = restored(damaged, "cuda"), expected = restored(damaged, "cpu");
      EXPECT_EQ(wrong.error, expected.error);
      EXPECT_TRUE(wrong.content == expected.content);
    }
  }
}

}  // namespace
}  // namespace hemstitch
