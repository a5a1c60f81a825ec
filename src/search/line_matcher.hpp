// Decides whether a line matches, and where: applies -w, -x and empty patterns to the places of patterns.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

#include "search/search.hpp"

namespace hemstitch {

struct LineRules {
  bool empty_pattern = false;  // one of the patterns is empty
  bool whole_words = false;    // a match has no letter, digit or underscore beside it
  bool whole_lines = false;    // a match is the whole line; overrides whole_words
  bool begins_anew =
      false;  // with whole_words, the text directly after a match counts as the beginning of a line
};

// Lines come without their ends.
class LineMatcher {
 public:
  // Not copied; NULL if the only pattern is the empty one.
  LineMatcher(const LineRules& rules, const PatternSet* patterns) : rules_(rules), patterns_(patterns) {}

  // Whether a line matches exactly if it holds a pattern.
  bool is_plain() const { return !rules_.empty_pattern && !rules_.whole_words && !rules_.whole_lines; }
  // Whether lines without a pattern may match.
  bool each_line_by_itself() const { return rules_.empty_pattern; }
  bool matches(std::string_view line) const { return matches_empty(line) || next(line, 0); }

  // Given a pattern at `found`: the match that is not empty, at `found` or after it; none if another place
  // must be tried.
  std::optional<SearchMatch> at(std::string_view line, const SearchMatch& found) const;
  // The first match that is not empty, at or after `from`, where another one ended.
  std::optional<SearchMatch> next(std::string_view line, std::size_t from) const;

 private:
  bool matches_empty(std::string_view line) const;
  std::optional<SearchMatch> before_no_word(std::string_view line, const SearchMatch& found) const;

  const LineRules& rules_;
  const PatternSet* patterns_;
};

}  // namespace hemstitch
