// One frame of Zstandard of many blocks, restored by kernels on the processor, compared with the reference.
#include <cuda_runtime.h>
#include <gtest/gtest.h>

#include <random>

#include "valid_data/valid_data.hpp"
#include "zstd_frame_kernels.hpp"

namespace hemstitch {
namespace {

using namespace testing;

std::size_t blocks_of(std::span<const std::byte> frame) {
  return find_zstd_blocks(frame.subspan(4 + zstd_header_rest_bytes(frame[4])), ~std::size_t{0}).at.size();
}

// The outcome, the content and the place are the reference's. Returns how many blocks the kernels restored.
std::size_t expect_by_reference(std::span<const std::byte> frame, const ZstdPieces& pieces = {}) {
  const ZstdRead expected = read_by_reference(frame);
  const ReadByZstdFrameKernels restored = read_by_zstd_frame_kernels(frame, pieces);
  EXPECT_EQ(restored.read.outcome, expected.outcome);
  EXPECT_EQ(restored.read.why, expected.why);
  EXPECT_EQ(restored.read.used_bytes, expected.used_bytes);
  EXPECT_TRUE(restored.read.content == expected.content);
  return restored.blocks;
}

Bytes mixed_bytes(std::size_t size, std::uint32_t seed = 0) {
  Bytes content = wordy_bytes(size / 2, seed);
  for (const Bytes& part : {random_bytes(size / 4, 3 + seed, 40), equal_bytes(size / 8), runs_bytes(size / 8, 5 + seed)})
    content.insert(content.end(), part.begin(), part.end());
  return content;
}

TEST(EmulatedZstdFrame, FramesOfLibzstd) {
  Bytes content = mixed_bytes(200'000);
  const Bytes noise = random_bytes(150'000, 9);  // of which blocks are raw
  content.insert(content.end(), noise.begin(), noise.end());
  const Bytes again = mixed_bytes(200'000, 1);
  content.insert(content.end(), again.begin(), again.end());
  for (const int level : {1, 3, 19})
    for (const int window_log : {0, 10, 14, 17})
      if (kTriedOneOf == 1 || window_log == 14) {
        const Bytes frame = written_by_libzstd(content, {.level = level, .window_log = window_log});
        SCOPED_TRACE(level * 100 + window_log);
        EXPECT_EQ(expect_by_reference(frame), blocks_of(frame));
      }
}

}  // namespace
}  // namespace hemstitch
