// greedy: takes every usable match as soon as there is one.
//
// The simplest parse, with which the others are compared. On a device: next[p] = p + max(1, length of the
// usable match at p) for all p at once. The positions on the path from 0 follow by doubling jumps
// (next[next[p]] and so on), tile by tile, with exactly the result of this loop.
#pragma once

#include <string_view>
#include <vector>

#include "parse/parse.hpp"

namespace hemstitch {

struct GreedyParse {
  static constexpr std::string_view kName = "greedy";
};

template <typename Record = MatchRecord>
std::vector<Sequence> parse_greedy(const BasicParseInput<Record>& input);

template <typename Record>
std::vector<Sequence> parse_reference(const BasicParseInput<Record>& input, const GreedyParse&) {
  return parse_greedy(input);
}

}  // namespace hemstitch
