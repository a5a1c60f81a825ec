// search through WebGPU, compared with the CPU's (find_in_texts).
#include "search/search_webgpu.hpp"

#include <gtest/gtest.h>

#include "hemstitch/search.hpp"
#include "search_cases.hpp"
#include "webgpu_test.hpp"

namespace hemstitch {
namespace {

using namespace webgpu;
using testing::SearchCase;

class WebgpuSearch : public testing::WebgpuTest {
 protected:
  // The suite's devices, without owning them.
  static std::shared_ptr<Device> shared(Device& device) { return {std::shared_ptr<Device>(), &device}; }
};

TEST_F(WebgpuSearch, FindsWhatTheCpuFinds) {
  for (const SearchCase& one : testing::search_cases(kSearchTilePositions, false))
    for (Device* on : both_orders()) {
      TextSearch search(shared(*on), one.patterns);
      ASSERT_EQ(testing::search_difference(one, testing::unpacked(search.find(one.texts, one.offsets))), "");
    }
}

TEST_F(WebgpuSearch, PiecesAndTurnsDropNothing) {
  for (const SearchCase& one : testing::search_cases(kSearchTilePositions, false)) {
    if (one.name.find("patterns") == std::string::npos && one.name.find("up to") == std::string::npos)
      continue;
    TextSearch search(shared(device()), one.patterns, {.piece_bytes = 5003, .turn_matches = 1009});
    ASSERT_EQ(testing::search_difference(one, testing::unpacked(search.find(one.texts, one.offsets))), "");
  }
}

TEST_F(WebgpuSearch, OneObjectSearchesTextsOfAllSizes) {
  TextSearch search(shared(device()), PatternSet({"ab", "ba"}, true));
  for (const std::size_t bytes : {10u, 100'000u, 3u, 40'000u, 0u, 200'000u}) {
    const SearchCase one(std::to_string(bytes), testing::random_letters(bytes, "abAB", 2),
                         testing::random_offsets(bytes, 500, 1), PatternSet({"ab", "ba"}, true));
    ASSERT_EQ(testing::search_difference(one, testing::unpacked(search.find(one.texts, one.offsets))), "");
  }
}

// With the public interface, by the backend's name.
TEST_F(WebgpuSearch, SearchersFindWhatTheProcessorFinds) {
  const std::string text = testing::random_letters(100'000, "abcAB \n", 4);
  const std::vector<std::uint64_t> offsets = testing::random_offsets(text.size(), 77, 3);
  SearchOptions options{.patterns = {"ab", "bca", "c"}, .ignore_case = true, .whole_words = true};
  const TextSearcher on_host(options);
  options.backend = "webgpu";
  const TextSearcher searcher(options);
  const std::span<const std::byte> bytes = std::as_bytes(std::span(text));
  EXPECT_EQ(searcher.find(bytes, offsets), on_host.find(bytes, offsets));
  const auto expected = on_host.search(bytes, offsets), found = searcher.search(bytes, offsets);
  ASSERT_EQ(found.size(), expected.size());
  for (std::size_t i = 0; i < found.size(); ++i) {
    ASSERT_EQ(found[i].lines.size(), expected[i].lines.size()) << i;
    for (std::size_t line = 0; line < found[i].lines.size(); ++line)
      EXPECT_EQ(found[i].lines[line].text, expected[i].lines[line].text);
  }
  EXPECT_THROW(static_cast<void>(searcher.temp_bytes(CudaTexts{})), Error);
}

}  // namespace
}  // namespace hemstitch
