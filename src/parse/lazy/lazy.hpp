// lazy: takes a match, unless the next position has a longer one.
//
// Founding document 001 (docs/founding.md) calls this the resolve pass: if the usable match at p+1 is
// strictly longer than the one at p, position p becomes a literal. Then a greedy walk takes the remaining
// matches. These decisions depend only on the finder's matches, never on each other, so each position decides
// by itself. The walk is that of greedy, with its doubling jumps on a device, in the exact order of a loop.
//
// `lazy_skip`: a match of at least so many bytes is taken without looking further (the document: 32). 0 means
// never; this is the exact rule, which the levels use.
//
// Lazy comes near the optimum on real files. It is not always cheaper than greedy: a longer match one byte
// later may cut an even better one short.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "parse/parse.hpp"

namespace hemstitch {

struct LazyParse {
  std::uint32_t skip = 0;  // lazy_skip

  static constexpr std::string_view kName = "lazy";
};

template <typename Record = MatchRecord>
std::vector<Sequence> parse_lazy(const BasicParseInput<Record>& input, std::uint32_t lazy_skip = 0);

template <typename Record>
std::vector<Sequence> parse_reference(const BasicParseInput<Record>& input, const LazyParse& parse) {
  return parse_lazy(input, parse.skip);
}

}  // namespace hemstitch
