// What Zstandard's encoder writes behind its parse, by the kernels of CUDA on the processor (emulated_cuda.hpp): bytes, sizes and prices equal to the
// twin's, and read by libzstd. Content and output are between pages that cannot be touched.
#include <cuda_runtime.h>
#include <gtest/gtest.h>

#include <cstring>
#include <memory>

#include "format/zstd/compress/zstd_encoder_stages_cuda.hpp"
#include "kernel_buffer.hpp"
#include "zstd_encode_cases.hpp"

namespace hemstitch {
namespace {

using namespace testing;

// All cases as one batch.
class Encoding {
 public:
  explicit Encoding(const std::vector<ZstdEncodeCase>& cases, Against against) : cases_(cases) {
    for (const ZstdEncodeCase& one : cases) {
      const auto content_bytes = static_cast<std::uint32_t>(one.content().size());
      contents_.push_back(std::make_unique<KernelBuffer>(one.data, against));
      list_.push_back({contents_.back()->bytes().data() + one.history_bytes, content_bytes,
                       static_cast<std::uint32_t>(one.history_bytes), blocks_.total_block_bytes});
      blocks_.max_block_bytes = std::max(blocks_.max_block_bytes, content_bytes);
      blocks_.total_block_bytes += content_bytes;
    }
    blocks_.d_blocks = list_.data();
    blocks_.block_count = static_cast<std::uint32_t>(cases.size());
    lists_.resize(cuda::device_sequence_capacity(blocks_, zstd_block_plan()));
    counts_.resize(cases.size());
    for (std::uint32_t i = 0; i < cases.size(); ++i) {
      counts_[i] = static_cast<std::uint32_t>(cases[i].parsed.size());
      std::ranges::copy(cases[i].parsed, &lists_.at(first_sequence(list_[i].position, i, zstd_block_plan())));
    }
    sequences_ = {lists_.data(), counts_.data(), nullptr};
    cuda::Carver count(nullptr);
    cuda::take_zstd_encode_room(blocks_, count, count);
    scratch_ = std::make_unique<KernelBuffer>(count.bytes(), against);
    std::ranges::fill(scratch_->bytes(), std::byte{0x5F});
    cuda::Carver carver(scratch_->bytes().data());
    room_ = cuda::take_zstd_encode_room(blocks_, carver, carver);
  }

  std::vector<ZstdDevicePrices> prices() const {
    std::vector<ZstdDevicePrices> prices(cases_.size());
    cuda::price_zstd_blocks_cuda(blocks_, sequences_, room_, prices.data(), nullptr);
    return prices;
  }
  // Each block's output is its own.
  std::vector<Bytes> blocks(Against against) const {
    std::vector<std::uint32_t> sizes(cases_.size(), ~0u);
    cuda::size_zstd_blocks_cuda(blocks_, sequences_, room_, sizes.data(), nullptr);
    std::vector<std::unique_ptr<KernelBuffer>> outputs;
    std::vector<std::byte*> targets;
    for (std::size_t i = 0; i < cases_.size(); ++i) {
      outputs.push_back(std::make_unique<KernelBuffer>(std::min<std::size_t>(sizes[i], 70'000), against));
      targets.push_back(outputs.back()->bytes().data());
    }
    cuda::pack_zstd_blocks_cuda(blocks_, room_, targets.data(), nullptr);
    std::vector<Bytes> made;
    for (const auto& output : outputs) made.emplace_back(output->bytes().begin(), output->bytes().end());
    return made;
  }

 private:
  const std::vector<ZstdEncodeCase>& cases_;
  std::vector<std::unique_ptr<KernelBuffer>> contents_;
  std::vector<DeviceBlock> list_;
  DeviceBlocks blocks_;
  std::vector<Sequence> lists_;
  std::vector<std::uint32_t> counts_;
  cuda::DeviceSequences sequences_{};
  std::unique_ptr<KernelBuffer> scratch_;
  cuda::ZstdEncodeRoom room_{};
};

void expect_as_by_twin(const std::vector<ZstdEncodeCase>& cases, Against against = Against::kUpperGuard) {
  const Encoding encoding(cases, against);
  const std::vector<ZstdDevicePrices> prices = encoding.prices();
  const std::vector<Bytes> blocks = encoding.blocks(against);
  std::size_t compressed = 0;
  for (std::size_t i = 0; i < cases.size(); ++i) {
    const Bytes expected = cases[i].by_twin();
    ASSERT_EQ(blocks[i].size(), expected.size()) << cases[i].name;
    const auto different = std::ranges::mismatch(blocks[i], expected).in1 - blocks[i].begin();
    ASSERT_EQ(different, std::ssize(expected)) << cases[i].name;
    if (expected.empty()) continue;
    expect_zstd_prices(cases[i], prices[i]);
    expect_libzstd_reads(cases[i], blocks[i]);
    compressed += read_zstd_block_header(expected.data()).type == ZstdBlockType::kCompressed;
  }
  EXPECT_GT(compressed, 0u);
  EXPECT_LT(compressed, cases.size());
}

std::vector<ZstdEncodeCase> one_of(std::size_t some, std::vector<ZstdEncodeCase> cases) {
  std::vector<ZstdEncodeCase> taken;
  for (std::size_t i = 0; i < cases.size(); i += some) taken.push_back(std::move(cases[i]));
  return taken;
}

TEST(EmulatedZstdEncode, SmallBlocksAreTheTwins) {
  expect_as_by_twin(one_of(kTriedOneOf, small_zstd_encode_cases()));
}

TEST(EmulatedZstdEncode, SmallBlocksAtTheLowerGuardAreTheTwins) {
  expect_as_by_twin(one_of(5 * kTriedOneOf, small_zstd_encode_cases()), Against::kLowerGuard);
}

TEST(EmulatedZstdEncode, LargeBlocksAreTheTwins) {
  expect_as_by_twin(one_of(kTriedOneOf, large_zstd_encode_cases()));
}

TEST(EmulatedZstdEncode, BlocksOfRealFilesAreTheTwins) {
  if (!corpora()) GTEST_SKIP() << "HEMSTITCH_CORPORA is not set";
  constexpr std::size_t kHistory = 100'000;
  std::vector<ZstdEncodeCase> cases{zstd_case_of("noise", {{1000, 0, 0}}, below(256))};
  for (const char* name : {"dickens", "mr", "nci", "ooffice", "osdb", "samba", "x-ray", "xml"}) {
    const Bytes file = read_file(*corpora() / "silesia" / name, std::size_t{1} << 20);
    Bytes data(file.end() - static_cast<std::ptrdiff_t>(kHistory + kZstdOwnBlockBytes), file.end());
    cases.push_back(parsed_zstd_case(name, std::move(data), kHistory));
  }
  expect_as_by_twin(one_of(kTriedOneOf, std::move(cases)));
}

}  // namespace
}  // namespace hemstitch
