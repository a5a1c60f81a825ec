// Texts and patterns that a search on a device must get right, each with what the CPU finds in it.
#pragma once

#include <algorithm>
#include <cstdint>
#include <random>
#include <string>
#include <vector>

#include "search/search.hpp"
#include "search/search_words.hpp"

namespace hemstitch::testing {

struct SearchCase {
  std::string name;
  std::string texts;
  std::vector<std::uint64_t> offsets;
  PatternSet patterns;

  SearchCase(std::string case_name, std::string text, std::vector<std::uint64_t> begins, PatternSet set)
      : name(std::move(case_name)),
        texts(std::move(text)),
        offsets(std::move(begins)),
        patterns(std::move(set)) {}
  SearchCase(std::string case_name, std::string text, PatternSet set)
      : SearchCase(std::move(case_name), text, {0, text.size()}, std::move(set)) {}

  std::vector<SearchMatch> expected() const { return find_in_texts(texts, offsets, patterns); }
};

inline std::string random_letters(std::size_t count, const std::string& letters, std::uint32_t seed) {
  std::mt19937 random(seed);
  std::string text(count, ' ');
  for (char& c : text) c = letters[random() % letters.size()];
  return text;
}

// Texts of up to `most` bytes, a third of them empty, that fill `bytes`.
inline std::vector<std::uint64_t> random_offsets(std::uint64_t bytes, std::uint32_t most,
                                                 std::uint32_t seed) {
  std::mt19937 random(seed);
  std::vector<std::uint64_t> offsets{0};
  while (offsets.back() != bytes) {
    const std::uint64_t size = random() % 3 == 0 ? 0 : random() % (most + 1);
    offsets.push_back(std::min(bytes, offsets.back() + size));
  }
  offsets.push_back(bytes);  // an empty one at the end
  return offsets;
}

// `boundary_bytes`: where the device divides texts, its largest piece. `thorough` takes all lengths and places instead of
// some.
inline std::vector<SearchCase> search_cases(std::size_t boundary_bytes, bool thorough) {
  std::vector<SearchCase> cases;
  const std::string words = random_letters(3 * boundary_bytes + 77, "etaoin shrdlu\nETAOIN", 1);

  // A match at every place around the boundaries of 16 bytes, and of pieces.
  for (const std::string& needle : {std::string("#"), std::string("#!%"), std::string("#!%&/()="),
                                    std::string("#234567890123456789012345")})
    for (const std::size_t around : {std::size_t{0}, boundary_bytes, 2 * boundary_bytes}) {
      const std::size_t reach = thorough ? 40 : 17;
      for (std::size_t place = around < reach ? 0 : around - reach; place < around + reach;
           place += thorough ? 1 : 5) {
        std::string text = words;
        text.replace(place, needle.size(), needle);
        text.replace(text.size() - needle.size(), needle.size(), needle);
        cases.emplace_back(needle + " at " + std::to_string(place), text, PatternSet({needle}, false));
      }
    }

  for (std::size_t bytes = 1; bytes <= 256; bytes += thorough ? 1 : 37) {
    const std::string pattern = words.substr(boundary_bytes + 11 * bytes, bytes);
    for (const bool ignore_case : {false, true})
      cases.emplace_back(std::to_string(bytes) + " bytes" + (ignore_case ? ", any case" : ""), words,
                         random_offsets(words.size(), 3000, static_cast<std::uint32_t>(bytes)),
                         PatternSet({pattern}, ignore_case));
  }

  const std::string run(5 * boundary_bytes + 3, 'a');
  for (const std::size_t bytes : {1u, 2u, 4u, 5u, 33u, 256u})
    cases.emplace_back("overlaps of " + std::to_string(bytes), run, random_offsets(run.size(), 700, 3),
                       PatternSet({std::string(bytes, 'a')}, bytes % 2 == 0));

  // More texts than a tile has bytes to spare for.
  const std::string two_letters = random_letters(boundary_bytes * 6, "ab", 4);
  for (const std::uint32_t most : {1u, 5u, 40u})
    for (const std::vector<std::string>& patterns : {std::vector<std::string>{"a"},
                                                     {"ab"},
                                                     {"abab"},
                                                     {"babab"},
                                                     {"a", "ba", "bab", "ababa", "bbbbbbbbbb"}})
      cases.emplace_back("texts of up to " + std::to_string(most), two_letters,
                         random_offsets(two_letters.size(), most, most), PatternSet(patterns, false));

  std::mt19937 random(5);
  for (const std::size_t count : {2u, 17u, 1000u})
    for (const bool ignore_case : {false, true}) {
      std::vector<std::string> patterns;
      while (patterns.size() < count)
        patterns.push_back(words.substr(random() % (words.size() - 40), 1 + random() % 40));
      if (count == 1000u)  // no single letters, which would stand everywhere
        for (std::string& pattern : patterns) pattern += "#?"[random() % 2];
      patterns.back() = "Shr";
      cases.emplace_back(std::to_string(count) + " patterns", words, random_offsets(words.size(), 5000, 6),
                         PatternSet(patterns, ignore_case));
    }

  // Zero bytes, which also stand behind the texts' end; bytes above 127 have no case.
  const std::string zeros(boundary_bytes + 5, '\0');
  cases.emplace_back("zeros", zeros, random_offsets(zeros.size(), 900, 7),
                     PatternSet({std::string(3, '\0')}, false));
  const std::string high =
      random_letters(boundary_bytes, "\x41\x61\xC1\xE1\x5B\x7B\x40\x60\xDA\xFA\x5A\x7A", 8);
  cases.emplace_back("high bytes", high, PatternSet({"\xC1\x61"}, true));
  cases.emplace_back("beside the letters", high, PatternSet({"[", "@z", "`Z"}, true));

  cases.emplace_back("no text", "", std::vector<std::uint64_t>{0}, PatternSet({"a"}, false));
  cases.emplace_back("empty texts", "", std::vector<std::uint64_t>{0, 0, 0}, PatternSet({"a"}, false));
  for (const std::size_t bytes : {1u, 2u, 3u, 15u, 16u, 17u})
    cases.emplace_back("a text of " + std::to_string(bytes), run.substr(0, bytes),
                       PatternSet({"aa", "aaa"}, true));
  return cases;
}

inline std::vector<SearchMatch> unpacked(std::span<const PackedMatch> packed) {
  std::vector<SearchMatch> matches;
  for (const PackedMatch match : packed) matches.push_back({match.position(), match.bytes()});
  return matches;
}

// The first difference in words, or nothing.
inline std::string search_difference(const SearchCase& one, const std::vector<SearchMatch>& found) {
  const std::vector<SearchMatch> expected = one.expected();
  const auto tell = [](const std::vector<SearchMatch>& matches, std::size_t i) {
    return i < matches.size()
               ? std::to_string(matches[i].bytes) + " bytes at " + std::to_string(matches[i].position)
               : std::string("none");
  };
  for (std::size_t i = 0; i < std::max(found.size(), expected.size()); ++i)
    if (i >= found.size() || i >= expected.size() || !(found[i] == expected[i]))
      return one.name + ": match " + std::to_string(i) + " of " + std::to_string(expected.size()) +
             ": expected " + tell(expected, i) + ", got " + tell(found, i) + " of " +
             std::to_string(found.size());
  return {};
}

}  // namespace hemstitch::testing
