// The finders that search a window, brute_force, window_index and lazy_scan, on the device, compared with their
// twins.
#include "cuda_test.hpp"
#include "finder_batch.hpp"
#include "match/brute_force/brute_force.hpp"
#include "match/brute_force/brute_force_cuda.hpp"
#include "match/lazy_scan/lazy_scan.hpp"
#include "match/lazy_scan/lazy_scan_cuda.hpp"
#include "match/window_index/window_index.hpp"
#include "match/window_index/window_index_cuda.hpp"
#include "shapes.hpp"

namespace hemstitch {
namespace {

using testing::text_of;
using testing::TwinBatch;

struct Finder {
  const char* name;
  decltype(cuda::find_brute_force_cuda_scratch_bytes)* scratch_bytes;
  decltype(cuda::find_brute_force_cuda)* find;
  MatchRecords (*twin)(const FinderInput&, const FinderParameters&, FindCounters&);
  std::vector<FinderParameters> parameters, of_large_windows;
  FinderParameters of_files, bad;
};

std::vector<Finder> finders() {
  const std::vector<FinderParameters> exhaustive = {
      {.window_size = 4096},
      {.window_size = 1},
      {.window_size = 5},
      {.min_match_len = 3, .window_size = 300},
      {.min_match_len = 4, .max_match_len = 127, .window_size = 700},
      {.min_match_len = 9, .max_match_len = 65535, .window_size = 1500}};
  const std::vector<FinderParameters> lazy = {
      {.window_size = 2048, .near_range = 64},
      {.window_size = 1, .near_range = 0, .far_step = 1},
      {.window_size = 1, .near_range = 1},
      {.window_size = 700, .near_range = 0, .far_step = 7},
      {.window_size = 700, .near_range = 0, .far_step = 1},
      {.window_size = 700, .near_range = 65535},                         // only near offsets
      {.window_size = 700, .near_range = 100, .far_step = 0xFFFFFFFFu},  // only near offsets
      {.window_size = 700, .near_range = 699, .far_step = 1},            // one far offset
      {.min_match_len = 3, .window_size = 500, .near_range = 20},        //
      {.window_size = 1500, .near_range = 64, .good_match_len = 5},      // ends with any match
      {.window_size = 1500, .near_range = 64, .good_match_len = 32},     //
      {.window_size = 1500, .near_range = 0, .good_match_len = 32, .far_step = 3},
      {.min_match_len = 4, .max_match_len = 127, .window_size = 700, .good_match_len = 127},
      {.min_match_len = 9, .max_match_len = 65535, .window_size = 1500, .far_step = 2}};
  const std::vector<FinderParameters> large = {{.window_size = 4096}, {.window_size = 65535}};
  return {{"BruteForce",
           cuda::find_brute_force_cuda_scratch_bytes,
           cuda::find_brute_force_cuda,
           brute_force_reference,
           exhaustive,
           large,
           {.window_size = 4096},
           {.window_size = 0}},
          {"WindowIndex",
           cuda::find_window_index_cuda_scratch_bytes,
           cuda::find_window_index_cuda,
           [](const FinderInput& input, const FinderParameters& parameters, FindCounters& counters) {
             return window_index_reference(input, parameters, counters);
           },
           exhaustive,
           large,
           {.window_size = 4096},
           {.window_size = 0}},
          {"LazyScan",
           cuda::find_lazy_scan_cuda_scratch_bytes,
           cuda::find_lazy_scan_cuda,
           [](const FinderInput& input, const FinderParameters& parameters, FindCounters& counters) {
             return lazy_scan_reference(input, parameters, counters);
           },
           lazy,
           {{.window_size = 32768, .near_range = 1024},
            {.window_size = 65535, .near_range = 0, .far_step = 11},
            {.window_size = 65535, .near_range = 1024, .good_match_len = 64}},
           LazyScanParameters::defaults(),
           {.far_step = 0}}};
}

class WindowFinderDevice : public CudaTest, public ::testing::WithParamInterface<Finder> {
 protected:
  static MatchRecords run(const TwinBatch& batch, const FinderParameters& parameters,
                          TwinBatch::By by = TwinBatch::By::kLaunch) {
    return batch.run(
        GetParam().scratch_bytes(batch.blocks(), parameters),
        [&](MatchRecord* d_records, std::byte* d_scratch, std::size_t scratch_bytes) {
          GetParam().find(batch.blocks(), parameters, d_records, d_scratch, scratch_bytes, batch.stream());
        },
        by);
  }

