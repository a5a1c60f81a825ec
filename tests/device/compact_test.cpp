// scan, gather and scatter on a CUDA device, compared with serial sums and copies.
#include <algorithm>
#include <cstring>
#include <optional>
#include <random>

#include "captured_graph.hpp"
#include "compact/gather/gather_cuda.hpp"
#include "compact/scan/scan_cuda.hpp"
#include "compact/scatter/scatter_cuda.hpp"
#include "cuda_test.hpp"
#include "gpu/cuda/device_buffer.hpp"

namespace hemstitch {
namespace {

using CompactDeviceTest = CudaStreamTest;

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

// A captured graph may run many times, over other sizes at the same place; also over none.
TEST_F(CompactDeviceTest, ScanRunsInAGraph) {
  for (const std::size_t count : {0u, 1u, 7000u}) {
    cuda::DeviceBuffer<std::uint32_t> d_sizes(std::max<std::size_t>(count, 1), stream());
    cuda::DeviceBuffer<std::uint64_t> d_offsets(count + 1, stream());
    cuda::DeviceBuffer<std::byte> d_scratch(cuda::scan_sizes_cuda_scratch_bytes(count), stream());
    synchronize();
    const testing::CapturedGraph graph(stream(), [&] {
      cuda::scan_sizes_cuda(d_sizes.get(), count, d_offsets.get(), d_scratch.get(), d_scratch.bytes(),
                            stream());
    });
    for (std::uint32_t seed = 1; seed <= 3; ++seed) {
      const std::vector<std::uint32_t> sizes = sizes_of(count, seed, true);
      if (count != 0) d_sizes.upload(sizes);
      cuda::check(cudaMemsetAsync(d_offsets.get(), 0xA5, (count + 1) * sizeof(std::uint64_t), stream()),
                  "cudaMemsetAsync");
      graph.launch();
      std::vector<std::uint64_t> offsets(count + 1), expected(count + 1, 0);
      d_offsets.download(offsets);
      synchronize();
      for (std::size_t i = 0; i < count; ++i) expected[i + 1] = expected[i] + sizes[i];
      EXPECT_TRUE(offsets == expected) << count << " sizes, seed " << seed;
    }
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

enum class Spacing { kGuarded, kDense };

// Gathers pieces of `sizes` from sources of one alignment to an output of another, and scatters them back,
// with guard bytes between the pieces, or without, so that neighbours meet within a word. Returns the first
// wrong byte (on the way back: beyond the output's size), or nothing.
std::optional<std::size_t> first_wrong_byte(const std::vector<std::uint32_t>& sizes,
                                            unsigned source_alignment, unsigned output_alignment,
                                            cudaStream_t stream, Spacing spacing = Spacing::kGuarded) {
  constexpr std::size_t kGuardBytes = 16;
  std::mt19937 random(source_alignment * 16 + output_alignment);
  const bool dense = spacing == Spacing::kDense;
  std::size_t source_bytes = dense ? source_alignment : 0, output_bytes = output_alignment;
  std::vector<std::size_t> begins;
  std::vector<std::uint64_t> offsets;
  for (const std::uint32_t size : sizes) {
    if (!dense) source_bytes = (source_bytes + 15) / 16 * 16 + source_alignment;
    begins.push_back(source_bytes);
    source_bytes += size;
    offsets.push_back(output_bytes);
    output_bytes += dense ? size : (size + kGuardBytes + 15) / 16 * 16;
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
  // Then scatters the pieces to where they came from, in memory that has nothing else.
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
  // Sizes around those at which a batched copy assigns pieces to threads, warps or blocks.
  std::vector<std::uint32_t> sizes;
  for (std::uint32_t size = 0; size <= 70; ++size) sizes.push_back(size);
  for (const std::uint32_t size : {127u, 128u, 129u, 1023u, 1024u, 1025u, 8191u, 8193u, 40'000u})
    sizes.push_back(size);
  for (unsigned source = 0; source < 16; ++source)
    for (unsigned output = 0; output < 16; ++output)
      ASSERT_EQ(first_wrong_byte(sizes, source, output, stream()), std::nullopt) << source << ", " << output;
}

// Adjacent pieces: words with parts of two pieces, and of up to sixteen.
TEST_F(CompactDeviceTest, GatherJoinsPiecesInOneWord) {
  std::vector<std::uint32_t> sizes;
  for (std::uint32_t size = 0; size <= 40; ++size) sizes.push_back(size);
  for (int i = 0; i < 100; ++i) sizes.push_back(1);
  for (int i = 0; i < 100; ++i) sizes.push_back(i % 7 == 0 ? 0 : i % 3 + 1);
  for (unsigned source = 0; source < 16; ++source)
    for (unsigned output = 0; output < 16; ++output)
      ASSERT_EQ(first_wrong_byte(sizes, source, output, stream(), Spacing::kDense), std::nullopt)
          << source << ", " << output;
  std::mt19937 random(6);
  for (const std::uint32_t most : {1u, 2u, 5u, 17u, 40u, 256u, 3000u}) {
    std::vector<std::uint32_t> many(50'000);
    for (std::uint32_t& size : many) size = static_cast<std::uint32_t>(random() % (most + 1));
    ASSERT_EQ(first_wrong_byte(many, 1, 6, stream(), Spacing::kDense), std::nullopt)
        << "up to " << most << " bytes";
  }
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

// The tests of founding document 002 (docs/founding.md), with the total after the offsets, and sums of 64
// bits.
TEST_F(CompactDeviceTest, DoesWhatItsDocumentTests) {
  std::vector<std::vector<std::uint32_t>> lists = {{100, 200, 150, 300, 50}, {}, {}};
  for (std::uint32_t i = 0; i < 10'000; ++i) lists[1].push_back(i % 1000 + 100);
  for (std::uint32_t i = 0; i < 1000; ++i) lists[2].push_back(100 + i);
  for (const std::vector<std::uint32_t>& sizes : lists) {
    cuda::DeviceBuffer<std::uint32_t> d_sizes(sizes.size(), stream());
    d_sizes.upload(sizes);
    cuda::DeviceBuffer<std::uint64_t> d_offsets(sizes.size() + 1, stream());
    cuda::DeviceBuffer<std::byte> d_scratch(cuda::scan_sizes_cuda_scratch_bytes(sizes.size()), stream());
    cuda::scan_sizes_cuda(d_sizes.get(), sizes.size(), d_offsets.get(), d_scratch.get(), d_scratch.bytes(),
                          stream());
    // A file for each size, whose bytes identify it.
    std::vector<std::byte> files;
    std::vector<std::uint64_t> expected = {0};
    for (std::size_t i = 0; i < sizes.size(); ++i) {
      files.insert(files.end(), sizes[i], static_cast<std::byte>(i));
      expected.push_back(files.size());
    }
    cuda::DeviceBuffer<std::byte> d_files(files.size(), stream()), d_span(files.size(), stream());
    d_files.upload(files);
    std::vector<const std::byte*> sources;
    for (std::size_t i = 0; i < sizes.size(); ++i) sources.push_back(d_files.get() + expected[i]);
    cuda::DeviceBuffer<const std::byte*> d_sources(sizes.size(), stream());
    d_sources.upload(sources);
    cuda::gather_pieces_cuda(d_sources.get(), d_sizes.get(), d_offsets.get(), sizes.size(), d_span.get(),
                             nullptr, 0, stream());
    std::vector<std::uint64_t> offsets(sizes.size() + 1);
    d_offsets.download(offsets);
    std::vector<std::byte> span(files.size());
    d_span.download(span);
    synchronize();
    EXPECT_TRUE(offsets == expected);
    EXPECT_TRUE(span == files);
  }
}

// Offsets beyond 2^32: large pieces from one source, with small ones in between, one of which crosses the
// boundary.
TEST_F(CompactDeviceTest, GatherAndScatterGoBeyondFourGigabytes) {
  constexpr std::size_t kLargeBytes = 306'525'001, kLarge = 16, kSmall = 50'000, kMostSmall = 97;
  std::size_t free_bytes = 0, all_bytes = 0;
  cuda::check(cudaMemGetInfo(&free_bytes, &all_bytes), "cudaMemGetInfo");
  if (free_bytes < std::size_t{7} << 30) GTEST_SKIP() << "not enough device memory";

  std::mt19937 random(8);
  std::vector<std::byte> source(kLargeBytes + kMostSmall);
  for (std::size_t i = 0; i + 4 <= source.size(); i += 4) {
    const auto word = static_cast<std::uint32_t>(random());
    std::memcpy(source.data() + i, &word, 4);
  }
  cuda::DeviceBuffer<std::byte> d_source(source.size(), stream());
  d_source.upload(source);
  std::vector<std::uint32_t> sizes;
  std::vector<std::size_t> begins;
  std::vector<const std::byte*> sources;
  std::vector<std::uint64_t> offsets = {0};
  const auto add = [&](std::size_t begin, std::uint32_t size) {
    begins.push_back(begin);
    sources.push_back(d_source.get() + begin);
    sizes.push_back(size);
    offsets.push_back(offsets.back() + size);
  };
  for (std::size_t i = 0; i < kLarge; ++i) {
    add(i, static_cast<std::uint32_t>(kLargeBytes));
    if (i % 7 == 6)
      for (std::size_t j = 0; j < kSmall; ++j)
        add(random() % kLargeBytes, static_cast<std::uint32_t>(random() % kMostSmall));
  }
  ASSERT_GT(offsets.back(), std::uint64_t{1} << 32);

  const std::size_t count = sizes.size();
  cuda::DeviceBuffer<const std::byte*> d_sources(count, stream());
  d_sources.upload(sources);
  cuda::DeviceBuffer<std::uint32_t> d_sizes(count, stream());
  d_sizes.upload(sizes);
  cuda::DeviceBuffer<std::uint64_t> d_offsets(count + 1, stream());
  cuda::DeviceBuffer<std::byte> d_scratch(cuda::scan_sizes_cuda_scratch_bytes(count), stream());
  cuda::scan_sizes_cuda(d_sizes.get(), count, d_offsets.get(), d_scratch.get(), d_scratch.bytes(), stream());
  std::vector<std::uint64_t> scanned(count + 1);
  d_offsets.download(scanned);
  cuda::DeviceBuffer<std::byte> d_output(offsets.back(), stream());
  cuda::gather_pieces_cuda(d_sources.get(), d_sizes.get(), d_offsets.get(), count, d_output.get(), nullptr, 0,
                           stream());
  synchronize();
  ASSERT_TRUE(scanned == offsets);
  const auto expect_piece = [&](std::size_t i) {
    std::vector<std::byte> piece(sizes[i]);
    if (piece.empty()) return;
    cuda::check(cudaMemcpy(piece.data(), d_output.get() + offsets[i], piece.size(), cudaMemcpyDeviceToHost),
                "cudaMemcpy");
    ASSERT_EQ(std::memcmp(piece.data(), source.data() + begins[i], piece.size()), 0) << "piece " << i;
  };
  for (std::size_t i = 0; i < count; ++i)
    if (sizes[i] == kLargeBytes || i % 500 == 0) expect_piece(i);

  // Scatters only pieces around the boundary back, from 10 before it on; without the large ones, which would
  // overlap.
  std::size_t first = 0;
  while (offsets[first + 1] <= std::uint64_t{1} << 32) ++first;
  ASSERT_LT(sizes[first], kMostSmall);
  first -= 10;
  std::vector<std::uint32_t> back_sizes;
  std::vector<std::uint64_t> back_offsets;
  std::vector<std::size_t> back_begins;
  std::size_t back_bytes = 0;
  for (std::size_t i = first; i < count; ++i) {
    if (sizes[i] == kLargeBytes && i > first + 20) continue;
    back_sizes.push_back(sizes[i] == kLargeBytes ? 1'000'003 : sizes[i]);
    back_offsets.push_back(offsets[i]);
    back_begins.push_back(back_bytes);
    back_bytes += back_sizes.back() + 1;
  }
  const std::size_t back_count = back_sizes.size();
  cuda::DeviceBuffer<std::byte> d_back(back_bytes, stream());
  cuda::check(cudaMemsetAsync(d_back.get(), 0xA5, back_bytes, stream()), "cudaMemsetAsync");
  std::vector<std::byte*> targets;
  for (const std::size_t begin : back_begins) targets.push_back(d_back.get() + begin);
  cuda::DeviceBuffer<std::byte*> d_targets(back_count, stream());
  d_targets.upload(targets);
  cuda::DeviceBuffer<std::uint32_t> d_back_sizes(back_count, stream());
  d_back_sizes.upload(back_sizes);
  cuda::DeviceBuffer<std::uint64_t> d_back_offsets(back_count, stream());
  d_back_offsets.upload(back_offsets);
  cuda::scatter_pieces_cuda(d_output.get(), d_back_offsets.get(), d_back_sizes.get(), back_count,
                            d_targets.get(), nullptr, 0, stream());
  std::vector<std::byte> back(back_bytes);
  d_back.download(back);
  synchronize();
  for (std::size_t i = 0; i < back_count; ++i) {
    const std::size_t piece = static_cast<std::size_t>(
        std::lower_bound(offsets.begin(), offsets.end(), back_offsets[i]) - offsets.begin());
    // Empty pieces share their offset with the next one.
    if (back_sizes[i] != 0) {
      std::size_t with_bytes = piece;
      while (sizes[with_bytes] == 0) ++with_bytes;
      ASSERT_EQ(std::memcmp(back.data() + back_begins[i], source.data() + begins[with_bytes], back_sizes[i]),
                0)
          << "piece " << i;
    }
    ASSERT_EQ(back[back_begins[i] + back_sizes[i]], std::byte{0xA5}) << "behind piece " << i;
  }
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
