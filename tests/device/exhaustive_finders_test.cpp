// The finders that search a whole window, brute_force and window_index, on the device, compared with their
// twins.
#include "cuda_test.hpp"
#include "finder_batch.hpp"
#include "match/brute_force/brute_force.hpp"
#include "match/brute_force/brute_force_cuda.hpp"
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
};

constexpr Finder kFinders[] = {
    {"BruteForce", cuda::find_brute_force_cuda_scratch_bytes, cuda::find_brute_force_cuda,
     brute_force_reference},
    {"WindowIndex", cuda::find_window_index_cuda_scratch_bytes, cuda::find_window_index_cuda,
     [](const FinderInput& input, const FinderParameters& parameters, FindCounters& counters) {
       return window_index_reference(input, parameters, counters);
     }}};

class ExhaustiveFinderDevice : public CudaTest, public ::testing::WithParamInterface<Finder> {
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

TEST_P(ExhaustiveFinderDevice, EqualsItsTwin) {
  const TwinBatch batch(testing::finder_cases(3000));
  for (const FinderParameters& parameters :
       std::vector<FinderParameters>{{.window_size = 4096},
                                     {.window_size = 1},
                                     {.window_size = 5},
                                     {.min_match_len = 3, .window_size = 300},
                                     {.min_match_len = 4, .max_match_len = 127, .window_size = 700},
                                     {.min_match_len = 9, .max_match_len = 65535, .window_size = 1500}}) {
    expect_twin(batch, parameters);
    if (HasFailure()) return;
  }
}

TEST_P(ExhaustiveFinderDevice, EqualsItsTwinOverLargeWindows) {
  std::vector<testing::FinderCase> inputs;
  for (const std::size_t history : {0, 1, 4095, 65536})
    inputs.push_back({"copies", testing::copied_bytes(140'001, 12), history});
  inputs.push_back({"period 11", testing::periodic_bytes(20'000, 11), 5});
  inputs.push_back({"period 300", testing::periodic_bytes(20'000, 300), 5});
  const TwinBatch batch(inputs);
  for (const std::uint32_t window : {4096u, 65535u}) {
    expect_twin(batch, {.window_size = window});
    if (HasFailure()) return;
  }
}

TEST_P(ExhaustiveFinderDevice, EqualsItsTwinOnRealFiles) {
  const auto folder = testing::corpora();
  if (!folder) GTEST_SKIP() << "HEMSTITCH_CORPORA is not set";
  std::vector<testing::FinderCase> inputs;
  for (const char* name : {"silesia/dickens", "silesia/nci", "silesia/x-ray", "silesia/xml"})
    inputs.push_back({name, testing::read_file(*folder / name, 262'144), 65536});
  expect_twin(TwinBatch(inputs), {.window_size = 4096});
}

TEST_P(ExhaustiveFinderDevice, FindsTheBlocksOfAnUnequalBatch) {
  for (const std::size_t count : {0, 1, 2, 31, 33, 1025, 3000}) {
    expect_twin(TwinBatch(testing::unequal_inputs(count, 20'000)), {.window_size = 4096});
    if (HasFailure()) return;
  }
}

TEST_P(ExhaustiveFinderDevice, GivesTheSameTwiceAndFromAGraph) {
  const TwinBatch batch({{"copies", testing::copied_bytes(1'000'000, 3), 65536}});
  const MatchRecords records = run(batch, {.window_size = 4096});
  EXPECT_EQ(records, run(batch, {.window_size = 4096}));
  EXPECT_EQ(records, run(batch, {.window_size = 4096}, TwinBatch::By::kGraph));
}

TEST_P(ExhaustiveFinderDevice, RefusesBadParametersAndTooLittleScratch) {
  const TwinBatch batch({{"copies", testing::copied_bytes(100, 3), 0}});
  EXPECT_THROW(GetParam().scratch_bytes(batch.blocks(), {.window_size = 0}), Error);
  EXPECT_THROW(GetParam().find(batch.blocks(), {.window_size = 0}, nullptr, nullptr, 0, batch.stream()),
               Error);
  EXPECT_THROW(GetParam().find(batch.blocks(), {}, nullptr, nullptr, 0, batch.stream()), Error);
}

INSTANTIATE_TEST_SUITE_P(Device, ExhaustiveFinderDevice, ::testing::ValuesIn(kFinders),
                         [](const auto& finder) { return std::string(finder.param.name); });

}  // namespace
}  // namespace hemstitch