  static void expect_twin(const TwinBatch& batch, const FinderParameters& parameters) {
    batch.expect_twins(run(batch, parameters), text_of(parameters), [&](const FinderInput& input) {
      FindCounters counters;
      return GetParam().twin(input, parameters, counters);
    });
  }
};

TEST_P(WindowFinderDevice, EqualsItsTwin) {
  const TwinBatch batch(testing::finder_cases(3000));
  for (const FinderParameters& parameters : GetParam().parameters) {
    expect_twin(batch, parameters);
    if (HasFailure()) return;
  }
}

TEST_P(WindowFinderDevice, EqualsItsTwinOverLargeWindows) {
  std::vector<testing::FinderCase> inputs;
  for (const std::size_t history : {0, 1, 4095, 65536})
    inputs.push_back({"copies", testing::copied_bytes(140'001, 12), history});
  inputs.push_back({"period 11", testing::periodic_bytes(20'000, 11), 5});
  inputs.push_back({"period 300", testing::periodic_bytes(20'000, 300), 5});
  const TwinBatch batch(inputs);
  for (const FinderParameters& parameters : GetParam().of_large_windows) {
    expect_twin(batch, parameters);
    if (HasFailure()) return;
  }
}

TEST_P(WindowFinderDevice, EqualsItsTwinOnRealFiles) {
  const auto folder = testing::corpora();
  if (!folder) GTEST_SKIP() << "HEMSTITCH_CORPORA is not set";
  std::vector<testing::FinderCase> inputs;
  for (const char* name : {"silesia/dickens", "silesia/nci", "silesia/x-ray", "silesia/xml"})
    inputs.push_back({name, testing::read_file(*folder / name, 262'144), 65536});
  expect_twin(TwinBatch(inputs), GetParam().of_files);
}

TEST_P(WindowFinderDevice, FindsTheBlocksOfAnUnequalBatch) {
  for (const std::size_t count : {0, 1, 2, 31, 33, 1025, 3000}) {
    expect_twin(TwinBatch(testing::unequal_inputs(count, 20'000)), {.window_size = 4096});
    if (HasFailure()) return;
  }
}

TEST_P(WindowFinderDevice, GivesTheSameTwiceAndFromAGraph) {
  const TwinBatch batch({{"copies", testing::copied_bytes(1'000'000, 3), 65536}});
  const MatchRecords records = run(batch, {.window_size = 4096});
  EXPECT_EQ(records, run(batch, {.window_size = 4096}));
  EXPECT_EQ(records, run(batch, {.window_size = 4096}, TwinBatch::By::kGraph));
}

TEST_P(WindowFinderDevice, RefusesBadParametersAndTooLittleScratch) {
  const TwinBatch batch({{"copies", testing::copied_bytes(100, 3), 0}});
  const FinderParameters& bad = GetParam().bad;
  EXPECT_THROW(GetParam().scratch_bytes(batch.blocks(), bad), Error);
  EXPECT_THROW(GetParam().find(batch.blocks(), bad, nullptr, nullptr, 0, batch.stream()), Error);
  EXPECT_THROW(GetParam().find(batch.blocks(), {}, nullptr, nullptr, 0, batch.stream()), Error);
}

INSTANTIATE_TEST_SUITE_P(Device, WindowFinderDevice, ::testing::ValuesIn(finders()),
                         [](const auto& finder) { return std::string(finder.param.name); });

}  // namespace
}  // namespace hemstitch
