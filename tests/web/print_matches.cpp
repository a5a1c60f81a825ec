// Prints the matches that the library's twins find, for the browser's tests to compare with theirs: three
// words of 32 bits for each match.
//
//   print_matches FINDER PARSE BLOCK_BYTES FILE     FINDER as in `hemstitch evaluate`: "coop_stitch:top_k=8"
//
// Blocks use the 64 KB before them, as with LZSSMatcher in a browser.
#include <algorithm>
#include <cstdio>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

#include "evaluate/finder_choice.hpp"
#include "hemstitch/match.hpp"

int main(int argument_count, char** arguments) {
  using namespace hemstitch;
  if (argument_count != 5) return 2;
  const FinderChoice choice = choose_finder(arguments[1]);
  const std::vector<std::string_view> parses = parse_names();
  const auto parse = std::find(parses.begin(), parses.end(), arguments[2]) - parses.begin();
  const std::size_t block_bytes = std::stoul(arguments[3]);
  std::ifstream file(arguments[4], std::ios::binary);
  const std::vector<char> content((std::istreambuf_iterator<char>(file)), std::istreambuf_iterator<char>());
  const auto bytes = std::as_bytes(std::span(content));
  const LzssMatcher matcher(choice.parameters, static_cast<Finder>(choice.row - finder_rows().data()),
                            static_cast<Parse>(parse));
  constexpr std::size_t kHistoryBytes = 65536;
  for (std::size_t begin = 0; begin < bytes.size(); begin += block_bytes) {
    const std::size_t history = std::min(begin, kHistoryBytes);
    const std::size_t end = std::min(begin + block_bytes, bytes.size());
    const MatchBlock block{bytes.subspan(begin - history, end - begin + history), history};
    const auto lists = matcher.find_matches(std::span(&block, 1));
    for (const PositionedMatch& match : lists.front()) {
      const std::uint32_t words[] = {static_cast<std::uint32_t>(begin + match.position), match.offset,
                                     match.length};
      std::fwrite(words, sizeof words, 1, stdout);
    }
  }
  return 0;
}
