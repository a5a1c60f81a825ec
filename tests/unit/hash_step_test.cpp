#include "match/hash_step/hash_step.hpp"

#include <gtest/gtest.h>

#include "core/status.hpp"
#include "finder_definition.hpp"
#include "shapes.hpp"

namespace hemstitch {
namespace {

using namespace testing;

TEST(HashStep, EqualsItsDefinitionOnEveryShape) {
  for (const Shape& shape : boundary_shapes(1281)) {
    for (const std::size_t history : kHistorySizes) {
      if (history > shape.bytes.size()) continue;
      const FinderInput input{shape.bytes, history};
      const HashStepParameters parameters;
      ASSERT_EQ(find_hash_step(input, parameters), hash_step_by_definition(input, parameters))
          << shape.name << ", history " << history;
    }
  }
}

TEST(HashStep, EqualsItsDefinitionForEveryParameter) {
  std::vector<Shape> shapes = {{"words", wordy_bytes(3000, 1)},
                               {"two letters", random_bytes(3000, 2, 2)},
                               {"runs", runs_bytes(3000, 3)},
                               {"period 100", periodic_bytes(3000, 100)}};
  for (const Shape& shape : shapes) {
    const FinderInput input{shape.bytes, 501};  // not a multiple of a group
    for (const std::uint32_t group_positions : {1u, 32u, 100u, 10'000u})
      for (const std::uint32_t cap_bytes : {4u, 5u, 64u, 65535u})
        for (const unsigned hash_bits : {8u, 16u})
          for (const bool stitch : {false, true}) {
            const HashStepParameters parameters{hash_bits, group_positions, cap_bytes, stitch};
            ASSERT_EQ(find_hash_step(input, parameters), hash_step_by_definition(input, parameters))
                << shape.name << ", group " << group_positions << ", cap " << cap_bytes << ", bits "
                << hash_bits << ", stitch " << stitch;
          }
  }
}

TEST(HashStep, GivesTrueMatchesOnLargeBlocksWithHistory) {
  for (const Shape& shape : shapes_of(200'000))
    for (const std::size_t history :
         {std::size_t{0}, std::size_t{1000}, std::size_t{65535}, std::size_t{65536}}) {
      const FinderInput input{shape.bytes, history};
      const MatchRecords records = find_hash_step(input, {});
      ASSERT_EQ(records.size(), shape.bytes.size() - history);
      ASSERT_EQ(first_false_match(input, records), "") << shape.name << ", history " << history;
    }
}

// The table has no position of the current group, so within a group only near offsets are found.
TEST(HashStep, APositionDoesNotSeeItsOwnGroupThroughTheTable) {
  const auto length_at_second_period = [](std::size_t period) {
    const Bytes bytes = periodic_bytes(64, period);
    return record_length(find_hash_step({bytes, 0}, {.group_positions = 64, .stitch = false})[period]);
  };
  EXPECT_EQ(length_at_second_period(1), 63u);
  EXPECT_EQ(length_at_second_period(2), 62u);
  EXPECT_EQ(length_at_second_period(3), 0u);
  EXPECT_EQ(length_at_second_period(4), 60u);
  EXPECT_EQ(length_at_second_period(5), 0u);
}

TEST(HashStep, InvalidParametersAreErrorsThatNameTheField) {
  const auto message = [](const HashStepParameters& parameters) -> std::string {
    try {
      find_hash_step({}, parameters);
    } catch (const Error& error) {
      EXPECT_EQ(error.status(), Status::kInvalidOption);
      return error.what();
    }
    return "no error";
  };
  EXPECT_NE(message({.hash_bits = 7}).find("hash_bits"), std::string::npos);
  EXPECT_NE(message({.hash_bits = 17}).find("hash_bits"), std::string::npos);
  EXPECT_NE(message({.group_positions = 0}).find("group_positions"), std::string::npos);
  EXPECT_NE(message({.cap_bytes = 3}).find("cap_bytes"), std::string::npos);
  EXPECT_EQ(message({}), "no error");
}

}  // namespace
}  // namespace hemstitch
