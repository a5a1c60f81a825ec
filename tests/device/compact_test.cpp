// scan, gather and scatter on a CUDA device, against sums and copies made one after the other.
#include <cstring>
#include <optional>
#include <random>

#include "compact/gather/gather_cuda.hpp"
#include "compact/scan/scan_cuda.hpp"
#include "compact/scatter/scatter_cuda.hpp"
#include "cuda_test.hpp"
#include "device/cuda/device_buffer.hpp"

namespace hemstitch {
namespace {

class CompactDeviceTest : public CudaTest {
 protected:
  void SetUp() override {
    CudaTest::SetUp();
    if (!IsSkipped() && !HasFatalFailure()) stream_.emplace();
  }
  cudaStream_t stream() const { return stream_->get(); }
  void synchronize() const { stream_->synchronize(); }

 private:
  std::optional<cuda::Stream> stream_;
};

constexpr std::uint64_t kUnwritten = 0xA5A5A5A5A5A5A5A5u;

std::vector<std::uint32_t> sizes_of(std::size_t count, std::uint32_t seed, bool large) {
  std::mt19937 random(seed);
  std::vector<std::uint32_t> sizes(count);
  for (std::uint32_t& size : sizes) size = static_cast<std::uint32_t>(large ? random() : random() % 1000);
  return sizes;
}

TEST_F(CompactDeviceTest, ScanAddsUpAnyNumberOfSizes) {
  constexpr std::size_t kMost = (1 << 24) + 1;
  const std::vector<std::uint32_t> sizes = sizes_of(kMost, 1, true);  // the total is far above 32 bits
  std::vector<std::uint64_t> expected(kMost + 1, 0);
  for (std::size_t i = 0; i < kMost; ++i) expected[i + 1] = expected[i] + sizes[i];

  cuda::DeviceBuffer<std::uint32_t> d_sizes(kMost, stream());
  d_sizes.upload(sizes);
  cuda::DeviceBuffer<std::uint64_t> d_offsets(kMost + 2, stream());
  cuda::DeviceBuffer<std::byte> d_scratch(cuda::scan_sizes_cuda_scratch_bytes(kMost), stream());

  std::vector<std::size_t> counts;
  for (std::size_t count = 0; count <= 5000; ++count) counts.push_back(count);
  for (std::size_t power = 8192; power < kMost; power *= 2)
    counts.insert(counts.end(), {power - 1, power, power + 1});
  for (const std::size_t count : counts) {
    cuda::check(cudaMemsetAsync(d_offsets.get(), 0xA5, (count + 2) * sizeof(std::uint64_t), stream()),
                "cudaMemsetAsync");
    cuda::scan_sizes_cuda(d_sizes.get(), count, d_offsets.get(), d_scratch.get(), d_scratch.bytes(),
                          stream());
    std::vector<std::uint64_t> offsets(count + 2);
    cuda::check(cudaMemcpyAsync(offsets.data(), d_offsets.get(), offsets.size() * sizeof(std::uint64_t),
                                cudaMemcpyDeviceToHost, stream()),
                "cudaMemcpyAsync");
    synchronize();
    ASSERT_TRUE(std::equal(offsets.begin(), offsets.end() - 1, expected.begin())) << count << " sizes";
    ASSERT_EQ(offsets.back(), kUnwritten) << count << " sizes: wrote behind the total";
  }
}

TEST_F(CompactDeviceTest, ScanNeedsItsScratch) {
  const std::size_t scratch_bytes = cuda::scan_sizes_cuda_scratch_bytes(100);
  ASSERT_GT(scratch_bytes, 0u);
  cuda::DeviceBuffer<std::byte> d_scratch(scratch_bytes, stream());
  EXPECT_THROW(cuda::scan_sizes_cuda(nullptr, 100, nullptr, d_scratch.get(), scratch_bytes - 1, stream()),
               Error);
  EXPECT_THROW(cuda::scan_sizes_cuda(nullptr, 100, nullptr, nullptr, scratch_bytes, stream()), Error);
}

// Pieces of `sizes` at sources of every alignment, gathered at an output of every alignment, with guard bytes between
// the pieces, and scattered back. Returns the first wrong byte (of the way back: beyond the output's size), or nothing.
std::optional<std::size_t> first_wrong_byte(const std::vector<std::uint32_t>& sizes,
                                            unsigned source_alignment, unsigned output_alignment,
                                            cudaStream_t stream) {
  constexpr std::size_t kGuardBytes = 16;
  std::mt19937 random(source_alignment * 16 + output_alignment);
  std::size_t source_bytes = 0, output_bytes = output_alignment;
  std::vector<std::size_t> begins;
  std::vector<std::uint64_t> offsets;
  for (const std::uint32_t size : sizes) {
    source_bytes = (source_bytes + 15) / 16 * 16 + source_alignment;
    begins.push_back(source_bytes);
    source_bytes += size;
    offsets.push_back(output_bytes);
    output_bytes += (size + kGuardBytes + 15) / 16 * 16;
  }
  std::vector<std::byte> source(source_bytes), expected(output_bytes, std::byte{0xA5}), output(output_bytes);
  for (std::byte& byte : source) byte = static_cast<std::byte>(random() % 0xA5);
  for (std::size_t i = 0; i < sizes.size(); ++i)
    std::memcpy(expected.data() + offsets[i], source.data() + begins[i], sizes[i]);

  cuda::DeviceBuffer<std::byte> d_source(source_bytes, stream), d_output(output_bytes, stream);
  d_source.upload(source);
  cuda::check(cudaMemsetAsync(d_output.get(), 0xA5, output_bytes, stream), "cudaMemsetAsync");
  std::vector<const std::byte*> sources;
  for (const std::size_t begin : begins) sources.push_back(d_source.get() + begin);
  cuda::DeviceBuffer<const std::byte*> d_sources(sizes.size(), stream);
  d_sources.upload(sources);
  cuda::DeviceBuffer<std::uint32_t> d_sizes(sizes.size(), stream);
  d_sizes.upload(sizes);
  cuda::DeviceBuffer<std::uint64_t> d_offsets(sizes.size(), stream);
  d_offsets.upload(offsets);
  cuda::DeviceBuffer<std::byte> d_scratch(cuda::gather_pieces_cuda_scratch_bytes(sizes.size()), stream);
  cuda::gather_pieces_cuda(d_sources.get(), d_sizes.get(), d_offsets.get(), sizes.size(), d_output.get(),
                           d_scratch.get(), d_scratch.bytes(), stream);
  d_output.download(output);
  // And back: scattered to where the pieces came from, in memory that holds nothing else.
  cuda::DeviceBuffer<std::byte> d_back(source_bytes, stream);
  cuda::check(cudaMemsetAsync(d_back.get(), 0xA5, source_bytes, stream), "cudaMemsetAsync");
  std::vector<std::byte*> targets;
  std::vector<std::byte> back(source_bytes), expected_back(source_bytes, std::byte{0xA5});
  for (std::size_t i = 0; i < sizes.size(); ++i) {
    targets.push_back(d_back.get() + begins[i]);
    std::memcpy(expected_back.data() + begins[i], source.data() + begins[i], sizes[i]);
  }
  cuda::DeviceBuffer<std::byte*> d_targets(sizes.size(), stream);
  d_targets.upload(targets);
  cuda::scatter_pieces_cuda(d_output.get(), d_offsets.get(), d_sizes.get(), sizes.size(), d_targets.get(),
                            nullptr, cuda::scatter_pieces_cuda_scratch_bytes(sizes.size()), stream);
  d_back.download(back);
  cuda::check(cudaStreamSynchronize(stream), "cudaStreamSynchronize");
  const auto wrong = std::mismatch(output.begin(), output.end(), expected.begin());
  if (wrong.first != output.end()) return static_cast<std::size_t>(wrong.first - output.begin());
  const auto wrong_back = std::mismatch(back.begin(), back.end(), expected_back.begin());
  if (wrong_back.first != back.end())
    return output_bytes + static_cast<std::size_t>(wrong_back.first - back.begin());
  return std::nullopt;
}

TEST_F(CompactDeviceTest, GatherCopiesAtEveryPairOfAlignments) {
  // Sizes around those at which a batched copy hands pieces from threads to warps to blocks.
  std::vector<std::uint32_t> sizes;
  for (std::uint32_t size = 0; size <= 70; ++size) sizes.push_back(size);
  for (const std::uint32_t size : {127u, 128u, 129u, 1023u, 1024u, 1025u, 8191u, 8193u, 40'000u})
    sizes.push_back(size);
  for (unsigned source = 0; source < 16; ++source)
    for (unsigned output = 0; output < 16; ++output)
      ASSERT_EQ(first_wrong_byte(sizes, source, output, stream()), std::nullopt) << source << ", " << output;
}

TEST_F(CompactDeviceTest, GatherCopiesAnyNumberOfPieces) {
  for (const std::size_t count : {1u, 2u, 31u, 33u, 1000u, 4097u, 100'000u})
    ASSERT_EQ(first_wrong_byte(sizes_of(count, 3, false), 3, 5, stream()), std::nullopt)
        << count << " pieces";
  std::vector<std::uint32_t> one_large = sizes_of(3000, 4, false);
  one_large[1234] = 30'000'001;
  ASSERT_EQ(first_wrong_byte(one_large, 7, 9, stream()), std::nullopt);
  std::mt19937 random(5);
  std::vector<std::uint32_t> up_to_a_megabyte(300);
  for (std::uint32_t& size : up_to_a_megabyte) size = static_cast<std::uint32_t>(random() % 1'000'001);
  ASSERT_EQ(first_wrong_byte(up_to_a_megabyte, 1, 2, stream()), std::nullopt);
  ASSERT_EQ(first_wrong_byte(std::vector<std::uint32_t>(200'000, 0), 1, 2, stream()), std::nullopt);
}

TEST_F(CompactDeviceTest, GatherOfNothingIsNothing) {
  EXPECT_NO_THROW({
    cuda::DeviceBuffer<std::byte> d_scratch(cuda::gather_pieces_cuda_scratch_bytes(0) + 1, stream());
    cuda::gather_pieces_cuda(nullptr, nullptr, nullptr, 0, nullptr, d_scratch.get(), d_scratch.bytes(),
                             stream());
    synchronize();
  });
}

}  // namespace
}  // namespace hemstitch
