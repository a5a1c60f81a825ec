// bitshuffle and bitunshuffle on a CUDA device, compared with their twin, between guard bytes.
#include "compact/bitshuffle/bitshuffle.hpp"

#include <algorithm>
#include <cstring>
#include <random>

#include "compact/bitshuffle/bitshuffle_cuda.hpp"
#include "compact/bitshuffle/bitshuffle_tuning.hpp"
#include "cuda_test.hpp"
#include "gpu/cuda/device_buffer.hpp"
#include "hemstitch/batch.hpp"

namespace hemstitch {
namespace {

class BitshuffleDeviceTest : public CudaStreamTest {
 protected:
  // Buffers of `sizes`, with gaps between them, so that each has the next of 16 alignments; different ones on
  // either side.
  void expect_moved(const std::vector<std::size_t>& sizes, std::uint32_t element_bytes,
                    std::size_t block_bytes, bool forth, std::size_t source_step,
                    std::size_t target_step) const {
    const auto place_all = [&](std::size_t step) {
      std::vector<std::size_t> places;
      std::size_t end = 0;
      for (const std::size_t size : sizes) {
        places.push_back((end + 15) / 16 * 16 + places.size() * step % 16);
        end = places.back() + size;
      }
      places.push_back(end + 64);
      return places;
    };
    const std::vector<std::size_t> from = place_all(source_step), to = place_all(target_step);
    std::mt19937 random(element_bytes);
    std::vector<std::byte> source(from.back()), expected(to.back(), std::byte{0xA5}), result(to.back());
    for (std::byte& byte : source) byte = static_cast<std::byte>(random());
    for (std::size_t i = 0; i < sizes.size(); ++i)
      (forth ? bitshuffle_bytes : bitunshuffle_bytes)(std::span(source).subspan(from[i], sizes[i]),
                                                      element_bytes, block_bytes,
                                                      std::span(expected).subspan(to[i], sizes[i]));

    cuda::DeviceBuffer<std::byte> d_source(source.size(), stream()), d_target(to.back(), stream());
    d_source.upload(source);
    cuda::check(cudaMemsetAsync(d_target.get(), 0xA5, to.back(), stream()), "cudaMemsetAsync");
    std::vector<const void*> sources;
    std::vector<void*> targets;
    for (std::size_t i = 0; i < sizes.size(); ++i) {
      sources.push_back(d_source.get() + from[i]);
      targets.push_back(d_target.get() + to[i]);
    }
    cuda::DeviceBuffer<const void*> d_sources(sizes.size(), stream());
    d_sources.upload(sources);
    cuda::DeviceBuffer<void*> d_targets(sizes.size(), stream());
    d_targets.upload(targets);
    cuda::DeviceBuffer<std::size_t> d_sizes(sizes.size(), stream());
    d_sizes.upload(sizes);
    const cuda::DeviceBuffer<std::byte> d_temp(batch::bitshuffle_temp_bytes(sizes.size()), stream());
    (forth ? batch::bitshuffle : batch::bitunshuffle)(
        {d_sources.get(), sizes.size()}, {d_sizes.get(), sizes.size()}, {d_targets.get(), sizes.size()},
        element_bytes, block_bytes, {d_temp.get(), d_temp.bytes()}, stream());
    d_target.download(result);
    cuda::check(cudaStreamSynchronize(stream()), "cudaStreamSynchronize");
    const auto wrong = std::mismatch(result.begin(), result.end(), expected.begin()).first;
    ASSERT_TRUE(wrong == result.end())
        << (forth ? "bitshuffle" : "bitunshuffle") << ", elements of " << element_bytes << ", blocks of "
        << block_bytes << ", steps of " << source_step << " and " << target_step << ": byte "
        << wrong - result.begin() << " of " << result.size();
  }
};

TEST_F(BitshuffleDeviceTest, MovesBuffersOfEverySizeAtEveryAlignment) {
  for (const std::uint32_t element_bytes : {1u, 2u, 3u, 4u, 5u, 8u, 12u, 16u, 17u, 255u, 256u}) {
    const std::size_t group = std::size_t{8} * element_bytes;
    const std::size_t tile = kBitshuffleTileBytes / group / 4 * 4 * group;
    std::vector<std::size_t> sizes = {0, 1, element_bytes, group - 1, group, group + 1, 0, 0};
    for (std::size_t groups = 2; groups <= 70; ++groups) sizes.push_back(groups * group + groups % 3);
    for (const std::size_t more : {std::size_t{0}, group - 1, group, 2 * group, 5 * group + 1})
      sizes.insert(sizes.end(), {tile + more, 3 * tile - group + more});
    for (const bool forth : {true, false})
      for (const std::size_t block_bytes :
           {std::size_t{0}, group, 4 * group, 5 * group, tile, tile + group, 2 * tile})
        for (const auto& [source_step, target_step] : {std::pair{0u, 0u}, {1u, 0u}, {0u, 1u}, {4u, 7u}})
          expect_moved(sizes, element_bytes, block_bytes, forth, source_step, target_step);
  }
}

TEST_F(BitshuffleDeviceTest, MovesAnyNumberOfBuffers) {
  std::mt19937 random(2);
  for (const std::size_t count : {1u, 31u, 33u, 1025u, 50'000u}) {
    std::vector<std::size_t> sizes(count);
    for (std::size_t& size : sizes) size = random() % 5 == 0 ? 0 : random() % 300;
    sizes[count / 2] = 5'000'003;  // a large one among small ones
    for (const bool forth : {true, false})
      for (const std::size_t block_bytes : {0u, 8192u}) expect_moved(sizes, 4, block_bytes, forth, 3, 5);
  }
  expect_moved(std::vector<std::size_t>(10'000, 0), 8, 0, true, 0, 0);
  expect_moved(std::vector<std::size_t>(300, 65536), 8, 8192, false, 0, 0);
}

TEST_F(BitshuffleDeviceTest, NeedsItsMemoryAndElementsAndBlocksThatThereAre) {
  const std::size_t bytes = cuda::bitshuffle_cuda_scratch_bytes(100);
  const cuda::DeviceBuffer<std::byte> d_scratch(bytes, stream());
  cuda::BitshuffleBatch batch{nullptr, nullptr, nullptr, 100, 4, 0};
  EXPECT_THROW(cuda::bitshuffle_cuda(batch, d_scratch.get(), bytes - 1, stream()), Error);
  batch.block_bytes = 16;
  EXPECT_THROW(cuda::bitshuffle_cuda(batch, d_scratch.get(), bytes, stream()), Error);
  batch.block_bytes = 0;
  batch.element_bytes = 0;
  EXPECT_THROW(cuda::bitshuffle_cuda(batch, d_scratch.get(), bytes, stream()), Error);
  batch.element_bytes = kMostElementBytes + 1;
  EXPECT_THROW(cuda::bitunshuffle_cuda(batch, d_scratch.get(), bytes, stream()), Error);
  batch = {nullptr, nullptr, nullptr, 0, 4, 0};
  EXPECT_NO_THROW(cuda::bitshuffle_cuda(batch, d_scratch.get(), bytes, stream()));
}

}  // namespace
}  // namespace hemstitch
