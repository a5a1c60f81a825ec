// search through WebGPU, against the CPU's (find_in_texts).
#include <gtest/gtest.h>

#include "search/search_webgpu.hpp"
#include "search_cases.hpp"
#include "webgpu_test.hpp"

namespace hemstitch {
namespace {

using namespace webgpu;
using testing::SearchCase;

class WebgpuTextSearch : public testing::WebgpuTest {
 protected:
  // Devices of the suite, which nobody else owns.
  static std::shared_ptr<Device> shared(Device& device) { return {std::shared_ptr<Device>(), &device}; }
};

TEST_F(WebgpuTextSearch, FindsWhatTheCpuFinds) {
  for (const SearchCase& one : testing::search_cases(kSearchTilePositions, false))
    for (Device* on : both_orders()) {
      TextSearch search(shared(*on), one.patterns);
      ASSERT_EQ(testing::search_difference(one, testing::unpacked(search.find(one.texts, one.offsets))), "");
    }
}

TEST_F(WebgpuTextSearch, PiecesAndTurnsDropNothing) {
  for (const SearchCase& one : testing::search_cases(kSearchTilePositions, false)) {
    if (one.name.find("patterns") == std::string::npos && one.name.find("up to") == std::string::npos)
      continue;
    TextSearch search(shared(device()), one.patterns, {.piece_bytes = 5003, .turn_matches = 1009});
    ASSERT_EQ(testing::search_difference(one, testing::unpacked(search.find(one.texts, one.offsets))), "");
  }
}

TEST_F(WebgpuTextSearch, OneObjectSearchesTextsOfAllSizes) {
  const PatternSet patterns({"ab", "ba"}, true);
  TextSearch search(shared(device()), patterns);
  for (const std::size_t bytes : {10u, 100'000u, 3u, 40'000u, 0u, 200'000u}) {
    const SearchCase one(std::to_string(bytes), testing::random_letters(bytes, "abAB", 2),
                         testing::random_offsets(bytes, 500, 1), patterns);
    ASSERT_EQ(testing::search_difference(one, testing::unpacked(search.find(one.texts, one.offsets))), "");
  }
}

}  // namespace
}  // namespace hemstitch
