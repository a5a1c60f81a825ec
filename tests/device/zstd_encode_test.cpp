// What Zstandard's encoder writes on a device behind its parse: bytes, sizes and prices must be the twin's, and libzstd must read them. Outputs are
// between guard bytes, at all alignments.
#include <gtest/gtest.h>

#include "captured_graph.hpp"
#include "cuda_test.hpp"
#include "format/zstd/compress/zstd_encoder_stages_cuda.hpp"
#include "lz4_batch.hpp"
#include "zstd_encode_cases.hpp"

namespace hemstitch {
namespace {

using namespace testing;

using ZstdEncodeCuda = CudaTest;

std::vector<FinderCase> contents_of(const std::vector<ZstdEncodeCase>& cases) {
  std::vector<FinderCase> contents;
  for (const ZstdEncodeCase& one : cases) contents.push_back({one.name, one.data, one.history_bytes});
  return contents;
}

template <class T>
std::vector<T> downloaded(const cuda::DeviceBuffer<T>& d_array, const cuda::Stream& stream) {
  std::vector<T> values(d_array.count());
  d_array.download(values);
  stream.synchronize();
  return values;
}

void expect_as_by_twin(const std::vector<ZstdEncodeCase>& cases) {
  const cuda::Stream stream;
  const FinderBatch batch(contents_of(cases), stream);
  const DeviceBlocks& blocks = batch.blocks();
  std::vector<Bytes> expected(cases.size());
  on_all_cores(cases.size(), [&](std::size_t i) { expected[i] = cases[i].by_twin(); });

  std::vector<Sequence> lists(cuda::device_sequence_capacity(blocks, zstd_block_plan()));
  std::vector<std::uint32_t> counts;
  std::vector<std::size_t> capacities;
  for (std::uint32_t i = 0; i < cases.size(); ++i) {
    counts.push_back(static_cast<std::uint32_t>(cases[i].parsed.size()));
    std::ranges::copy(cases[i].parsed, &lists.at(first_sequence(batch.position(i), i, zstd_block_plan())));
    capacities.push_back(expected[i].size());
  }
  cuda::DeviceBuffer<Sequence> d_lists(lists.size(), stream.get());
  cuda::DeviceBuffer<std::uint32_t> d_counts(counts.size(), stream.get()),
      d_sizes(counts.size(), stream.get());
  cuda::DeviceBuffer<ZstdDevicePrices> d_prices(cases.size(), stream.get());
  // Blocks without content have none.
  cuda::check(cudaMemsetAsync(d_prices.get(), 0, d_prices.bytes(), stream.get()), "cudaMemsetAsync");
  d_lists.upload(lists);
  d_counts.upload(counts);
  const cuda::DeviceSequences sequences{d_lists.get(), d_counts.get(), nullptr};
  cuda::Carver counted(nullptr);
  cuda::take_zstd_encode_room(blocks, counted, counted);
  const Scratch scratch(counted.bytes(), stream.get());
  cuda::Carver carver(scratch.get());
  const cuda::ZstdEncodeRoom room = cuda::take_zstd_encode_room(blocks, carver, carver);

  cuda::price_zstd_blocks_cuda(blocks, sequences, room, d_prices.get(), stream.get());
  const OutputRooms outputs(capacities, stream.get());
  {
    const CapturedGraph graph(stream.get(), [&] {
      cuda::size_zstd_blocks_cuda(blocks, sequences, room, d_sizes.get(), stream.get());
      cuda::pack_zstd_blocks_cuda(blocks, room, outputs.output().d_outputs, stream.get());
    });
    graph.launch(2);
    stream.synchronize();
  }
  const std::vector<std::uint32_t> sizes = downloaded(d_sizes, stream);
  for (std::size_t i = 0; i < cases.size(); ++i) ASSERT_EQ(sizes[i], expected[i].size()) << cases[i].name;
  cuda::check(cudaMemcpyAsync(outputs.output().d_output_bytes, capacities.data(),
                              capacities.size() * sizeof capacities[0], cudaMemcpyHostToDevice, stream.get()),
              "cudaMemcpyAsync");
  const OutputRooms::Result got = outputs.result();
  EXPECT_EQ(got.guards, "");
  const std::vector<ZstdDevicePrices> prices = downloaded(d_prices, stream);
  for (std::size_t i = 0; i < cases.size(); ++i) {
    ASSERT_EQ(block_difference(cases[i].name, expected[i], got.blocks[i]), "");
    if (expected[i].empty()) continue;
    ASSERT_NO_FATAL_FAILURE(expect_zstd_prices(cases[i], prices[i]));
    ASSERT_NO_FATAL_FAILURE(expect_libzstd_reads(cases[i], got.blocks[i]));
  }

  // Where a target is missing, nothing is written.
  const cuda::DeviceBuffer<std::byte*> d_targets(cases.size(), stream.get());
  cuda::check(cudaMemsetAsync(d_targets.get(), 0, d_targets.bytes(), stream.get()), "cudaMemsetAsync");
  cuda::pack_zstd_blocks_cuda(blocks, room, d_targets.get(), stream.get());
  stream.synchronize();
}

TEST_F(ZstdEncodeCuda, SmallBlocksAreTheTwins) { expect_as_by_twin(small_zstd_encode_cases()); }

TEST_F(ZstdEncodeCuda, LargeBlocksAreTheTwins) { expect_as_by_twin(large_zstd_encode_cases()); }

TEST_F(ZstdEncodeCuda, RandomSequencesAreTheTwins) {
  std::vector<ZstdEncodeCase> cases(2000);
  on_all_cores(cases.size(), [&](std::size_t i) {
    const auto seed = static_cast<std::uint32_t>(i + 10'000);
    cases[i] = zstd_case_of("random, " + std::to_string(seed),
                            random_zstd_sequences(seed, i % 10 == 0 ? 65'536 : 200 + i * 7, 3000),
                            below(seed % 5 == 0 ? 256 : 1 + seed % 120), 3000, seed);
  });
  expect_as_by_twin(cases);
}

TEST_F(ZstdEncodeCuda, BlocksOfRealFilesAreTheTwins) {
  if (!corpora()) GTEST_SKIP() << "HEMSTITCH_CORPORA is not set";
  const std::vector<FinderCase> blocks = file_cases(65'536, 100'000, 12);
  std::vector<ZstdEncodeCase> cases(blocks.size());
  on_all_cores(cases.size(), [&](std::size_t i) {
    cases[i] = parsed_zstd_case(blocks[i].name, blocks[i].data, blocks[i].history_bytes);
  });
  expect_as_by_twin(cases);
}

}  // namespace
}  // namespace hemstitch
