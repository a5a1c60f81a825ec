// far on the device must equal its twin, record by record.
#include "match/far/far.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <string>
#include <vector>

#include "captured_graph.hpp"
#include "core/status.hpp"
#include "cuda_test.hpp"
#include "far_parameters.hpp"
#include "finder_cases.hpp"
#include "format/zstd/zstd_levels.hpp"
#include "match/far/far_cuda.hpp"

namespace hemstitch {
namespace {

using namespace testing;

using FarCuda = CudaTest;

std::vector<FarRecord> find_on_device(const FinderBatch& batch, const FarParameters& parameters,
                                      const cuda::Stream& stream) {
  const std::size_t scratch_bytes = cuda::find_far_cuda_scratch_bytes(batch.blocks(), parameters);
  return batch.run_for<FarRecord>(scratch_bytes, [&](FarRecord* d_records, void* d_scratch) {
    cuda::find_far_cuda(batch.blocks(), parameters, d_records, d_scratch, scratch_bytes, stream.get());
  });
}

// Empty if `records` are the twin's in every case; else describes the first difference.
std::string difference(const std::vector<FinderCase>& cases, const FinderBatch& batch,
                       const std::vector<FarRecord>& records, const FarParameters& parameters) {
  for (std::size_t i = 0; i < cases.size(); ++i) {
    const WideRecords expected = find_far(cases[i].input(), parameters);
    for (std::size_t p = 0; p < expected.size(); ++p) {
      const FarRecord record = records[batch.position(i) + p];
      if (far_offset(record) == expected[p].offset && far_length(record) == expected[p].length) continue;
      return "block " + std::to_string(i) + " (" + cases[i].name + ", history " +
             std::to_string(cases[i].history_bytes) + ", block of " + std::to_string(expected.size()) +
             "), position " + std::to_string(p) + ": (offset, length) should be (" +
             std::to_string(expected[p].offset) + ", " + std::to_string(expected[p].length) + "), is (" +
             std::to_string(far_offset(record)) + ", " + std::to_string(far_length(record)) + ")";
    }
  }
  return "";
}

std::string text(const FarParameters& parameters) {
  return "2^" + std::to_string(parameters.hash_bits) + " buckets of " + std::to_string(parameters.ways) +
         ", hash of " + std::to_string(parameters.hash_bytes) + ", grid " +
         std::to_string(parameters.grid_bytes) + ", window " + std::to_string(parameters.window_bytes) +
         ", cap " + std::to_string(parameters.cap_bytes);
}

void expect_equal(const std::vector<FinderCase>& cases, const FinderBatch& batch,
                  const std::vector<FarParameters>& all_parameters, const cuda::Stream& stream) {
  for (const FarParameters& parameters : all_parameters)
    EXPECT_EQ(difference(cases, batch, find_on_device(batch, parameters, stream), parameters), "")
        << text(parameters);
}
void expect_equal(const std::vector<FinderCase>& cases, const std::vector<FarParameters>& all_parameters) {
  const cuda::Stream stream;
  expect_equal(cases, FinderBatch(cases, stream), all_parameters, stream);
}
// The blocks of one file.
void expect_equal_in_a_row(const Bytes& file, std::size_t block_bytes,
                           const std::vector<FarParameters>& all_parameters) {
  const cuda::Stream stream;
  for (const FarParameters& parameters : all_parameters) {
    const std::vector<FinderCase> cases = row_cases(file, block_bytes, parameters.window_bytes);
    expect_equal(cases, FinderBatch(file, cases, stream), {parameters}, stream);
  }
}

std::vector<FarParameters> level_parameters() {
  std::vector<FarParameters> all;
  for (const int level : {3, 5, 16})
    for (const FarParameters& parameters : zstd_level(level).far) all.push_back(parameters);
  return all;
}

TEST_F(FarCuda, EqualsItsTwinOnSmallBlocks) { expect_equal(small_cases(), small_far_parameters()); }

// A few spans of blocks that are no multiples of the grid, and of some that are.
TEST_F(FarCuda, EqualsItsTwinOnShortRows) {
  for (const Bytes& file : {wordy_bytes(200'000, 11), mixed_bytes(300'000, 3), runs_bytes(200'000, 4)})
    for (const std::size_t block_bytes : {301, 4096, 10'000})
      expect_equal_in_a_row(file, block_bytes, small_far_parameters());
}

TEST_F(FarCuda, EqualsItsTwinOnLargeBlocks) {
  std::vector<FarParameters> parameters = level_parameters();
  parameters.push_back({.hash_bits = 16, .ways = 1});
  expect_equal(large_cases(), parameters);
}

// Spans of 8 MB, each with the window before it; more of them than tables at once would need more time for the twin.
TEST_F(FarCuda, EqualsItsTwinOnALongFile) {
  Bytes file = mixed_bytes(20'000'003, 5);
  std::copy_n(file.begin() + 1'000'001, 3'000'000, file.begin() + 8'500'000);
  std::copy_n(file.begin() + 4'000'000, 2'000'000, file.begin() + 17'000'000);
  std::vector<FarParameters> parameters = level_parameters();
  parameters.push_back({.hash_bits = 20, .ways = 1});
  parameters.push_back({.window_bytes = 1'000'000});
  expect_equal_in_a_row(file, 1 << 20, parameters);
}

TEST_F(FarCuda, EqualsItsTwinOnFiles) {
  if (!corpora()) GTEST_SKIP() << "skipped: HEMSTITCH_CORPORA is not set";
  expect_equal(file_cases(1 << 20, 8 << 20, 2), {zstd_level(3).far.front()});
  expect_equal(file_cases(100'000, 0, 3), {zstd_level(3).far.front()});
}

// A table is used again by one file after the other.
TEST_F(FarCuda, EqualsItsTwinOnManyFiles) {
  std::vector<FinderCase> cases;
  for (std::uint32_t i = 0; i < 500; ++i)
    cases.push_back({"file " + std::to_string(i), wordy_bytes(i * 7919 % 9001, 1 + i % 3), 0});
  expect_equal(cases, small_far_parameters());
}

// Each call's thread blocks wait for each other while other calls take room.
TEST_F(FarCuda, CallsAtOnceDoNotStopEachOther) {
  const FarParameters parameters = zstd_level(3).far.front();
  const Bytes file = mixed_bytes(9'000'000, 7);
  const std::vector<FinderCase> cases = row_cases(file, 1 << 20, parameters.window_bytes);
  const cuda::Stream stream;
  const FinderBatch batch(file, cases, stream);
  const std::vector<FarRecord> expected = find_on_device(batch, parameters, stream);
  const std::size_t scratch_bytes = cuda::find_far_cuda_scratch_bytes(batch.blocks(), parameters);
  struct Call {
    Call(std::size_t records, std::size_t bytes)
        : d_records(records, stream.get()), d_scratch(bytes, stream.get()) {
      stream.synchronize();
    }
    cuda::Stream stream;
    cuda::DeviceBuffer<FarRecord> d_records;
    cuda::DeviceBuffer<std::byte> d_scratch;
  };
  std::vector<std::unique_ptr<Call>> calls;
  for (int i = 0; i < 8; ++i) calls.push_back(std::make_unique<Call>(expected.size(), scratch_bytes));
  for (int turn = 0; turn < 5; ++turn)
    for (const auto& call : calls)
      cuda::find_far_cuda(batch.blocks(), parameters, call->d_records.get(), call->d_scratch.get(),
                          scratch_bytes, call->stream.get());
  for (const auto& call : calls) {
    std::vector<FarRecord> records(expected.size());
    call->d_records.download(records);
    call->stream.synchronize();
    EXPECT_TRUE(records == expected);
  }
}

TEST_F(FarCuda, CanBeCapturedInAGraph) {
  const FarParameters parameters{.hash_bits = 12, .generation_bytes = 4096};
  const std::vector<FinderCase> cases = {{"mixed", mixed_bytes(300'000, 2), 20'000}};
  const cuda::Stream stream;
  const FinderBatch batch(cases, stream);
  const std::size_t scratch_bytes = cuda::find_far_cuda_scratch_bytes(batch.blocks(), parameters);
  const std::vector<FarRecord> records =
      batch.run_for<FarRecord>(scratch_bytes, [&](FarRecord* d_records, void* d_scratch) {
        const CapturedGraph graph(stream.get(), [&] {
          cuda::find_far_cuda(batch.blocks(), parameters, d_records, d_scratch, scratch_bytes, stream.get());
        });
        graph.launch();
        graph.launch();
        stream.synchronize();
      });
  EXPECT_EQ(difference(cases, batch, records, parameters), "");
}

// These need no device.
TEST(FarCudaParameters, RefusesWhatItCannotDo) {
  const auto message = [](const FarParameters& parameters, const DeviceBlocks& pieces = {}) -> std::string {
    try {
      cuda::find_far_cuda_scratch_bytes(pieces, parameters);
    } catch (const Error& error) {
      EXPECT_EQ(error.status(), Status::kInvalidOption);
      const std::string text = error.what();
      return text.substr(0, text.find(" ("));  // without the hint for the status
    }
    return "no error";
  };
  EXPECT_EQ(message({}), "no error");
  EXPECT_EQ(message({.ways = 3}), "far: ways is 3, it can be 2 to 2");
  EXPECT_EQ(message({.ways = 16}), "far: ways is 16, must be at most 8 on a CUDA device");
  EXPECT_EQ(message({.grid_bytes = 32}), "far: grid_bytes is 32, must be at most 16 on a CUDA device");
  EXPECT_EQ(message({.window_bytes = 1 << 24}),
            "far: window_bytes is 16777216, must be at most 16777215 on a CUDA device");
  EXPECT_EQ(message({.cap_bytes = 240}), "far: cap_bytes is 240, must be at most 239 on a CUDA device");
  EXPECT_EQ(message({}, {.block_count = 1, .max_block_bytes = (64 << 20) + 1}),
            "far: max_block_bytes is 67108865, must be at most 67108864 on a CUDA device");
}

TEST(FarCudaParameters, RefusesTooLittleScratch) {
  const DeviceBlocks pieces{.block_count = 1, .max_block_bytes = 10, .total_block_bytes = 10};
  const std::size_t needed = cuda::find_far_cuda_scratch_bytes(pieces, {});
  std::byte scratch{};
  EXPECT_THROW(cuda::find_far_cuda(pieces, {}, nullptr, &scratch, needed - 1, nullptr), Error);
}

}  // namespace
}  // namespace hemstitch
