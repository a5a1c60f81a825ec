// Fixed strings, compared with a plain comparison at every position; and lines as in grep.
#include "search/search.hpp"

#include <gtest/gtest.h>
#include <time.h>

#include <algorithm>
#include <random>

#include "core/status.hpp"
#include "search/line_search.hpp"
#include "search/pattern_fold.hpp"
#include "search/pattern_table.hpp"
#include "search/search_words.hpp"
#include "search/text_boundary.hpp"

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

// Patterns that begin with each other in long chains, and share their first bytes with many others.
TEST(Search, FindsTheLongestOfThousandsOfPatternsThatBeginWithEachOther) {
  std::mt19937 random(5);
  const auto string = [&](std::size_t most) {
    std::string text(1 + random() % most, ' ');
    for (char& c : text) c = "abBc\xff\0"[random() % 6];
    return text;
  };
  for (const std::size_t least : {1, 2, 5}) {
    for (const bool ignore_case : {false, true}) {
      std::vector<std::string> patterns;
      for (int i = 0; i < 400; ++i) patterns.push_back(std::string(least - 1, 'a') + string(9));
      for (std::size_t i = 0; i < 200; ++i) patterns.push_back(patterns[i] + string(3));
      const PatternSet set(patterns, ignore_case);
      std::string text;
      while (text.size() < 1500) text += random() % 3 == 0 ? string(5) : patterns[random() % patterns.size()];
      const std::vector<SearchMatch> expected = plainly(text, patterns, ignore_case);
      ASSERT_EQ(all_matches(text, set), expected);
      for (const SearchMatch& match : expected) {
        std::vector<std::string> shorter;
        for (const std::string& pattern : patterns)
          if (pattern.size() < match.bytes) shorter.push_back(pattern);
        const auto others = plainly(text.substr(match.position, match.bytes), shorter, ignore_case);
        const std::uint32_t next = others.empty() || others[0].position != 0 ? 0 : others[0].bytes;
        ASSERT_EQ(set.size_at(text, match.position, match.bytes - 1), next);
      }
    }
  }
}

// Every place relative to the ends of the text and to the pieces in which it is searched, in texts where
// hardly any position passes the first test, and where almost all do.
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

