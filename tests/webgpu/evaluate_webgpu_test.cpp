// The evaluation of finders, with the search through WebGPU: the same records and counters.
#include <gtest/gtest.h>

#include "evaluate/evaluation.hpp"
#include "evaluate/finder_choice.hpp"
#include "shapes.hpp"
#include "webgpu_test.hpp"

namespace hemstitch {
namespace {

class WebgpuEvaluate : public testing::WebgpuTest {};

TEST_F(WebgpuEvaluate, FindsWhatTheReferenceFinds) {
  const testing::Bytes data = testing::copied_bytes(12'000, 21);
  for (const char* description : {"window_index:window_size=300", "coop_stitch:window_size=20:near_range=20",
                                  "coop_stitch:stitch=off:window_size=30:near_range=0",
                                  "lazy_scan:near_range=30:window_size=1000:far_step=100",
                                  "hash_chain:depth=4", "hash_chain:stitch=off", "level:6"}) {
    const FinderChoice reference = choose_finder(description);
    const FinderChoice device = choose_finder(std::string(description) + ":backend=webgpu");
    EXPECT_EQ(reference.find({data, 4'000}), device.find({data, 4'000})) << description;
    const FoundMatches expected = reference.find_with_stitch_apart({data, 0});
    const FoundMatches found = device.find_with_stitch_apart({data, 0});
    EXPECT_EQ(expected.records, found.records) << description;
    EXPECT_EQ(expected.before_stitch, found.before_stitch) << description;
    ASSERT_EQ(expected.counters.has_value(), found.counters.has_value()) << description;
    if (!found.counters) continue;
    EXPECT_EQ(expected.counters->probes, found.counters->probes) << description;
    EXPECT_EQ(expected.counters->lookups, found.counters->lookups) << description;
    EXPECT_EQ(expected.counters->byte_comparisons, found.counters->byte_comparisons) << description;
  }
}

TEST_F(WebgpuEvaluate, SaysThatBruteForceHasNoShader) {
  const testing::Bytes data = testing::copied_bytes(100, 22);
  EXPECT_THROW(choose_finder("brute_force:backend=webgpu").find({data, 0}), Error);
}

}  // namespace
}  // namespace hemstitch
