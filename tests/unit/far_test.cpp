// far compared with its definition, written anew without a table: every position of the grid before the generation is tried.
#include "match/far/far.hpp"

#include <gtest/gtest.h>

#include "core/status.hpp"
#include "finder_definition.hpp"
#include "guarded_buffer.hpp"
#include "shapes.hpp"

namespace hemstitch::testing {
namespace {

std::uint64_t far_bucket(std::span<const std::byte> data, std::size_t p, const FarParameters& parameters) {
  std::uint64_t word = 0;
  for (std::size_t i = parameters.hash_bytes; i-- > 0;)
    word = word << 8 | std::to_integer<std::uint64_t>(data[p + i]);
  return word * 0x9E3779B97F4A7C15u >> (64 - parameters.hash_bits);
}

// Steps 1 to 3 for all positions.
std::vector<Match> far_choices(const FinderInput& input, const FarParameters& parameters) {
  const auto data = input.data;
  const auto history = static_cast<std::ptrdiff_t>(input.history_bytes),
             grid = std::ptrdiff_t{parameters.grid_bytes}, ways = std::ptrdiff_t{parameters.ways};
  const auto has_hash_at = [&](std::size_t p) { return p + parameters.hash_bytes <= data.size(); };
  std::vector<std::uint64_t> buckets(data.size());
  for (std::size_t p = 0; has_hash_at(p); ++p) buckets[p] = far_bucket(data, p, parameters);
  std::vector<Match> matches(input.block_bytes());
  for (std::size_t i = 0; i < matches.size(); ++i) {
    const std::size_t p = input.history_bytes + i;
    if (!has_hash_at(p)) continue;
    std::vector<bool> way_is_taken(parameters.ways);
    // The grid's positions before the generation, the nearest first.
    for (std::ptrdiff_t q =
             static_cast<std::ptrdiff_t>(i / parameters.generation_bytes * parameters.generation_bytes) -
             grid;
         q >= -history; q -= grid) {
      const auto at = static_cast<std::size_t>(q + history);
      if (!has_hash_at(at) || buckets[at] != buckets[p]) continue;
      const auto way = static_cast<std::size_t>((q / grid % ways + ways) % ways);
      if (way_is_taken[way]) continue;
      way_is_taken[way] = true;
      if (p - at > parameters.window_bytes) continue;
      const std::size_t length = agreeing_bytes(data, p, at, parameters.cap_bytes);
      if (length >= parameters.hash_bytes && length > matches[i].length)
        matches[i] = {static_cast<std::uint32_t>(p - at), static_cast<std::uint32_t>(length)};
    }
  }
  return matches;
}

void expect_definition(const FinderInput& input, const FarParameters& parameters, const std::string& name) {
  const std::vector<Match> defined =
      stitched_matches(input, far_choices(input, parameters), parameters.stitch_reach);
  testing::GuardedBuffer guarded(input.data.size());
  std::ranges::copy(input.data, guarded.bytes().begin());
  const WideRecords records = find_far({guarded.bytes(), input.history_bytes}, parameters);
  ASSERT_EQ(records.size(), defined.size()) << name;
  for (std::size_t i = 0; i < records.size(); ++i) {
    ASSERT_EQ(records[i].length, defined[i].length) << name << ", position " << i;
    if (defined[i].length != 0) {
      ASSERT_EQ(records[i].offset, defined[i].offset) << name << ", position " << i;
    }
  }
}

TEST(Far, IsItsDefinition) {
  const FarParameters sets[] = {
      {.hash_bits = 8, .ways = 1, .generation_bytes = 64},
      {.hash_bits = 10, .ways = 4, .generation_bytes = 256},
      {.hash_bits = 16,
       .ways = 4,
       .generation_bytes = 128,
       .window_bytes = 700,
       .cap_bytes = 8,
       .stitch_reach = 1},
      {.hash_bits = 8, .hash_bytes = 5, .ways = 8, .grid_bytes = 1, .generation_bytes = 100, .cap_bytes = 5},
      {.hash_bits = 12, .hash_bytes = 4, .ways = 2, .grid_bytes = 16, .generation_bytes = 16}};
  for (const FinderCase& finder_case : finder_cases(2000))
    for (const FarParameters& parameters : sets)
      expect_definition(finder_case.input(), parameters, finder_case.name);
}

TEST(Far, NumbersOfTheLevels) {
  expect_definition({copied_bytes(150'000, 3), 70'001}, {.hash_bits = 12}, "copies");
  // Nothing is found in data that is one generation.
  const WideRecords equal = find_far({equal_bytes(200'000), 0}, {});
  EXPECT_EQ(equal[65000].length, 0u);
  EXPECT_EQ(equal[70000].length, kFarCapBytes + 16);
  for (const WideRecord& record : find_far({equal_bytes(65536), 0}, {})) ASSERT_EQ(record.length, 0u);
}

TEST(Far, ReachesAsFarAsItsWindow) {
  const Bytes again = random_bytes(300, 4);
  for (const std::size_t distance : {kFarWindowBytes - 8, kFarWindowBytes, kFarWindowBytes + 8}) {
    const Bytes data = again + equal_bytes(distance - 300) + again;
    // The grid is the block's: as many bytes of history as there are, it begins at the block.
    const WideRecords records = find_far({data, distance}, {});
    EXPECT_EQ(records[0].length, distance <= kFarWindowBytes ? kFarCapBytes + 16 : 0u) << distance;
  }
}

TEST(Far, RefusesParametersOutsideTheirLimits) {
  const Bytes data = random_bytes(10);
  for (const FarParameters& wrong :
       {FarParameters{.hash_bits = 7}, FarParameters{.hash_bits = 25}, FarParameters{.hash_bytes = 3},
        FarParameters{.hash_bytes = 9}, FarParameters{.ways = 0}, FarParameters{.ways = 3},
        FarParameters{.ways = 128}, FarParameters{.grid_bytes = 0}, FarParameters{.grid_bytes = 12},
        FarParameters{.generation_bytes = 4}, FarParameters{.generation_bytes = 100},
        FarParameters{.window_bytes = 0}, FarParameters{.window_bytes = 1U << 31},
        FarParameters{.cap_bytes = 7}, FarParameters{.cap_bytes = 65536}, FarParameters{.stitch_reach = 0},
        FarParameters{.stitch_reach = 17}})
    EXPECT_THROW(find_far({data, 0}, wrong), Error);
  EXPECT_THROW(find_far({data, 11}, {}), Error);
}

}  // namespace
}  // namespace hemstitch::testing
