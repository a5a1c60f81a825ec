// near_three compared with its definition, written anew: every earlier position is tried.
#include "match/near_three/near_three.hpp"

#include <gtest/gtest.h>

#include "core/status.hpp"
#include "match/common/hash_word.hpp"
#include "shapes.hpp"

namespace hemstitch::testing {
namespace {

std::uint32_t word_at(const Bytes& data, std::size_t position) {
  std::uint32_t word = 0;
  for (std::size_t i = 0; i < kNearThreeBytes; ++i)
    word |= static_cast<std::uint32_t>(data[position + i]) << (8 * i);
  return word;
}

std::uint16_t defined_offset(const Bytes& data, std::size_t position, const NearThreeParameters& parameters) {
  if (position + kNearThreeBytes > data.size()) return 0;
  const std::uint32_t word = word_at(data, position);
  std::uint32_t seen = 0;
  for (std::size_t offset = 1; offset <= std::min<std::size_t>(position, parameters.window_bytes); ++offset) {
    const std::uint32_t other = word_at(data, position - offset);
    if (hash_word(other, parameters.hash_bits) != hash_word(word, parameters.hash_bits)) continue;
    if (other == word) return static_cast<std::uint16_t>(offset);
    if (++seen == parameters.depth) return 0;
  }
  return 0;
}

TEST(NearThree, IsItsDefinition) {
  for (const FinderCase& finder_case : finder_cases(6000))
    for (const NearThreeParameters& parameters :
         {NearThreeParameters{}, NearThreeParameters{.hash_bits = 8, .depth = 1},
          NearThreeParameters{.hash_bits = 8, .depth = 3},
          NearThreeParameters{.hash_bits = 10, .depth = 4, .window_bytes = 700}}) {
      const NearOffsets offsets = find_near_three(finder_case.input(), parameters);
      ASSERT_EQ(offsets.size(), finder_case.input().block_bytes()) << finder_case.name;
      for (std::size_t position = 0; position < offsets.size(); ++position)
        ASSERT_EQ(offsets[position],
                  defined_offset(finder_case.data, finder_case.history_bytes + position, parameters))
            << finder_case.name << ", position " << position << ", depth " << parameters.depth;
    }
}

TEST(NearThree, ReachesAsFarAsItsWindow) {
  for (const std::size_t offset : {32767, 32768, 32769}) {
    Bytes data = random_bytes(offset + 3, 9);
    std::copy_n(data.begin(), 3, data.begin() + static_cast<std::ptrdiff_t>(offset));
    const NearOffsets found = find_near_three({data, 0}, {.hash_bits = 16, .depth = 100});
    EXPECT_EQ(found[offset], offset <= 32768 ? offset : 0);
  }
}

TEST(NearThree, RefusesParametersOutsideTheirLimits) {
  const Bytes data = random_bytes(10);
  for (const NearThreeParameters& wrong :
       {NearThreeParameters{.hash_bits = 7}, NearThreeParameters{.hash_bits = 17},
        NearThreeParameters{.depth = 0}, NearThreeParameters{.window_bytes = 0},
        NearThreeParameters{.window_bytes = 65536}})
    EXPECT_THROW(find_near_three({data, 0}, wrong), Error);
  EXPECT_THROW(find_near_three({data, 11}, {}), Error);
}

}  // namespace
}  // namespace hemstitch::testing
