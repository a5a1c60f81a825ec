// Whether a line matches, and where in it: what -w, -x and empty patterns make of the places where patterns stand.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

#include "search/search.hpp"

namespace hemstitch {

struct LineRules {
  bool empty_pattern = false;  // one of the patterns is empty
  bool whole_words = false;    // what matches has no letter, digit or underscore beside it
  bool whole_lines = false;    // what matches is the line; goes before whole_words
  bool begins_anew = false;    // with whole_words, what stands directly behind a match has nothing before it
};

// Lines are without their ends.
class LineMatcher {
 public:
  // Not copied; NULL where there is none but the empty one.
  LineMatcher(const LineRules& rules, const PatternSet* patterns) : rules_(rules), patterns_(patterns) {}

  // A line matches where a pattern stands in it.
  bool is_plain() const { return !rules_.empty_pattern && !rules_.whole_words && !rules_.whole_lines; }
  // Lines match that hold no pattern.
  bool each_line_by_itself() const { return rules_.empty_pattern; }
  bool matches(std::string_view line) const { return matches_empty(line) || next(line, 0); }

  // The match that is not empty, at `found` or behind it, where a pattern stands at `found`; none where another place has to be
  // tried.
  std::optional<SearchMatch> at(std::string_view line, const SearchMatch& found) const;
  // The first that is not empty, at or after `from`, where another one ended.
  std::optional<SearchMatch> next(std::string_view line, std::size_t from) const;

 private:
  bool matches_empty(std::string_view line) const;
  std::optional<SearchMatch> before_no_word(std::string_view line, const SearchMatch& found) const;

  const LineRules& rules_;
  const PatternSet* patterns_;
};

}  // namespace hemstitch
