// hash_step on the device must equal its twin, byte by byte.
#include "match/hash_step/hash_step.hpp"

#include <gtest/gtest.h>

#include "core/status.hpp"
#include "cuda_test.hpp"
#include "finder_cases.hpp"
#include "match/hash_step/hash_step_cuda.hpp"

namespace hemstitch {
namespace {

using namespace testing;

using HashStepCuda = CudaTest;

void expect_equal(const std::vector<FinderCase>& cases,
                  const std::vector<HashStepParameters>& all_parameters) {
  const cuda::Stream stream;
  const FinderBatch batch(cases, stream);
  for (const HashStepParameters& parameters : all_parameters) {
    const std::size_t scratch_bytes = cuda::find_hash_step_cuda_scratch_bytes(batch.blocks(), parameters);
    const auto find = [&](MatchRecord* d_records, void* d_scratch) {
      cuda::find_hash_step_cuda(batch.blocks(), parameters, d_records, d_scratch, scratch_bytes,
                                stream.get());
    };
    const std::vector<MatchRecord> records = batch.run(scratch_bytes, find);
    EXPECT_EQ(first_difference(cases, batch, records,
                               [&](const FinderInput& input) { return find_hash_step(input, parameters); }),
              "")
        << "bits " << parameters.hash_bits << ", group " << parameters.group_positions << ", cap "
        << parameters.cap_bytes << ", stitch " << parameters.stitch;
    EXPECT_TRUE(records == batch.run(scratch_bytes, find)) << "a second run differs";
  }
}

TEST_F(HashStepCuda, EqualsItsTwinOnSmallBlocks) {
  expect_equal(small_cases(),
               {{.hash_bits = 13, .cap_bytes = 16, .stitch = false}, {.hash_bits = 11, .cap_bytes = 16}});
}

// Few launches over few bytes, for racecheck, which makes them about a thousand times slower.
TEST_F(HashStepCuda, EqualsItsTwinOnTwoTinyBlocks) {
  expect_equal({{"words", wordy_bytes(300, 1), 0}, {"period 11", periodic_bytes(300, 11), 101}},
               {{.hash_bits = 13, .cap_bytes = 16, .stitch = false}, {.hash_bits = 11, .cap_bytes = 16}});
}

TEST_F(HashStepCuda, EqualsItsTwinForEveryParameter) {
  // Small, since racecheck makes each byte about a thousand times slower.
  std::vector<FinderCase> cases;
  for (const std::size_t history : {0, 101}) {
    cases.push_back({"words", wordy_bytes(400, 1), history});
    cases.push_back({"two letters", random_bytes(400, 2, 2), history});
    cases.push_back({"runs", runs_bytes(400, 3), history});
    cases.push_back({"period 100", periodic_bytes(400, 100), history});
  }
  std::vector<HashStepParameters> all_parameters;
  for (const std::uint32_t group_positions : {1u, 7u, 32u, 33u, 100u, 10'000u, ~0u})
    for (const std::uint32_t cap_bytes : {4u, 5u, 64u, 65535u})
      for (const unsigned hash_bits : {8u, 16u})
        for (const bool stitch : {false, true})
          all_parameters.push_back({hash_bits, group_positions, cap_bytes, stitch});
  expect_equal(cases, all_parameters);
}

TEST_F(HashStepCuda, EqualsItsTwinOnLargeBlocks) {
  expect_equal(large_cases(), {{.hash_bits = 13, .cap_bytes = 16},
                               {.hash_bits = 16, .group_positions = 48},
                               {.hash_bits = 12, .group_positions = 100'000}});
}

TEST_F(HashStepCuda, EqualsItsTwinOnFiles) {
  if (!corpora()) GTEST_SKIP() << "skipped: HEMSTITCH_CORPORA is not set";
  expect_equal(file_cases(65536, 0, 6), {{.hash_bits = 13, .cap_bytes = 16}});
  expect_equal(file_cases(262'144, 65536, 3), {{.hash_bits = 13, .cap_bytes = 16}});
  expect_equal(file_cases(4096, 0, 64), {{.hash_bits = 11, .cap_bytes = 16}});
}

// This needs no device.
TEST(HashStepCudaParameters, RefusesWhatTheTwinRefuses) {
  for (const HashStepParameters& parameters :
       {HashStepParameters{.hash_bits = 7}, HashStepParameters{.hash_bits = 17},
        HashStepParameters{.group_positions = 0}, HashStepParameters{.cap_bytes = 3}}) {
    std::string twins_message = "no error", message = "none here";
    try {
      find_hash_step({}, parameters);
    } catch (const Error& error) {
      twins_message = error.what();
    }
    try {
      cuda::find_hash_step_cuda_scratch_bytes({}, parameters);
    } catch (const Error& error) {
      EXPECT_EQ(error.status(), Status::kInvalidOption);
      message = error.what();
    }
    EXPECT_EQ(message, twins_message);
  }
}

TEST(HashStepCudaParameters, RefusesTooLittleScratch) {
  const DeviceBlocks batch{
      .d_blocks = nullptr, .block_count = 1, .max_block_bytes = 10, .total_block_bytes = 10};
  const std::size_t needed = cuda::find_hash_step_cuda_scratch_bytes(batch, {});
  EXPECT_THROW(cuda::find_hash_step_cuda(batch, {}, nullptr, nullptr, needed - 1, nullptr), Error);
}

}  // namespace
}  // namespace hemstitch
