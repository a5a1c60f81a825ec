// coop_stitch on the device, compared with its twin: records, the records of phase A, and the counters.
#include "match/coop_stitch/coop_stitch.hpp"

#include <algorithm>

#include "cuda_test.hpp"
#include "finder_batch.hpp"
#include "match/coop_stitch/coop_stitch_cuda.hpp"
#include "shapes.hpp"

namespace hemstitch {
namespace {

using testing::text_of;
using testing::TwinBatch;

class CoopStitchDevice : public CudaTest {};

struct DeviceResult {
  MatchRecords records;
  MatchRecords before_stitch;
  FindCounters counters;
};

DeviceResult run(const TwinBatch& batch, const FinderParameters& parameters, bool counted,
                 TwinBatch::By by = TwinBatch::By::kLaunch) {
  DeviceResult result;
  cuda::DeviceBuffer<FindCounters> d_counters(1, batch.stream());
  d_counters.upload({&result.counters, 1});
  result.before_stitch.assign(batch.blocks().total_block_bytes, testing::kUnwritten);
  cuda::DeviceBuffer<MatchRecord> d_before(result.before_stitch.size(), batch.stream());
  result.records = batch.run(
      cuda::find_coop_stitch_cuda_scratch_bytes(batch.blocks(), parameters),
      [&](MatchRecord* d_records, std::byte* d_scratch, std::size_t scratch_bytes) {
        cuda::find_coop_stitch_cuda(batch.blocks(), parameters,
                                    {.d_records = d_records,
                                     .d_before_stitch = d_before.get(),
                                     .d_counters = counted ? d_counters.get() : nullptr},
                                    d_scratch, scratch_bytes, batch.stream());
      },
      by);
  if (!result.before_stitch.empty()) d_before.download(result.before_stitch);
  d_counters.download({&result.counters, 1});
  cuda::check(cudaStreamSynchronize(batch.stream()), "cudaStreamSynchronize");
  return result;
}

void expect_counters(const FindCounters& expected, const FindCounters& actual, const std::string& what) {
  EXPECT_EQ(expected.probes, actual.probes) << what;
  EXPECT_EQ(expected.stitch_probes, actual.stitch_probes) << what;
  EXPECT_EQ(expected.repeated_probes, actual.repeated_probes) << what;
  EXPECT_EQ(expected.lookups, actual.lookups) << what;
  EXPECT_EQ(expected.byte_comparisons, actual.byte_comparisons) << what;
}

void expect_twin(const TwinBatch& batch, const FinderParameters& parameters) {
  const std::string what = text_of(parameters);
  const DeviceResult fast = run(batch, parameters, false);
  const DeviceResult counted = run(batch, parameters, true);
  FindCounters counters;
  batch.expect_twins(fast.records, what, [&](const FinderInput& input) {
    CoopStitchResult twin = coop_stitch_reference(input, parameters);
    counters += twin.counters;
    return std::move(twin.records);
  });
  if (::testing::Test::HasFatalFailure()) return;
  batch.expect_twins(fast.before_stitch, what + ", before the stitch", [&](const FinderInput& input) {
    return coop_stitch_reference(input, parameters).before_stitch;
  });
  EXPECT_EQ(fast.records, counted.records) << what << ", counted";
  EXPECT_EQ(fast.before_stitch, counted.before_stitch) << what << ", counted, before the stitch";
  expect_counters(counters, counted.counters, what);
}

std::vector<FinderParameters> small_parameters() {
  std::vector<FinderParameters> sets;
  for (const TopKPolicy policy : {TopKPolicy::kLongest, TopKPolicy::kLongestPerBucket})
    for (const std::uint32_t good : {0u, 40u})
      for (const bool stitch : {true, false}) {
        sets.push_back({.top_k_policy = policy, .stitch = stitch, .good_match_len = good});
        sets.push_back({.min_match_len = 3,
                        .max_match_len = 200,
                        .window_size = 37,
                        .stride = 11,
                        .near_range = 20,
                        .band_origin = 9,
                        .top_k = 16,
                        .top_k_policy = policy,
                        .stitch = stitch,
                        .good_match_len = good});
        sets.push_back({.min_match_len = 4,
                        .max_match_len = 65535,
                        .window_size = 100,
                        .stride = 90,
                        .near_range = 0,
                        .band_origin = 300,
                        .top_k = 1,
                        .top_k_policy = policy,
                        .stitch = stitch,
                        .good_match_len = good});
      }
  sets.push_back(
      {.min_match_len = 6, .max_match_len = 6, .window_size = 5, .stride = 1, .near_range = 3, .top_k = 3});
  return sets;
}

TEST_F(CoopStitchDevice, EqualsItsTwin) {
  const TwinBatch batch(testing::finder_cases(2500));
  for (const FinderParameters& parameters : small_parameters()) {
    expect_twin(batch, parameters);
    if (HasFailure()) return;
  }
}

TEST_F(CoopStitchDevice, EqualsItsTwinWithEveryPreset) {
  std::vector<testing::FinderCase> inputs;
  for (const std::size_t history : {0, 1000, 65536})
    inputs.push_back({"copies", testing::copied_bytes(90'000, 12), history});
  inputs.push_back({"period 33000", testing::periodic_bytes(70'000, 33'000), 5});
  const TwinBatch batch(inputs);
  for (const std::string_view name : finder_preset_names())
    for (const std::uint32_t top_k : {4u, 16u}) {
      FinderParameters parameters = finder_preset(name);
      parameters.top_k = top_k;
      expect_twin(batch, parameters);
      if (HasFailure()) return;
    }
}

TEST_F(CoopStitchDevice, EqualsItsTwinOnRealFiles) {
  const auto folder = testing::corpora();
  if (!folder) GTEST_SKIP() << "HEMSTITCH_CORPORA is not set";
  std::vector<testing::FinderCase> inputs;
  for (const char* name : {"silesia/dickens", "silesia/nci", "silesia/x-ray", "silesia/xml"})
    inputs.push_back({name, testing::read_file(*folder / name, 131'072), 65536});
  const TwinBatch batch(inputs);
  for (const char* name : {"4k", "near-1k"}) {
    const FinderParameters parameters = finder_preset(name);
    const DeviceResult fast = run(batch, parameters, false);
    batch.expect_twins(fast.records, name, [&](const FinderInput& input) {
      return coop_stitch_reference(input, parameters).records;
    });
  }
}

TEST_F(CoopStitchDevice, FindsTheBlocksOfAnUnequalBatch) {
  for (const std::size_t count : {0, 1, 2, 31, 33, 1025, 3000}) {
    const TwinBatch batch(testing::unequal_inputs(count, 20'000));
    expect_twin(batch, {.near_range = 16});
    if (HasFailure()) return;
  }
}

TEST_F(CoopStitchDevice, GivesTheSameTwiceAndFromAGraph) {
  const TwinBatch batch({{"copies", testing::copied_bytes(300'000, 3), 65536}});
  const FinderParameters parameters = finder_preset("near-1k");
  const DeviceResult first = run(batch, parameters, true), second = run(batch, parameters, true);
  EXPECT_EQ(first.records, second.records);
  EXPECT_EQ(first.records, run(batch, parameters, false, TwinBatch::By::kGraph).records);
  expect_counters(first.counters, second.counters, "second run");
}

TEST_F(CoopStitchDevice, RefusesBadParametersAndTooLittleScratch) {
  const TwinBatch batch({{"copies", testing::copied_bytes(100, 3), 0}});
  EXPECT_THROW(cuda::find_coop_stitch_cuda_scratch_bytes(batch.blocks(), {.top_k = 17}), Error);
  EXPECT_THROW(cuda::find_coop_stitch_cuda(batch.blocks(), {.top_k = 17}, {}, nullptr, 0, batch.stream()),
               Error);
  EXPECT_THROW(cuda::find_coop_stitch_cuda(batch.blocks(), {}, {}, nullptr, 0, batch.stream()), Error);
}

}  // namespace
}  // namespace hemstitch
