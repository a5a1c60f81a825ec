// The evaluation of finders, with the search on the device: the same records, figures and counters.
#include "cuda_test.hpp"
#include "evaluate/evaluation.hpp"
#include "evaluate/finder_choice.hpp"
#include "shapes.hpp"

namespace hemstitch {
namespace {

class EvaluateDevice : public CudaTest {};

TEST_F(EvaluateDevice, FindsWhatTheReferenceFinds) {
  const std::vector<std::byte> data = testing::copied_bytes(50'000, 21);
  for (const char* description : {"brute_force", "lazy_scan:good_match_len=40", "window_index", "coop_stitch",
                                  "coop_stitch:near-1k:top_k_policy=bucket", "coop_stitch:stitch=off",
                                  "hash_chain:depth=4", "hash_chain:stitch=off", "level:6"}) {
    const FinderChoice reference = choose_finder(description);
    const FinderChoice device = choose_finder(std::string(description) + ":backend=cuda");
    for (const std::size_t history : {std::size_t{0}, std::size_t{30'000}})
      EXPECT_EQ(reference.find({data, history}), device.find({data, history}))
          << description << " " << history;
    const FoundMatches expected = reference.find_with_stitch_apart({data, 0});
    const FoundMatches found = device.find_with_stitch_apart({data, 0});
    EXPECT_EQ(expected.records, found.records) << description;
    EXPECT_EQ(expected.before_stitch, found.before_stitch) << description;
    if (found.counters) {
      EXPECT_EQ(expected.counters->probes, found.counters->probes) << description;
      EXPECT_EQ(expected.counters->repeated_probes, found.counters->repeated_probes) << description;
    }
  }
}

TEST_F(EvaluateDevice, CountsTheProbesOfCoopStitch) {
  const std::vector<std::byte> data = testing::copied_bytes(20'000, 22);
  EXPECT_TRUE(choose_finder("coop_stitch:backend=cuda").find_with_stitch_apart({data, 0}).counters);
}

TEST_F(EvaluateDevice, SaysThatHashPairsHasNoKernel) {
  const std::vector<std::byte> data = testing::copied_bytes(100, 22);
  EXPECT_THROW(choose_finder("hash_pairs:backend=cuda").find({data, 0}), Error);
}

}  // namespace
}  // namespace hemstitch
