// One frame of Zstandard of many blocks on a CUDA device, in one piece and in several, compared with the reference restorer: what the kernels
// say is restored is the beginning of its content.
#include <cstdlib>
#include <filesystem>
#include <random>
#include <string>

#include "cuda_test.hpp"
#include "format/zstd/frame/zstd_frame_header.hpp"
#include "format/zstd/stream/zstd_block_places.hpp"
#include "format/zstd/stream/zstd_frame_cuda.hpp"
#include "gpu/cuda/device_buffer.hpp"
#include "shapes.hpp"
#include "valid_data/valid_data.hpp"
#include "zstd_frames.hpp"

namespace hemstitch {
namespace {

using testing::Bytes;
using testing::joined;
using testing::written_by_libzstd;

struct Pieces {
  std::size_t blocks = 1000;
  std::size_t capacity = 1 << 20;
};
struct RestoredFrame {
  Bytes content;
  std::size_t blocks = 0;
  bool has_ended = false;
};

class ZstdFrameDeviceTest : public CudaStreamTest {
 protected:
  // All blocks up to one that is left. `room` bytes are enough for the content.
  void restore(std::span<const std::byte> frame, std::size_t room, const Pieces& pieces,
               RestoredFrame& restored) const {
    constexpr std::size_t kGuardBytes = 64;
    constexpr int kGuard = 0xA5;
    const cudaStream_t stream = CudaStreamTest::stream();
    const auto check = [](cudaError_t result) { cuda::check(result, "the test"); };
    const std::size_t rest = zstd_header_rest_bytes(frame[4]);
    const auto header = read_zstd_header(frame.subspan(4, rest));
    ASSERT_TRUE(header);
    const auto data = frame.subspan(4 + rest);
    cuda::DeviceBuffer<std::byte> d_data(data.size() + 1, stream),
        d_content(room + pieces.capacity + kGuardBytes, stream),
        d_carry(cuda::zstd_frame_carry_bytes(), stream);
    cuda::DeviceBuffer<cuda::ZstdFrameResult> d_result(1, stream);
    check(cudaMemcpyAsync(d_data.get() + 1, data.data(), data.size(), cudaMemcpyHostToDevice, stream));
    check(cudaMemsetAsync(d_content.get(), kGuard, d_content.bytes(), stream));
    check(cudaMemsetAsync(d_carry.get(), 0, d_carry.bytes(), stream));
    std::size_t used = 0, made = 0;
    for (;;) {
      const ZstdBlockPlaces places = find_zstd_blocks(data.subspan(used), pieces.blocks);
      if (places.at.empty()) break;
      const auto count = static_cast<std::uint32_t>(places.at.size());
      const cuda::DeviceBuffer<std::uint32_t> d_block_at(count, stream);
      check(cudaMemcpyAsync(d_block_at.get(), places.at.data(), d_block_at.bytes(), cudaMemcpyHostToDevice,
                            stream));
      const std::size_t scratch_bytes = cuda::zstd_frame_scratch_bytes(count, pieces.capacity);
      const cuda::DeviceBuffer<std::byte> d_scratch(scratch_bytes, stream);
      check(cudaMemsetAsync(d_scratch.get(), kGuard, scratch_bytes, stream));
      cuda::restore_zstd_frame_piece(
          {.d_data = d_data.get() + 1 + used,
           .data_bytes = places.data_bytes,
           .d_block_at = d_block_at.get(),
           .block_count = count,
           .window_bytes = header->window_bytes,
           .d_content = d_content.get() + made,
           .history_bytes = static_cast<std::uint32_t>(std::min<std::uint64_t>(made, header->window_bytes)),
           .capacity = pieces.capacity},
          {d_carry.get(), d_result.get(), d_scratch.get(), scratch_bytes}, stream);
      cuda::ZstdFrameResult result{};
      check(cudaMemcpyAsync(&result, d_result.get(), sizeof result, cudaMemcpyDeviceToHost, stream));
      Bytes behind(kGuardBytes);
      check(cudaMemcpyAsync(behind.data(), d_content.get() + made + pieces.capacity, kGuardBytes,
                            cudaMemcpyDeviceToHost, stream));
      check(cudaStreamSynchronize(stream));
      ASSERT_EQ(behind, Bytes(kGuardBytes, std::byte{kGuard})) << "a byte after the capacity was written";
      ASSERT_LE(result.blocks, count);
      ASSERT_LE(made + result.content_bytes, room);
      const bool is_whole = result.blocks == count;
      ASSERT_EQ(is_whole, result.stop == cuda::ZstdFrameStop::kNone);
      restored.blocks += result.blocks;
      made += result.content_bytes;
      used += is_whole ? places.data_bytes : places.at[result.blocks];
      // What is behind this piece's content is for the next one.
      check(cudaMemsetAsync(d_content.get() + made, kGuard, d_content.bytes() - made, stream));
      restored.has_ended = is_whole && places.has_last;
      if (restored.has_ended || result.stop == cuda::ZstdFrameStop::kDoubt) break;
      ASSERT_NE(result.blocks, 0) << "no room for one block";
    }
    restored.content.resize(made);
    check(cudaMemcpyAsync(restored.content.data(), d_content.get(), made, cudaMemcpyDeviceToHost, stream));
    check(cudaStreamSynchronize(stream));
  }

