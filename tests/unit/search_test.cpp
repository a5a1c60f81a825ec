// Fixed strings found one position after the other, against a plain comparison at every position; lines as grep sees them.
#include "search/search.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>

#include "core/status.hpp"
#include "search/line_search.hpp"
#include "search/pattern_fold.hpp"
#include "search/pattern_table.hpp"
#include "search/search_words.hpp"

namespace hemstitch {
namespace {

std::string lower(std::string text) {
  for (char& c : text)
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  return text;
}

std::vector<SearchMatch> all_matches(std::string_view text, const PatternSet& patterns) {
  std::vector<SearchMatch> matches;
  for (auto match = patterns.next(text, 0); match; match = patterns.next(text, match->position + 1))
    matches.push_back(*match);
  return matches;
}

std::vector<SearchMatch> plainly(std::string text, std::vector<std::string> patterns, bool ignore_case) {
  if (ignore_case) {
    text = lower(text);
    for (std::string& pattern : patterns) pattern = lower(pattern);
  }
  std::vector<SearchMatch> matches;
  for (std::uint64_t position = 0; position < text.size(); ++position) {
    std::uint32_t longest = 0;
    for (const std::string& pattern : patterns)
      if (text.compare(position, pattern.size(), pattern) == 0)
        longest = std::max(longest, static_cast<std::uint32_t>(pattern.size()));
    if (longest != 0) matches.push_back({position, longest});
  }
  return matches;
}

// Every place relative to the ends of the text and to the pieces in which it is looked through, in texts where hardly anything
// passes the first look and in those where nearly everything does.
TEST(Search, FindsOneStringAtEveryPlaceOfTextsOfEverySize) {
  for (const char filler : {'.', 'a'}) {
    for (const std::string& string :
         {std::string("a!"), std::string("aba"), "aa" + std::string(61, 'b') + "aa"}) {
      const PatternSet patterns({string}, false);
      for (std::size_t size = 0; size <= 200; ++size) {
        std::string text(size, filler);
        ASSERT_EQ(patterns.next(text, 0), std::nullopt) << size;
        for (std::size_t at = 0; at + string.size() <= size; ++at) {
          std::string with = text;
          with.replace(at, string.size(), string);
          const std::uint64_t expected = with.find(string);
          ASSERT_EQ(patterns.next(with, 0),
                    (SearchMatch{expected, static_cast<std::uint32_t>(string.size())}))
              << size << ' ' << at;
          ASSERT_EQ(patterns.next(with, at), (SearchMatch{at, static_cast<std::uint32_t>(string.size())}));
        }
      }
    }
  }
}

// A text where every place looks like the string's until its middle: its length must not be paid for at each of them.
TEST(Search, TakesNoLongerWhereEveryPlaceLooksRight) {
  const std::string text(8 << 20, 'a');
  const std::string half(30'000, 'a');
  EXPECT_EQ(PatternSet({half + 'b' + half}, false).next(text, 0), std::nullopt);
  EXPECT_EQ(PatternSet({half + 'b' + half}, false).next(text + 'b' + half, 0),
            (SearchMatch{text.size() - half.size(), static_cast<std::uint32_t>(2 * half.size() + 1)}));
}

TEST(Search, FindsEveryPositionWithTheLongestPattern) {
  std::mt19937 random(1);
  for (int round = 0; round < 300; ++round) {
    const std::string letters = round % 2 == 0 ? "aB" : "abcdABCD\n@[`{\x7F\x80\xC1";
    std::string text(random() % 600, ' ');
    for (char& c : text) c = letters[random() % letters.size()];
    std::vector<std::string> patterns;
    for (std::size_t count = 1 + random() % 6; count > 0; --count) {
      std::string pattern(1 + random() % 8, ' ');
      for (char& c : pattern) c = letters[random() % letters.size()];
      if (random() % 2 == 0 && text.size() > 300) pattern = text.substr(random() % 40, 1 + random() % 256);
      patterns.push_back(pattern);
    }
    if (random() % 3 == 0) patterns.resize(1);
    for (const bool ignore_case : {false, true}) {
      const auto expected = plainly(text, patterns, ignore_case);
      const auto found = all_matches(text, PatternSet(patterns, ignore_case));
      ASSERT_EQ(found.size(), expected.size())
          << patterns.size() << " patterns, the first '" << patterns.front() << "'";
      for (std::size_t i = 0; i < found.size(); ++i) {
        ASSERT_EQ(found[i].position, expected[i].position);
        ASSERT_EQ(found[i].bytes, expected[i].bytes) << "at " << found[i].position;
      }
    }
  }
}

TEST(Search, RefusesPatternsThatItCannotLookFor) {
  EXPECT_THROW(PatternSet({}, false), Error);
  EXPECT_THROW(PatternSet({"a", ""}, false), Error);
  EXPECT_THROW(PatternSet({std::string(kMaxPatternBytes + 1, 'a')}, true), Error);
  const std::string longest(kMaxPatternBytes, 'a');
  EXPECT_EQ(all_matches(longest + "a", PatternSet({longest}, true)).size(), 2u);
}

TEST(Search, MatchesStayInTheirTexts) {
  const std::string texts = "abababab";
  const std::vector<std::uint64_t> offsets{0, 3, 3, 4, 8};
  const auto found = find_in_texts(texts, offsets, PatternSet({"ab", "ba"}, false));
  EXPECT_EQ(found, (std::vector<SearchMatch>{{0, 2}, {1, 2}, {4, 2}, {5, 2}, {6, 2}}));
}

TEST(Search, WordsAreFoldedAsBytesAre) {
  for (std::uint32_t byte = 0; byte < 256; ++byte)
    for (unsigned place = 0; place < 4; ++place)
      for (const std::uint32_t others : {0u, 0x41414141u, 0x5A5A5A5Au, 0xFFFFFFFFu, 0x7F7F7F7Fu}) {
        const std::uint32_t word = (others & ~(0xFFu << 8 * place)) | byte << 8 * place;
        std::uint32_t expected = 0;
        for (unsigned i = 0; i < 4; ++i)
          expected |= static_cast<std::uint32_t>(folded(static_cast<std::uint8_t>(word >> 8 * i))) << 8 * i;
        ASSERT_EQ(folded_word(word), expected) << std::hex << word;
      }
  EXPECT_EQ(word_from(0x44332211, 0x88776655, 0), 0x44332211u);
  EXPECT_EQ(word_from(0x44332211, 0x88776655, 3), 0x77665544u);
  EXPECT_EQ(first_bytes_mask(1), 0xFFu);
  EXPECT_EQ(first_bytes_mask(4), ~0u);
}

TEST(Search, TheTableHoldsAllPatterns) {
  const PatternSet set({"a", "Abc", "ab", "abcdefghi"}, true);
  const PatternTable table(set);
  ASSERT_EQ(table.places.pattern_count, 4u);
  EXPECT_EQ(table.places.most_bytes, 9u);
  const auto under = [&](char first, char second) {
    const std::uint32_t pair = static_cast<std::uint8_t>(first) | static_cast<std::uint8_t>(second) << 8;
    const std::uint32_t* first_at = table.words.data() + table.places.first_at + pair;
    std::vector<std::string> patterns;
    for (std::uint32_t i = first_at[0]; i < first_at[1]; ++i) {
      const std::uint32_t row = 2 * table.words[table.places.lists_at + i];
      patterns.emplace_back(reinterpret_cast<const char*>(table.words.data() + table.words[row]),
                            table.words[row + 1]);
    }
    EXPECT_EQ(!patterns.empty(), (table.words[table.places.filter_at + pair / 32] >> pair % 32 & 1) != 0);
    return patterns;
  };
  EXPECT_EQ(under('a', 'b'), (std::vector<std::string>{"abcdefghi", "abc", "ab", "a"}));
  EXPECT_EQ(under('a', '\xFF'), (std::vector<std::string>{"a"}));
  EXPECT_EQ(under('b', 'a'), (std::vector<std::string>{}));
}

std::string lines(const std::string& content, const std::vector<std::string>& patterns, LineSearch search) {
  std::string shown;
  search.count_lines = true;
  const PatternSet set(patterns, false);
  MatchCursor cursor(content, &set);
  const LinesFound found = for_each_matching_line(content, cursor, search, [&](const FoundLine& line) {
    shown += std::to_string(line.line) + ":" + std::to_string(line.byte) + ":" + std::string(line.text) + ";";
  });
  return shown + (found.any ? "any" : "none") + (found.in_binary ? ", binary" : "");
}

TEST(LineSearch, ShowsLinesAndMatches) {
  const std::string text = "one\ntwo one\n\nthree";
  EXPECT_EQ(lines(text, {"o"}, {}), "1:0:one;2:4:two one;any");
  EXPECT_EQ(lines(text, {"o", "one"}, {.only_matching = true}), "1:0:one;2:6:o;2:8:one;any");
  EXPECT_EQ(lines(text, {"x"}, {}), "none");
  EXPECT_EQ(lines(text, {"x"}, {.every_line = true}), "1:0:one;2:4:two one;3:12:;4:13:three;any");
  EXPECT_EQ(lines("aaaa", {"aa"}, {.only_matching = true}), "1:0:aa;1:2:aa;any");
  EXPECT_EQ(lines(std::string("a\n\0a", 4), {"a"}, {}), "any, binary");
}

TEST(LineSearch, TakesMatchesThatWereFoundBefore) {
  const std::string before = "a one\n", text = "one\ntwo one\n\nthree one";
  const std::string all = before + text;
  const PatternSet set({"o", "one"}, false);
  std::vector<PackedMatch> found;
  for (const SearchMatch& match :
       find_in_texts(all, std::vector<std::uint64_t>{0, before.size(), all.size()}, set))
    if (match.position >= before.size()) found.push_back(PackedMatch::of(match.position, match.bytes));
  for (const LineSearch& search : {LineSearch{}, LineSearch{.only_matching = true}}) {
    MatchCursor looked_for(text, &set), given(found, before.size());
    std::vector<std::uint64_t> expected, places;
    for_each_matching_line(text, looked_for, search,
                           [&](const FoundLine& line) { expected.push_back(line.byte); });
    for_each_matching_line(text, given, search, [&](const FoundLine& line) { places.push_back(line.byte); });
    EXPECT_EQ(places, expected);
    EXPECT_EQ(expected.size(), search.only_matching ? 4u : 3u);
  }
  MatchCursor none(std::span<const PackedMatch>(), 7);
  EXPECT_EQ(count_matching_lines({}, none, {}), 0u);
}

TEST(LineSearch, KnowsTextByGrepsBuffers) {
  std::string text;
  while (text.size() < 300'000) text += "some line\n";
  text += '\0';
  // The zero lies in the fourth read of 96 KB; the third ends inside a line.
  EXPECT_EQ(text_bytes_before_binary(text), 3 * 98304 / 10 * 10u);
  EXPECT_EQ(text_bytes_before_binary(text.substr(0, 300'000)), 300'000u);
  EXPECT_EQ(text_bytes_before_binary(text.substr(300'000 - 98303)), 0u);
}

TEST(LineSearch, CountsLinesThatZerosEnd) {
  const std::string text("a\nb\0a\0a a\nc", 11);
  const PatternSet set({"a"}, false);
  MatchCursor cursor(text, &set);
  EXPECT_EQ(count_matching_lines(text, cursor, {}), 3u);
  MatchCursor none(text, nullptr);
  EXPECT_EQ(count_matching_lines(text, none, {.every_line = true}), 5u);
}

}  // namespace
}  // namespace hemstitch
