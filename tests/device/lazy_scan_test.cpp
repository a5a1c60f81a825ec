// lazy_scan on the device, compared with its twin.
#include "match/lazy_scan/lazy_scan.hpp"

#include "cuda_test.hpp"
#include "finder_batch.hpp"
#include "match/lazy_scan/lazy_scan_cuda.hpp"
#include "shapes.hpp"

namespace hemstitch {
namespace {

using testing::text_of;
using testing::TwinBatch;

class LazyScanDevice : public CudaTest {
 protected:
  static MatchRecords run(const TwinBatch& batch, const FinderParameters& parameters,
                          TwinBatch::By by = TwinBatch::By::kLaunch) {
    return batch.run(
        cuda::find_lazy_scan_cuda_scratch_bytes(batch.blocks(), parameters),
        [&](MatchRecord* d_records, std::byte* d_scratch, std::size_t scratch_bytes) {
          cuda::find_lazy_scan_cuda(batch.blocks(), parameters, d_records, d_scratch, scratch_bytes,
                                    batch.stream());
        },
        by);
  }

  static void expect_twin(const TwinBatch& batch, const FinderParameters& parameters) {
    batch.expect_twins(run(batch, parameters),
                       text_of(parameters) + " step " + std::to_string(parameters.far_step),
                       [&](const FinderInput& input) {
                         FindCounters counters;
                         return lazy_scan_reference(input, parameters, counters);
                       });
  }
};

TEST_F(LazyScanDevice, EqualsItsTwin) {
  const TwinBatch batch(testing::finder_cases(3000));
  for (const FinderParameters& parameters : std::vector<FinderParameters>{
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
           {.min_match_len = 9, .max_match_len = 65535, .window_size = 1500, .far_step = 2}}) {
    expect_twin(batch, parameters);
    if (HasFailure()) return;
  }
}

TEST_F(LazyScanDevice, EqualsItsTwinOverLargeWindows) {
  std::vector<testing::FinderCase> inputs;
  for (const std::size_t history : {0, 1, 4095, 65536})
    inputs.push_back({"copies", testing::copied_bytes(140'001, 12), history});
  inputs.push_back({"period 11", testing::periodic_bytes(20'000, 11), 5});
  inputs.push_back({"period 300", testing::periodic_bytes(20'000, 300), 5});
  const TwinBatch batch(inputs);
  for (const FinderParameters& parameters :
       std::vector<FinderParameters>{{.window_size = 32768, .near_range = 1024},
                                     {.window_size = 65535, .near_range = 0, .far_step = 11},
                                     {.window_size = 65535, .near_range = 1024, .good_match_len = 64}}) {
    expect_twin(batch, parameters);
    if (HasFailure()) return;
  }
}

TEST_F(LazyScanDevice, EqualsItsTwinOnRealFiles) {
  const auto folder = testing::corpora();
  if (!folder) GTEST_SKIP() << "HEMSTITCH_CORPORA is not set";
  std::vector<testing::FinderCase> inputs;
  for (const char* name : {"silesia/dickens", "silesia/nci", "silesia/x-ray", "silesia/xml"})
    inputs.push_back({name, testing::read_file(*folder / name, 262'144), 65536});
  expect_twin(TwinBatch(inputs), LazyScanParameters::defaults());
}

TEST_F(LazyScanDevice, FindsTheBlocksOfAnUnequalBatch) {
  for (const std::size_t count : {0, 1, 2, 31, 33, 1025, 3000}) {
    expect_twin(TwinBatch(testing::unequal_inputs(count, 20'000)), {.window_size = 4096});
    if (HasFailure()) return;
  }
}

TEST_F(LazyScanDevice, GivesTheSameTwiceAndFromAGraph) {
  const TwinBatch batch({{"copies", testing::copied_bytes(1'000'000, 3), 65536}});
  const MatchRecords records = run(batch, {.window_size = 4096});
  EXPECT_EQ(records, run(batch, {.window_size = 4096}));
  EXPECT_EQ(records, run(batch, {.window_size = 4096}, TwinBatch::By::kGraph));
}

TEST_F(LazyScanDevice, RefusesBadParametersAndTooLittleScratch) {
  const TwinBatch batch({{"copies", testing::copied_bytes(100, 3), 0}});
  EXPECT_THROW(cuda::find_lazy_scan_cuda_scratch_bytes(batch.blocks(), {.far_step = 0}), Error);
  EXPECT_THROW(
      cuda::find_lazy_scan_cuda(batch.blocks(), {.far_step = 0}, nullptr, nullptr, 0, batch.stream()), Error);
  EXPECT_THROW(cuda::find_lazy_scan_cuda(batch.blocks(), {}, nullptr, nullptr, 0, batch.stream()), Error);
}

}  // namespace
}  // namespace hemstitch
