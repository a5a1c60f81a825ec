// One frame of Zstandard through the decoder of streams and its device, in pieces of all sizes, beside the reference restorer. The kernels have
// a test of their own (zstd_frame_test.cpp), as the decoder has with a device that the processor plays.
#include <algorithm>
#include <random>

#include "collect_sink.hpp"
#include "cuda_test.hpp"
#include "format/zstd/stream/zstd_piece_device_cuda.hpp"
#include "format/zstd/stream/zstd_stream_in_memory_cuda.hpp"
#include "gpu/cuda/device_buffer.hpp"
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

// ---- In device memory (zstd_stream_in_memory_cuda.hpp) ----

class ZstdInMemoryTest : public EngineTest {
 protected:
  struct Result {
    cuda::StreamOutcome outcome;
    Bytes content;  // and what stands behind it, as far as the room goes
  };
  // With memory for pieces that suit so much content, into so much room.
  static Result restored(std::span<const std::byte> data, std::size_t room, std::size_t piece_bytes,
                         bool verifies = true) {
    cuda::open_device({}).make_current();
    const cuda::Stream stream;
    constexpr std::size_t kGuardBytes = 256;
    const cuda::DeviceBuffer<std::byte> d_data(data.size() + 1, stream.get()),
        d_output(room + kGuardBytes, stream.get());
    const std::size_t temp_bytes = cuda::zstd_stream_temp_bytes(data.size(), piece_bytes);
    const cuda::DeviceBuffer<std::byte> d_temp(temp_bytes, stream.get());
    cuda::check(
        cudaMemcpyAsync(d_data.get() + 1, data.data(), data.size(), cudaMemcpyHostToDevice, stream.get()),
        "copy");
    cuda::check(cudaMemsetAsync(d_output.get(), 0xA7, d_output.bytes(), stream.get()), "fill");
    Result result;
    result.outcome = cuda::restore_zstd_stream({.d_data = d_data.get() + 1,
                                                .bytes = data.size(),
                                                .output = {d_output.get(), room},
                                                .verifies = verifies},
                                               d_temp.get(), temp_bytes, stream.get());
    result.content.resize(room + kGuardBytes);
    cuda::check(cudaMemcpyAsync(result.content.data(), d_output.get(), result.content.size(),
                                cudaMemcpyDeviceToHost, stream.get()),
                "copy");
    stream.synchronize();
    EXPECT_TRUE(std::ranges::all_of(std::span(result.content).subspan(room),
                                    [](std::byte byte) { return byte == std::byte{0xA7}; }));
    result.content.resize(std::min<std::size_t>(room, result.outcome.content_bytes));
    return result;
  }
  static Bytes frame_of(const Bytes& content, int level = 3) {
    return written_by_libzstd(content, {.level = level, .content_size = false});
  }
};

TEST_F(ZstdInMemoryTest, FramesInPiecesOfAllSizes) {
  const Bytes content = content_of_every_kind(12'000'000);
  for (const int level : {1, 5, 19}) {
    const Bytes frame = frame_of(content, level);
    for (const std::size_t piece_bytes :
         {std::size_t{1}, std::size_t{300'000}, std::size_t{3'000'000}, content.size()}) {
      SCOPED_TRACE(std::to_string(level) + " " + std::to_string(piece_bytes));
      const Result result = restored(frame, content.size(), piece_bytes);
      EXPECT_EQ(result.outcome.status, Status::kOk);
      EXPECT_EQ(result.outcome.host_bytes, 0u);
      EXPECT_TRUE(result.content == content);
    }
  }
}

TEST_F(ZstdInMemoryTest, FramesInARow) {
  const Bytes content = content_of_every_kind(1'000'000), small = wordy_bytes(5000),
              frame = frame_of(content);
  const Bytes skipped = joined({numbers({0x50, 0x2A, 0x4D, 0x18, 3, 0, 0, 0}), bytes_of("abc")});
  const Bytes all =
      joined({skipped, frame, written_by_libzstd(small), skipped, frame, written_by_libzstd({}), frame});
  const Result result = restored(all, 3 * content.size() + small.size() + 9, 200'000);
  EXPECT_EQ(result.outcome.status, Status::kOk);
  EXPECT_EQ(result.outcome.host_bytes, small.size());
  EXPECT_TRUE(result.content == joined({content, small, content, content}));
}

TEST_F(ZstdInMemoryTest, SaysWhatIsWrong) {
  const Bytes content = content_of_every_kind(1'000'000), frame = frame_of(content);
  const auto status = [&](const Bytes& data, std::size_t room = 1'100'000, bool verifies = true) {
    return restored(data, room, 200'000, verifies).outcome.status;
  };
  Bytes sum = frame, cut = frame;
  sum.back() ^= std::byte{1};
  EXPECT_EQ(status(sum), Status::kContentChecksumMismatch);
  EXPECT_EQ(status(sum, 1'100'000, false), Status::kOk);
  cut.resize(frame.size() - 2);
  EXPECT_EQ(status(cut), Status::kTruncated);
  cut.resize(frame.size() / 2);
  EXPECT_EQ(status(cut), Status::kCorruptBlock);
  EXPECT_EQ(status({}), Status::kTruncated);
  EXPECT_EQ(status(bytes_of("no frame of Zstandard, but text")), Status::kUnknownFormat);
  EXPECT_EQ(status(joined({frame, bytes_of("garbage")})), Status::kTrailingGarbage);
  // A window of 3.75 TB: no memory is taken for it.
  EXPECT_EQ(status(joined({frame, numbers({0x28, 0xB5, 0x2F, 0xFD, 0, 0xFF, 1, 0, 0})})),
            Status::kUnsupportedFeature);
  const Result less = restored(frame, content.size() - 1, 200'000);
  EXPECT_EQ(less.outcome.status, Status::kOutputTooSmall);
  EXPECT_TRUE(std::ranges::equal(less.content, std::span(content).first(less.content.size())));
}

// What the kernels leave, the host restores; damage is damage, wherever it is.
TEST_F(ZstdInMemoryTest, FramesThatNoEncoderWritesAndDamage) {
  std::mt19937 random(3);
  std::uint64_t by_device = 0;
  for (unsigned seed = 0; seed < 200; ++seed) {
    SCOPED_TRACE(seed);
    const ValidData made = valid_zstd_frame(seed, 5000);
    if (!made.dictionary.empty()) continue;
    const Result result = restored(made.data, made.content.size(), 1);
    EXPECT_EQ(result.outcome.status, Status::kOk);
    EXPECT_TRUE(result.content == made.content);
    by_device += result.outcome.content_bytes - result.outcome.host_bytes;
    Bytes changed = made.data;
    const std::size_t at = 4 + random() % (changed.size() - 4);
    changed[at] ^= std::byte{1} << random() % 8;
    const ZstdRead expected = read_by_reference(changed);
    const Result damaged = restored(changed, made.content.size() + (1 << 18), 1);
    if (expected.outcome == ZstdOutcome::kWhole) {
      EXPECT_EQ(damaged.outcome.status, Status::kOk);
      EXPECT_TRUE(damaged.content == expected.content);
    } else {
      EXPECT_NE(damaged.outcome.status, Status::kOk);
    }
    if (HasFailure()) return;
  }
  EXPECT_GT(by_device, 0u);
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
