// One long stream of DEFLATE through the engine: files, device memory, and what the processor does instead of
// the device, compared with zlib and the decoder for one thread. The kernels have a test of their own
// (deflate_stream_test.cpp).
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <random>

#include "core/bytes.hpp"
#include "cuda_test.hpp"
#include "deflate_streams.hpp"
#include "files/frame_files_device.hpp"
#include "format/deflate/stream/deflate_device_decoder.hpp"
#include "format/deflate/stream/deflate_piece_device_cuda.hpp"
#include "hemstitch/batch.h"
#include "hemstitch/files.hpp"
#include "pipeline/stream.hpp"
#include "restored_file.hpp"

namespace hemstitch {
namespace {

using namespace testing;
namespace fs = std::filesystem;

Bytes gzip_of(std::span<const std::byte> content, int level = 6, int mem_level = 8) {
  return zlib_stream(content, level, Z_DEFAULT_STRATEGY, mem_level, MAX_WBITS + 16);
}

struct Outcome {
  Status status = Status::kTruncated;
  Bytes content;
  std::uint64_t end = 0;
};

Outcome restored_by(StreamDecoder& decoder, std::span<const std::byte> data) {
  Outcome outcome;
  Bytes room(300'000);
  std::span<const std::byte> left = data;
  for (;;) {
    const StreamStep step = decoder.restore(left.first(std::min<std::size_t>(left.size(), 100'000)), room);
    left = left.subspan(step.input_bytes);
    outcome.content.insert(outcome.content.end(), room.begin(),
                           room.begin() + static_cast<std::ptrdiff_t>(step.output_bytes));
    if (step.status != Status::kOk) outcome.status = step.status;
    if (step.ended) outcome.status = Status::kOk;
    if (step.ended || step.status != Status::kOk ||
        (step.input_bytes == 0 && step.output_bytes == 0 && !step.wants_input))
      break;
  }
  outcome.end = data.size() - left.size() - decoder.ahead_bytes();
  return outcome;
}

DeflateDeviceLimits small_pieces(std::size_t piece_bytes) {
  return {.piece_bytes = piece_bytes,
          .first_piece_bytes = piece_bytes / 2,
          .lead_bytes = piece_bytes / 4,
          .content_bytes = 6 * piece_bytes,
          .serial_bytes = piece_bytes / 8};
}

class StreamEngineTest : public EngineTest {
 protected:
  // Returns how many bytes the device restored.
  static std::uint64_t require_as_one_thread(const Bytes& data, const DeflateDeviceLimits& limits,
                                             const std::string& what) {
    DeflateDecoder serial({});
    const Outcome expected = restored_by(serial, data);
    std::vector<std::string> failures;
    StreamMeans means;
    means.on_failure = [&](const std::string& reason) { failures.push_back(reason); };
    DeflateDeviceDecoder decoder(std::make_unique<cuda::CudaPieces>(cuda::open_device({}), limits, nullptr),
                                 {}, false, means, limits);
    const Outcome found = restored_by(decoder, data);
    EXPECT_EQ(found.status, expected.status) << what;
    EXPECT_EQ(found.content == expected.content, true) << what;
    if (expected.status == Status::kOk) {
      EXPECT_EQ(found.end, expected.end) << what;
    }
    EXPECT_EQ(failures.size(), 0u) << what << ": " << failures[0];
    return decoder.device_bytes();
  }
};

TEST_F(StreamEngineTest, RestoresByPieces) {
  const Bytes text = wordy_bytes(4'000'000), mixed = mixed_bytes(3'000'000), noise = random_bytes(1'000'000);
  for (const std::size_t piece_bytes : {std::size_t{100'000}, std::size_t{400'000}, std::size_t{3'000'000}}) {
    const DeflateDeviceLimits limits = small_pieces(piece_bytes);
    for (const int level : {1, 6, 9})
      EXPECT_GT(require_as_one_thread(zlib_stream(text, level), limits, "text"), text.size() / 2)
          << piece_bytes;
    for (const int strategy : {Z_FILTERED, Z_HUFFMAN_ONLY, Z_RLE, Z_FIXED})
      require_as_one_thread(zlib_stream(mixed, 6, strategy), limits, "strategy");
    require_as_one_thread(zlib_stream(mixed, 6, Z_DEFAULT_STRATEGY, 1), limits, "small blocks");
    require_as_one_thread(zlib_stream(noise), limits, "noise");
    require_as_one_thread(zlib_stream(noise, 0), limits, "stored");
    require_as_one_thread(zlib_stream(Bytes(50'000'000)), limits, "zeros");
    require_as_one_thread(zlib_stream({}), limits, "nothing");
    require_as_one_thread(zlib_stream(Bytes(1)), limits, "one byte");
  }
}

TEST_F(StreamEngineTest, JudgesDamageAsOneThreadDoes) {
  const Bytes data = zlib_stream(mixed_bytes(1'000'000, 5) + wordy_bytes(1'000'000, 6));
  std::mt19937 random(1);
  for (unsigned round = 0; round < 60; ++round) {
    Bytes changed = data;
    const std::size_t at = random() % changed.size();
    if (round % 3 == 0)
      changed.resize(at);
    else if (round % 3 == 1)
      changed[at] ^= std::byte{1} << random() % 8;
    else
      changed.erase(
          changed.begin() + static_cast<std::ptrdiff_t>(at),
          changed.begin() + static_cast<std::ptrdiff_t>(std::min(at + 1 + random() % 2000, data.size())));
    require_as_one_thread(changed, small_pieces(80'000 + random() % 400'000),
                          "round " + std::to_string(round));
    if (HasFailure()) return;
  }
}

// ---- Files ----

testing::RestoredFile restored(const Bytes& data, std::string_view backend, std::uint64_t gpu_memory = 0,
                               std::uint64_t memory = 0, unsigned threads = 0,
                               std::optional<Format> format = {}) {
  RestoreOptions options;
  options.backend = backend;
  options.gpu_memory_limit_bytes = gpu_memory;
  options.memory_limit_bytes = memory;
  options.threads = threads;
  options.format = format;
  return testing::restored_file(data, options);
}

void require_same(const testing::RestoredFile& found, const testing::RestoredFile& expected,
                  const std::string& what) {
  ASSERT_EQ(found.error, expected.error) << what;
  ASSERT_EQ(found.content == expected.content, true) << what;
  ASSERT_EQ(found.report.trailing_garbage_at, expected.report.trailing_garbage_at) << what;
  ASSERT_EQ(found.report.frame_count, expected.report.frame_count) << what;
}

class StreamFilesTest : public EngineTest {
 protected:
  // Even compressed, it is too large to be left to the processor.
  static const Bytes& content() {
    static const Bytes bytes = mixed_bytes(30'000'000, 3) + wordy_bytes(10'000'000, 4);
    return bytes;
  }
  static const Bytes& file() {
    static const Bytes data = gzip_of(content(), 1);
    return data;
  }
};

TEST_F(StreamFilesTest, AreRestoredOnTheDevice) {
  ASSERT_GT(file().size(), kDeflateDeviceLeastBytes);
  for (const unsigned threads : {0u, 1u, 2u}) {
    const testing::RestoredFile found = restored(file(), "cuda", 0, 0, threads);
    EXPECT_EQ(found.error, "");
    EXPECT_EQ(found.content == content(), true);
    EXPECT_EQ(found.report.fallback_blocks, 0u) << found.report.fallback_reason;
    EXPECT_GT(found.report.planned_device_bytes, 0u);
    EXPECT_GT(found.report.times.of(Stage::kKernel).busy_seconds, 0);
    EXPECT_GT(found.report.times.of(Stage::kDownload).busy_seconds, 0);
  }
  const Bytes raw = zlib_stream(content(), 1),
              zlib = zlib_stream(content(), 1, Z_DEFAULT_STRATEGY, 8, MAX_WBITS);
  EXPECT_EQ(restored(zlib, "cuda", 0, 0, 0, Format::kZlib).content == content(), true);
  EXPECT_EQ(restored(raw, "cuda", 0, 0, 0, Format::kDeflate).content == content(), true);
}

TEST_F(StreamFilesTest, KeepTheirMembersAndWhatIsWrong) {
  const Bytes small = gzip_of(wordy_bytes(100'000)),
              two = file() + gzip_of(wordy_bytes(9'000'000), 9) + small;
  Bytes wrong_checksum = file(), damaged = two, many = file();
  wrong_checksum[wrong_checksum.size() - 6] ^= std::byte{1};
  damaged[damaged.size() / 2] ^= std::byte{4};
  for (unsigned i = 0; i < 200; ++i) many = many + gzip_of(wordy_bytes(1 + i * 37, i));
  for (const auto& [what, data] : std::vector<std::pair<std::string, Bytes>>{
           {"members", two},
           {"many members", many + file()},
           {"garbage", two + bytes_of("garbage behind")},
           {"a wrong checksum", wrong_checksum},
           {"damage", damaged},
           {"cut in the trailer", {file().begin(), file().end() - 3}},
           {"cut", {file().begin(), file().begin() + static_cast<std::ptrdiff_t>(file().size() / 2)}}}) {
    require_same(restored(data, "cuda"), restored(data, "cpu"), what);
    if (HasFatalFailure()) return;
  }
}

TEST_F(StreamFilesTest, HoldMemoryLimits) {
  for (const std::uint64_t megabytes : {1000, 200, 100, 20, 1}) {
    const testing::RestoredFile on_device = restored(file(), "cuda", megabytes << 20);
    EXPECT_EQ(on_device.content == content(), true) << megabytes;
    EXPECT_LE(on_device.report.planned_device_bytes, megabytes << 20);
    const testing::RestoredFile on_host =
        restored(file(), "cuda", 0, std::max<std::uint64_t>(megabytes, 20) << 20);
    EXPECT_EQ(on_host.content == content(), true) << megabytes;
    EXPECT_LE(on_host.report.planned_bytes, std::max<std::uint64_t>(megabytes, 20) << 20);
  }
}

// A device that has no memory left.
TEST_F(StreamFilesTest, GoOnWithoutMemoryOfTheDevice) {
  const cuda::DeviceFacts facts = cuda::open_device({}).facts();
  for (const std::size_t megabytes : {0, 30, 120}) {
    cuda::Device device(facts,
                        cuda::Device::Limits{.memory_bytes = std::max<std::size_t>(megabytes << 20, 1)});
    cuda::CudaEngine engine(device);
    std::vector<std::string> failures;
    StreamMeans means;
    means.input_bytes = file().size();
    means.on_failure = [&](const std::string& reason) { failures.push_back(reason); };
    const auto decoder = engine.make_stream_decoder(Format::kGzip, {}, {}, means);
    const Outcome found = restored_by(*decoder, std::span(file()).subspan(10));
    EXPECT_EQ(found.status, Status::kOk);
    EXPECT_EQ(found.content == content(), true);
    EXPECT_EQ(failures.size(), dynamic_cast<DeflateDeviceDecoder*>(decoder.get()) == nullptr ? 1u : 0u)
        << megabytes;
  }
}

// ---- Device memory ----

struct DeviceBytes {
  explicit DeviceBytes(std::size_t size) : count(size) {
    cuda::check(cudaMalloc(reinterpret_cast<void**>(&data), std::max<std::size_t>(size, 1)), "cudaMalloc");
  }
  explicit DeviceBytes(std::span<const std::byte> bytes) : DeviceBytes(bytes.size()) {
    cuda::check(cudaMemcpy(data, bytes.data(), bytes.size(), cudaMemcpyHostToDevice), "cudaMemcpy");
  }
  ~DeviceBytes() { cudaFree(data); }
  DeviceBytes(const DeviceBytes&) = delete;
  DeviceBytes& operator=(const DeviceBytes&) = delete;
  Bytes on_host() const {
    Bytes bytes(count);
    cuda::check(cudaMemcpy(bytes.data(), data, count, cudaMemcpyDeviceToHost), "cudaMemcpy");
    return bytes;
  }

  std::byte* data = nullptr;
  std::size_t count;
};

struct MemoryResult {
  hemstitch_status status;
  Bytes content;
};

MemoryResult restored_in_memory(std::span<const std::byte> data, int format, std::size_t capacity,
                                std::size_t most_temp = SIZE_MAX) {
  constexpr std::byte kGuard{0xA5};
  std::size_t temp_bytes = 0;
  EXPECT_EQ(hemstitch_deflate_stream_temp_bytes(data.size(), capacity, format, &temp_bytes), HEMSTITCH_OK);
  temp_bytes = std::min(temp_bytes, most_temp);
  const DeviceBytes input(data), temp(temp_bytes), output(Bytes(capacity + 64, kGuard));
  std::uint64_t bytes = 0;
  const hemstitch_status status = hemstitch_deflate_stream_restore(
      input.data, data.size(), format, output.data, capacity, &bytes, temp.data, temp_bytes, nullptr);
  Bytes all = output.on_host();
  EXPECT_TRUE(
      std::ranges::all_of(std::span(all).subspan(capacity), [](std::byte byte) { return byte == kGuard; }));
  EXPECT_LE(bytes, capacity);
  all.resize(bytes);
  return {status, std::move(all)};
}

TEST_F(StreamFilesTest, AreRestoredInMemory) {
  const Bytes text = wordy_bytes(5'000'000);
  std::size_t least_temp = 0;
  ASSERT_EQ(hemstitch_deflate_stream_temp_bytes(65536, SIZE_MAX / 4, HEMSTITCH_DEFLATE_GZIP, &least_temp),
            HEMSTITCH_OK);
  const auto check = [&](const Bytes& data, int format, const Bytes& content, hemstitch_status status,
                         const std::string& what, std::size_t room = SIZE_MAX) {
    for (const std::size_t most_temp : {SIZE_MAX, 4 * least_temp, least_temp}) {
      const MemoryResult found =
          restored_in_memory(data, format, room == SIZE_MAX ? content.size() : room, most_temp);
      EXPECT_EQ(found.status, status) << what << ", " << hemstitch_last_error_message();
      EXPECT_EQ(found.content == content, true) << what;
    }
  };
  const Bytes zlib = zlib_stream(text, 6, Z_DEFAULT_STRATEGY, 8, MAX_WBITS), raw = zlib_stream(text),
              gzip = gzip_of(text);
  check(gzip, HEMSTITCH_DEFLATE_GZIP, text, HEMSTITCH_OK, "gzip");
  check(zlib, HEMSTITCH_DEFLATE_ZLIB, text, HEMSTITCH_OK, "zlib");
  check(raw, HEMSTITCH_DEFLATE_RAW, text, HEMSTITCH_OK, "raw");
  check(gzip + gzip_of(Bytes()) + gzip, HEMSTITCH_DEFLATE_GZIP, text + text, HEMSTITCH_OK, "members");
  check(gzip_of(Bytes()), HEMSTITCH_DEFLATE_GZIP, {}, HEMSTITCH_OK, "nothing");
  check(gzip + bytes_of("more"), HEMSTITCH_DEFLATE_GZIP, text, HEMSTITCH_TRAILING_GARBAGE, "garbage");
  check(raw + bytes_of("more"), HEMSTITCH_DEFLATE_RAW, text, HEMSTITCH_TRAILING_GARBAGE, "raw garbage");
  check(gzip, HEMSTITCH_DEFLATE_GZIP, text, HEMSTITCH_OK, "much room", text.size() + 100'000);
  check(bytes_of("no stream at all"), HEMSTITCH_DEFLATE_GZIP, {}, HEMSTITCH_UNKNOWN_FORMAT, "other bytes");
  for (const std::size_t room : {text.size() - 1, text.size() / 2, std::size_t{0}})
    check(gzip, HEMSTITCH_DEFLATE_GZIP, {text.begin(), text.begin() + static_cast<std::ptrdiff_t>(room)},
          HEMSTITCH_OUTPUT_TOO_SMALL, "little room", room);
  Bytes changed = gzip;
  changed[changed.size() - 7] ^= std::byte{1};
  check(changed, HEMSTITCH_DEFLATE_GZIP, text, HEMSTITCH_CONTENT_CHECKSUM_MISMATCH, "checksum");
  changed = gzip;
  changed[changed.size() - 1] ^= std::byte{1};
  check(changed, HEMSTITCH_DEFLATE_GZIP, text, HEMSTITCH_CONTENT_SIZE_MISMATCH, "size");
  changed = zlib;
  changed.back() ^= std::byte{1};
  check(changed, HEMSTITCH_DEFLATE_ZLIB, text, HEMSTITCH_CONTENT_CHECKSUM_MISMATCH, "Adler-32");
  const Bytes cut(gzip.begin(), gzip.begin() + static_cast<std::ptrdiff_t>(gzip.size() / 2));
  const MemoryResult found = restored_in_memory(cut, HEMSTITCH_DEFLATE_GZIP, text.size());
  EXPECT_EQ(found.status, HEMSTITCH_CORRUPT_BLOCK);
  DeflateDecoder serial({});
  EXPECT_EQ(found.content == restored_by(serial, std::span(cut).subspan(10)).content, true);
}

// ---- Files to device memory ----

TEST_F(StreamFilesTest, AreLoadedToTheDevice) {
  std::string pattern = (fs::temp_directory_path() / "hemstitch-streams-XXXXXX").string();
  ASSERT_NE(mkdtemp(pattern.data()), nullptr);
  const Bytes text = wordy_bytes(3'000'000), mixed = mixed_bytes(500'000);
  Bytes damaged = gzip_of(text), wrong_size = gzip_of(text);
  damaged[damaged.size() / 2] ^= std::byte{1};
  for (std::size_t i = 1; i <= 4; ++i) wrong_size[wrong_size.size() - i] = std::byte{0};
  struct Case {
    Bytes data, content;
    bool on_device = true;
  };
  const std::vector<Case> cases{{gzip_of(text), text},
                                {zlib_stream(text, 6, Z_DEFAULT_STRATEGY, 8, MAX_WBITS), text},
                                {gzip_of(text) + gzip_of(mixed), text + mixed},
                                {gzip_of(Bytes(40'000'000)), Bytes(40'000'000)}};
  FrameLoadSizes sizes;
  sizes.least_stream_bytes = 10'000;
  sizes.most_piece_bytes = 50'000;
  std::vector<std::string> paths;
  const auto write = [&](const Bytes& data) {
    paths.push_back(pattern + "/" + std::to_string(paths.size()));
    std::ofstream(paths.back(), std::ios::binary)
        .write(reinterpret_cast<const char*>(data.data()), static_cast<std::streamsize>(data.size()));
    return paths.back();
  };
  for (const Case& one : cases) write(one.data);
  for (const unsigned threads : {1u, 0u}) {
    FrameLoadOptions options;
    options.threads = threads;
    const auto contents = load_frames_cuda(paths, options, sizes);
    ASSERT_EQ(contents.size(), cases.size());
    for (std::size_t i = 0; i < cases.size(); ++i) {
      Bytes bytes(contents[i].bytes());
      cuda::check(cudaMemcpy(bytes.data(), contents[i].data(), bytes.size(), cudaMemcpyDeviceToHost),
                  "cudaMemcpy");
      EXPECT_EQ(bytes == cases[i].content, true) << i;
      EXPECT_TRUE(contents[i].restored_on_device()) << i;
    }
  }
  for (const Bytes& bad : {damaged, wrong_size, gzip_of(text) + bytes_of("garbage")}) {
    const std::string path = write(bad);
    EXPECT_THROW(load_frames_cuda({path}, {}, sizes), Error);
  }
  fs::remove_all(pattern);
}

}  // namespace
}  // namespace hemstitch
