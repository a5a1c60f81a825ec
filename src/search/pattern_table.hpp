// The patterns of a search as one array of words, which a device reads.
//
//   rows        two words for each pattern: the word where its bytes begin, and how many they are; longest patterns first
//   bytes       of the patterns, each from a word of its own, followed by zeros up to two words after its end
// and, if there are several patterns:
//   filter      2048 words: bit `pair` is set if a pattern begins with these two bytes (first byte lowest); a pattern of
//               one byte sets all pairs that begin with it
//   first       65,537 words: the patterns under a pair are lists[first[pair]] up to lists[first[pair + 1]]
//   lists       rows' numbers, longest patterns first
//
// With case ignored the patterns are folded, and so must be what they are compared with.
#pragma once

#include <cstdint>
#include <vector>

#include "search/search.hpp"

namespace hemstitch {

inline constexpr std::uint32_t kPairFilterWords = 2048;

// Where the parts are in the words, and what a device needs without reading them.
struct PatternPlaces {
  std::uint32_t pattern_count = 0;
  std::uint32_t most_bytes = 0;  // of the longest pattern
  std::uint32_t ignore_case = 0;
  std::uint32_t first_word = 0;  // if there is only one pattern: its first four bytes, and
  std::uint32_t first_mask = 0;  // a mask for those that it has
  std::uint32_t filter_at = 0;
  std::uint32_t first_at = 0;
  std::uint32_t lists_at = 0;
};

struct PatternTable {
  explicit PatternTable(const PatternSet& patterns);

  PatternPlaces places;
  std::vector<std::uint32_t> words;  // rows first
};

}  // namespace hemstitch