  void expect_whole(std::span<const std::byte> frame, const Bytes& content, const Pieces& pieces) const {
    RestoredFrame restored;
    restore(frame, content.size(), pieces, restored);
    EXPECT_TRUE(restored.has_ended);
    EXPECT_TRUE(restored.content == content);
  }
  // Of any bytes behind a frame's header. Returns how many blocks were restored.
  std::size_t expect_beginning(std::span<const std::byte> frame, const Pieces& pieces) const {
    const testing::ZstdRead expected = testing::read_by_reference(frame);
    RestoredFrame restored;
    // A header that the reference refuses gives no window to restore by.
    if (expected.outcome != testing::ZstdOutcome::kWhole && expected.content.empty()) return 0;
    restore(frame, expected.content.size(), pieces, restored);
    EXPECT_LE(restored.content.size(), expected.content.size());
    EXPECT_TRUE(std::equal(restored.content.begin(), restored.content.end(), expected.content.begin()));
    return restored.blocks;
  }
};

TEST_F(ZstdFrameDeviceTest, RestoresLevelsAndWindows) {
  const Bytes content = joined({testing::wordy_bytes(600'000), testing::random_bytes(200'000, 3, 40),
                                testing::equal_bytes(300'000), testing::runs_bytes(300'000, 5),
                                testing::random_bytes(200'000, 9), testing::wordy_bytes(400'000, 2)});
  for (const int level : {1, 3, 19})
    for (const int window_log : {0, 10, 14, 17}) {
      SCOPED_TRACE(std::to_string(level) + " " + std::to_string(window_log));
      const Bytes frame = written_by_libzstd(content, {.level = level, .window_log = window_log});
      expect_whole(frame, content, {.blocks = 100'000, .capacity = content.size()});
      expect_whole(frame, content, {.blocks = 100, .capacity = 300'000});
    }
}

TEST_F(ZstdFrameDeviceTest, RestoresRealFiles) {
  const char* const folder = std::getenv("HEMSTITCH_CORPORA");
  if (folder == nullptr) GTEST_SKIP() << "HEMSTITCH_CORPORA is not set";
  Bytes content;
  for (const char* name : {"dickens", "nci", "x-ray", "ooffice"})
    content = joined({content, testing::read_file(std::filesystem::path(folder) / "silesia" / name)});
  for (const int level : {1, 3, 12}) {
    SCOPED_TRACE(level);
    const Bytes frame = written_by_libzstd(content, {.level = level});
    expect_whole(frame, content, {.blocks = 100'000, .capacity = content.size()});
    expect_whole(frame, content, {.blocks = 64, .capacity = std::size_t{8} << 20});
  }
}

TEST_F(ZstdFrameDeviceTest, FramesThatNoEncoderWrites) {
  std::size_t blocks = 0;
  for (std::uint64_t seed = 0; seed < 300; ++seed) {
    SCOPED_TRACE(seed);
    const Bytes frame = testing::valid_zstd_frame(seed, seed % 50 == 0 ? 300'000 : 5000).data;
    blocks +=
        expect_beginning(frame, {.blocks = seed % 3 == 0 ? 1 + seed / 3 % 5 : 1000, .capacity = 400'000});
    if (HasFatalFailure()) return;
  }
  EXPECT_GT(blocks, 300);
}

TEST_F(ZstdFrameDeviceTest, DamageIsLeft) {
  const Bytes content =
      joined({testing::wordy_bytes(60'000), testing::runs_bytes(90'000, 1), testing::wordy_bytes(60'000, 3)});
  const Bytes frame = written_by_libzstd(content, {.level = 19, .window_log = 14, .checksum = false});
  const std::size_t header_bytes = 4 + zstd_header_rest_bytes(frame[4]);
  std::mt19937 random(4);
  for (int round = 0; round < 400; ++round) {
    SCOPED_TRACE(round);
    Bytes damaged = frame;
    for (auto changes = 1 + random() % 3; changes > 0; --changes)
      damaged[header_bytes + random() % (frame.size() - header_bytes)] ^= std::byte{1} << random() % 8;
    if (random() % 8 == 0) damaged.resize(header_bytes + random() % (frame.size() - header_bytes));
    expect_beginning(damaged, {.blocks = round % 2 == 0 ? 3u : 1000u, .capacity = 400'000});
    if (HasFatalFailure()) return;
  }
}

}  // namespace
}  // namespace hemstitch
