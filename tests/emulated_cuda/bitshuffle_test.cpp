// The kernels of bit shuffle on the processor, compared with the twin: each buffer between pages that cannot be touched, at every
// alignment on either side.
#include "compact/bitshuffle/bitshuffle.hpp"

#include <gtest/gtest.h>

#include <memory>

#include "compact/bitshuffle/bitshuffle_cuda.hpp"
#include "compact/bitshuffle/bitshuffle_tuning.hpp"
#include "core/status.hpp"
#include "kernel_buffer.hpp"
#include "shapes.hpp"

namespace hemstitch {
namespace {

using namespace testing;

// One launch for all buffers, each at four alignments on either side: between its end and a guard are as many bytes.
void expect_moved(const std::vector<std::size_t>& sizes, std::uint32_t element_bytes, std::size_t block_bytes,
                  bool forth) {
  std::vector<std::unique_ptr<KernelBuffer>> sources, targets;
  std::vector<const std::byte*> source_at;
  std::vector<std::byte*> target_at;
  std::vector<std::size_t> all_sizes;
  std::vector<Bytes> expected;
  for (const std::size_t size : sizes) {
    const Bytes content = random_bytes(size, static_cast<std::uint32_t>(size));
    Bytes moved(size);
    (forth ? bitshuffle_reference : bitunshuffle_reference)(content, element_bytes, block_bytes, moved);
    const std::size_t to_16 = (16 - size % 16) % 16;  // with as many, a buffer begins at a multiple of 16
    for (const auto& [source_gap, target_gap] : {std::pair{to_16, to_16},
                                                 {std::size_t{0}, to_16},
                                                 {to_16, std::size_t{0}},
                                                 {to_16 + 4, to_16 + 9}}) {
      sources.push_back(std::make_unique<KernelBuffer>(size + source_gap));
      targets.push_back(std::make_unique<KernelBuffer>(size + target_gap));
      std::ranges::copy(content, sources.back()->bytes().begin());
      std::ranges::fill(targets.back()->bytes(), std::byte{0xA5});
      source_at.push_back(sources.back()->bytes().data());
      target_at.push_back(targets.back()->bytes().data());
      all_sizes.push_back(size);
      expected.push_back(moved);
      expected.back().resize(size + target_gap, std::byte{0xA5});
    }
  }
  std::vector<std::byte> scratch(cuda::bitshuffle_cuda_scratch_bytes(all_sizes.size()));
  (forth ? cuda::bitshuffle_cuda : cuda::bitunshuffle_cuda)(
      {source_at.data(), all_sizes.data(), target_at.data(), all_sizes.size(), element_bytes, block_bytes},
      scratch.data(), scratch.size(), nullptr);
  for (std::size_t i = 0; i < all_sizes.size(); ++i) {
    const auto target = targets[i]->bytes();
    const auto wrong = std::ranges::mismatch(target, expected[i]).in1;
    ASSERT_TRUE(wrong == target.end())
        << (forth ? "bitshuffle" : "bitunshuffle") << ", elements of " << element_bytes << ", blocks of "
        << block_bytes << ", " << all_sizes[i] << " bytes at alignment " << i % 4 << ": byte "
        << wrong - target.begin();
  }
}

TEST(EmulatedBitshuffle, WritesTheBytesOfItsTwin) {
  std::size_t number = 0;
  for (const std::uint32_t element_bytes : {1u, 2u, 3u, 4u, 8u, 16u, 37u, kMostElementBytes}) {
    const std::size_t group = std::size_t{8} * element_bytes;
    const std::size_t tile = kBitshuffleTileBytes / group / 4 * 4 * group;
    std::vector<std::size_t> sizes = {0, 1, element_bytes, group - 1, group, group + 1, 0, 16 * group};
    for (std::size_t groups = 2; groups <= 9; ++groups) sizes.push_back(groups * group + groups % 3);
    for (const std::size_t more : {std::size_t{0}, group - 1, group, 2 * group, 5 * group + 1})
      sizes.insert(sizes.end(), {tile + more, 3 * tile - group + more});
    for (const bool forth : {true, false})
      for (const std::size_t block_bytes :
           {std::size_t{0}, group, 4 * group, 5 * group, tile, tile + group, 2 * tile})
        if (number++ % kTriedOneOf == 0) expect_moved(sizes, element_bytes, block_bytes, forth);
  }
}

TEST(EmulatedBitshuffle, RefusesElementsAndBlocksThatThereAreNot) {
  const std::size_t bytes = cuda::bitshuffle_cuda_scratch_bytes(100);
  std::vector<std::byte> scratch(bytes);
  cuda::BitshuffleBatch batch{nullptr, nullptr, nullptr, 100, 4, 0};
  EXPECT_THROW(cuda::bitshuffle_cuda(batch, scratch.data(), bytes - 1, nullptr), Error);
  batch.block_bytes = 33;
  EXPECT_THROW(cuda::bitshuffle_cuda(batch, scratch.data(), bytes, nullptr), Error);
  batch = {nullptr, nullptr, nullptr, 100, kMostElementBytes + 1, 0};
  EXPECT_THROW(cuda::bitunshuffle_cuda(batch, scratch.data(), bytes, nullptr), Error);
  batch = {nullptr, nullptr, nullptr, 0, 4, 0};
  EXPECT_NO_THROW(cuda::bitshuffle_cuda(batch, scratch.data(), bytes, nullptr));
}

}  // namespace
}  // namespace hemstitch
