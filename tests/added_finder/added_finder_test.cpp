// Checks that docs/how-to-add-a-finder.md is right: a folder and a row are enough for everything that takes a
// finder.
#include <gtest/gtest.h>

#include <algorithm>
#include <string>

#include "core/status.hpp"
#include "evaluate/evaluation.hpp"
#include "match/finders.hpp"
#ifdef HEMSTITCH_WEBGPU
#include "match/finders_webgpu.hpp"
#endif
#include "shapes.hpp"

namespace hemstitch {
namespace {

TEST(AddedFinder, IsFoundByNameAndJudged) {
  EXPECT_EQ(finder_names().back(), "nearest_bytes");
  const std::vector<std::byte> data = testing::copied_bytes(20'000, 7);
  const FinderChoice choice = choose_finder("nearest_bytes:window_size=2000:min_match_len=4");
  const Evaluation evaluation = evaluate(data, choice);
  EXPECT_TRUE(evaluation.verified);
  EXPECT_FALSE(evaluation.counters);
  EXPECT_FALSE(evaluation.without_stitch);
  // It finds matches, and no more than there are.
  EXPECT_LT(evaluation.figures.cost, 0.9);
  EXPECT_GE(evaluation.figures.cost_all_lengths,
            optimum(data, 2000, choice.parameters).figures.cost_all_lengths);
  EXPECT_EQ(parameters_read(choice).back(),
            (std::pair<std::string_view, std::uint32_t>{"window_size", 2000}));
}

TEST(AddedFinder, IsRefusedWhatItDoesNotTake) {
  for (const auto& [description, named] : {std::pair{"nearest_bytes:window_size=3", "window_size is 3"},
                                           {"nearest_bytes:stride=5", "'stride'"},
                                           {"nearest", "nearest_bytes"}}) {
    try {
      choose_finder(description);
      ADD_FAILURE() << description;
    } catch (const Error& error) {
      EXPECT_NE(std::string(error.what()).find(named), std::string::npos) << error.what();
    }
  }
}

#ifdef HEMSTITCH_WEBGPU
TEST(AddedFinder, IsOnNoDeviceThatItHasNoOverloadFor) {
  const AnyFinder finder = NearestBytesParameters{};
  EXPECT_FALSE(webgpu::has_shader(finder));
  webgpu::Recording recording;
  EXPECT_THROW(webgpu::record_find(finder, recording, {}, {}), Error);
}
#endif

}  // namespace
}  // namespace hemstitch