// The processor time of this thread, whatever else runs on the machine.
double processor_seconds() {
  timespec time{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
  return static_cast<double>(time.tv_sec) + 1e-9 * static_cast<double>(time.tv_nsec);
}

// In the first half of this text, every position looks like the beginning of the string. Comparing the whole
// string at each would be 250 GB of comparisons for a search, which takes several seconds; otherwise it takes
// hundredths of a second.
TEST(Search, TakesNoLongerWhereEveryPlaceLooksRight) {
  const std::string text(8 << 20, 'a');
  const std::string half(30'000, 'a');
  const double begin = processor_seconds();
  EXPECT_EQ(PatternSet({half + 'b' + half}, false).next(text, 0), std::nullopt);
  EXPECT_EQ(PatternSet({half + 'b' + half}, false).next(text + 'b' + half, 0),
            (SearchMatch{text.size() - half.size(), static_cast<std::uint32_t>(2 * half.size() + 1)}));
  EXPECT_LT(processor_seconds() - begin, 2);
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

// Long texts are searched in pieces of a MiB, whose ends no match may be lost at or be found at twice.
TEST(Search, MatchesReachFromPieceToPiece) {
  std::string text((std::size_t{2} << 20) + 7, '.');
  const std::string longest = "ab" + std::string(40, 'a') + "b";
  for (const std::size_t piece : {std::size_t{1} << 20, std::size_t{2} << 20})
    for (std::size_t at = piece - 60; at < std::min(piece + 60, text.size()); ++at)
      text[at] = at % 7 == 0 ? 'b' : 'a';
  text.replace((std::size_t{1} << 20) - 20, longest.size(), longest);
  const std::vector<std::uint64_t> offsets{0, text.size()};
  for (const std::vector<std::string>& patterns :
       {std::vector<std::string>{"aab"}, {"ab", "aaab", longest}, {"a", "b"}}) {
    const PatternSet set(patterns, patterns.size() == 2);
    const std::vector<SearchMatch> found = find_in_texts(text, offsets, set);
    EXPECT_EQ(found, all_matches(text, set)) << patterns.front();
    EXPECT_GT(found.size(), 10u);
  }
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

// The reported lines of a text: "1:0:one;" for a selected line, "-" for one beside it, "|" before a group.
class Told : public LineListener {
 public:
  void line(const FoundLine& line) override {
    text += (line.behind_gap ? "|" : "") + std::to_string(line.number) + ":" + std::to_string(line.byte) +
            (line.selected ? ":" : "-") + std::string(line.text) + ";";
  }
  void too_long(std::uint64_t byte) override { text += "too long at " + std::to_string(byte) + ";"; }
  void too_many_before(std::uint64_t byte) override { text += "lost before " + std::to_string(byte) + ";"; }

  std::string text;
};

std::string told(const LineSearcher& searcher, const Told& told) {
  return told.text + std::to_string(searcher.count()) + (searcher.in_binary() ? " binary" : "");
}

std::string lines(const std::string& content, const std::vector<std::string>& patterns,
                  LineSelection selection) {
  selection.numbers = selection.in_groups = true;
  const PatternSet set(patterns, false);
  Told listener;
  LineSearcher searcher(selection, &set, false, listener);
  searcher.take_whole(content, MatchCursor(content, &set));
  return told(searcher, listener);
}

// The same, with windows that are first as small as `piece` bytes, and never larger than `most`.
std::string lines_in_pieces(const std::string& content, const std::vector<std::string>& patterns,
                            LineSelection selection, std::size_t piece, std::size_t most) {
  selection.numbers = selection.in_groups = true;
  const PatternSet set(patterns, false);
  Told listener;
  LineSearcher searcher(selection, &set, false, listener);
  std::string window;
  std::size_t at = 0;
  while (at < content.size() && !searcher.done()) {
    const std::size_t bytes = std::min({piece, most - window.size(), content.size() - at});
    window += content.substr(at, bytes);
    at += bytes;
    window.erase(0, searcher.take(window, window.size() == most ? LineSearcher::Piece::kFull
                                                                : LineSearcher::Piece::kMore));
  }
  if (!searcher.done()) searcher.take(window, LineSearcher::Piece::kLast);
  return told(searcher, listener);
}

TEST(LineSearch, ShowsLines) {
  const std::string text = "one\ntwo one\n\nthree";
  EXPECT_EQ(lines(text, {"o"}, {}), "|1:0:one;2:4:two one;2");
  EXPECT_EQ(lines(text, {"x"}, {}), "0");
  EXPECT_EQ(lines(text, {"x"}, {.rules = {.empty_pattern = true}}),
            "|1:0:one;2:4:two one;3:12:;4:13:three;4");
  EXPECT_EQ(lines(text, {"two"}, {.invert = true}), "|1:0:one;|3:12:;4:13:three;3");
  EXPECT_EQ(lines(text, {"one"}, {.rules = {.whole_lines = true}}), "|1:0:one;1");
  EXPECT_EQ(lines(text, {"tw", "ne", "on"}, {.rules = {.whole_words = true}}), "0");
  EXPECT_EQ(lines(text, {"o", "one"}, {.most_lines = 1}), "|1:0:one;1");
  EXPECT_EQ(lines(std::string("a\n\0a", 4), {"a"}, {}), "1 binary");
  EXPECT_EQ(lines(std::string("a\n\0a", 4), {"a"}, {.binary = LineSelection::Binary::kText}),
            std::string("|1:0:a;2:2:\0a;2", 15));
  EXPECT_EQ(lines(std::string("a\n\0a", 4), {"a"}, {.binary = LineSelection::Binary::kNoMatch}), "0");
}

TEST(LineSearch, ShowsLinesBesideThem) {
  const std::string text = "1\n2\nx\n4\n5\n6\nx\nx\n9";
  EXPECT_EQ(lines(text, {"x"}, {.before = 1, .after = 1}),
            "|2:2-2;3:4:x;4:6-4;|6:10-6;7:12:x;8:14:x;9:16-9;3");
  EXPECT_EQ(lines(text, {"x"}, {.before = 3}), "|1:0-1;2:2-2;3:4:x;4:6-4;5:8-5;6:10-6;7:12:x;8:14:x;3");
  EXPECT_EQ(lines(text, {"x"}, {.after = 9, .most_lines = 2}),
            "|3:4:x;4:6-4;5:8-5;6:10-6;7:12:x;8:14-x;9:16-9;2");
}

// At a position several patterns may match, of which only a shorter one is a whole word.
TEST(LineSearch, TriesShorterPatterns) {
  const LineRules words{.whole_words = true};
  const PatternSet set({"foo", "foo.b", "foo.bar"}, false);
  const LineMatcher matcher(words, &set);
  EXPECT_EQ(matcher.next("foo.bar", 0), (SearchMatch{0, 7}));
  EXPECT_EQ(matcher.next("foo.bart", 0), (SearchMatch{0, 3}));
  EXPECT_EQ(matcher.next("xfoo foo.bart", 0), (SearchMatch{5, 3}));
  EXPECT_EQ(matcher.next("xfoo foox", 0), std::nullopt);
}

TEST(LineSearch, TakesMatchesThatWereFoundBefore) {
  const std::string before = "a one\n", text = "one\ntwo one\n\nthree one";
  const std::string all = before + text;
  const PatternSet set({"o", "one"}, false);
  std::vector<PackedMatch> found;
  for (const SearchMatch& match :
       find_in_texts(all, std::vector<std::uint64_t>{0, before.size(), all.size()}, set))
    if (match.position >= before.size()) found.push_back(PackedMatch::of(match.position, match.bytes));
  for (const bool words : {false, true}) {
    LineSelection selection{.rules = {.whole_words = words}, .in_groups = true};
    Told listener;
    LineSearcher searcher(selection, &set, false, listener);
    searcher.take_whole(text, MatchCursor(found, before.size()));
    EXPECT_EQ(told(searcher, listener), "|0:0:one;0:4:two one;|0:13:three one;3");
  }
}

TEST(LineSearch, KnowsTextByGrepsBuffers) {
  std::string text;
  while (text.size() < 300'000) text += "some line\n";
  text += '\0';
  const auto text_bytes = [](std::string_view content) {
    TextBoundary boundary(false);
    return boundary.look(content, 0, TextBoundary::Reads::kToEnd).text_bytes;
  };
  // The zero is in the fourth read of 96 KB; the third read ends within a line.
  EXPECT_EQ(text_bytes(text), 3 * 98304 / 10 * 10u);
  EXPECT_EQ(text_bytes(std::string_view(text).substr(0, 300'000)), 300'000u);
  EXPECT_EQ(text_bytes(std::string_view(text).substr(300'000 - 98303)), 0u);
  // Before that, a hole after the first read is looked for.
  TextBoundary with_hole(true);
  EXPECT_EQ(with_hole.look(text, 0, TextBoundary::Reads::kToEnd).text_bytes, 0u);
}

TEST(LineSearch, CountsLinesThatZerosEnd) {
  const std::string text("a\nb\0a\0a a\nc", 11);
  const auto count = [&](LineSelection selection) {
    selection.wanted = LineSelection::Wanted::kCount;
    const PatternSet set({"a"}, false);
    Told listener;
    LineSearcher searcher(selection, &set, false, listener);
    searcher.take_whole(text, MatchCursor(text, &set));
    return searcher.count();
  };
  EXPECT_EQ(count({}), 3u);
  EXPECT_EQ(count({.invert = true}), 2u);
  EXPECT_EQ(count({.rules = {.empty_pattern = true}}), 5u);
  EXPECT_EQ(count({.most_lines = 2}), 2u);
}

// The report must not depend on the pieces.
TEST(LineSearch, TellsTheSameOfPieces) {
  std::mt19937 random(7);
  for (int round = 0; round < 400; ++round) {
    std::string text;
    const std::size_t lines_count = random() % (round % 8 == 0 ? 40'000 : 60);
    for (std::size_t i = 0; i < lines_count; ++i)
      text += std::string(random() % 4 == 0   ? ""
                          : random() % 8 == 0 ? "x ab"
                                              : "some line") +
              (random() % 3 ? "x" : "\n");
    if (random() % 3 == 0)
      for (std::size_t zeros = random() % 4; zeros > 0 && !text.empty(); --zeros)
        text[random() % text.size()] = '\0';
    LineSelection selection;
    selection.rules = {.empty_pattern = random() % 8 == 0,
                       .whole_words = random() % 3 == 0,
                       .whole_lines = random() % 8 == 0};
    selection.invert = random() % 3 == 0;
    selection.wanted = random() % 4 == 0 ? LineSelection::Wanted::kCount : LineSelection::Wanted::kLines;
    selection.binary = static_cast<LineSelection::Binary>(random() % 3);
    selection.before = random() % 3 == 0 ? random() % 5 : 0;
    selection.after = random() % 3 == 0 ? random() % 5 : 0;
    if (random() % 4 == 0) selection.most_lines = 1 + random() % 5;
    const std::vector<std::string> patterns =
        random() % 2 == 0 ? std::vector<std::string>{"ab"} : std::vector<std::string>{"x", "x a", "linex"};
    const std::string expected = lines(text, patterns, selection);
    for (const std::size_t piece : {std::size_t{1}, std::size_t{7}, std::size_t{4096}, std::size_t{200'000}})
      if (piece >= 4096 || text.size() < 1000) {
        ASSERT_EQ(lines_in_pieces(text, patterns, selection, piece, std::size_t{1} << 30), expected)
            << "round " << round << ", pieces of " << piece;
      }
  }
}

TEST(LineSearch, PassesOverALineThatIsTooLong) {
  const std::string text = "ab\n" + std::string(500, 'a') + "b ab\nab\ncd\nab";
  EXPECT_EQ(lines_in_pieces(text, {"ab"}, {}, 10, 100), "|1:0:ab;too long at 3;|3:508:ab;|5:514:ab;3");
  EXPECT_EQ(lines_in_pieces(text, {"ab"}, {.before = 2, .after = 2}, 10, 100),
            "|1:0:ab;too long at 3;|3:508:ab;4:511-cd;5:514:ab;3");
  EXPECT_EQ(lines_in_pieces(text, {"ab"}, {.invert = true}, 10, 100), "too long at 3;|4:511:cd;1");
  // A long line without an end is left out as well; a zero in it is still seen.
  EXPECT_EQ(lines_in_pieces("ab\n" + std::string(500, 'a'), {"ab"}, {}, 10, 100), "|1:0:ab;too long at 3;1");
  std::string binary = "ab\n" + std::string(500, 'a') + "\nab";
  binary[450] = '\0';
  EXPECT_EQ(lines_in_pieces(binary, {"ab"}, {}, 10, 100), "|1:0:ab;too long at 3;2 binary");
  // As many lines before as there is room for.
  std::string many;
  for (int i = 0; i < 100; ++i) many += "cd\n";
  EXPECT_EQ(lines_in_pieces(many + "ab", {"ab"}, {.before = 1000}, 10, 100).substr(0, 15), "lost before 300");
  EXPECT_EQ(lines_in_pieces(many + "ab", {"ab"}, {.before = 3}, 10, 100),
            "|98:291-cd;99:294-cd;100:297-cd;101:300:ab;1");
}

}  // namespace
}  // namespace hemstitch
