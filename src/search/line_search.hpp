// From matches to what grep tells of a file: the lines that hold one, how many, or whether there are any.
//
// A file that holds a zero byte is binary, for GNU grep from the buffer on in which it meets the first. Lines that end
// before that buffer are text; behind, a match ends the search with a message and no line is shown, and where lines are
// counted, zero bytes end lines too. Its buffers are therefore part of what it prints: first 96 KB, each beginning
// with the unfinished line of the last one (text_bytes_before_binary).
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string_view>

#include "search/search.hpp"
#include "search/search_words.hpp"

namespace hemstitch {

// The matches of one file in ascending order: looked for as they are asked for, and none twice; or found already.
class MatchCursor {
 public:
  // Neither the set nor the content is copied. Without a set nothing ever matches.
  MatchCursor(std::string_view content, const PatternSet* patterns)
      : content_(content), patterns_(patterns), exhausted_(patterns == nullptr) {}
  // All matches, ascending, the file beginning at position `begin` of theirs. Not copied.
  MatchCursor(std::span<const PackedMatch> found, std::uint64_t begin) : found_(found), begin_(begin) {}

  // The first match at or after `from`, which never decreases.
  std::optional<SearchMatch> next(std::uint64_t from);

 private:
  std::string_view content_;
  const PatternSet* patterns_ = nullptr;
  std::optional<SearchMatch> last_;
  bool exhausted_ = false;
  std::span<const PackedMatch> found_;  // what of them was not passed yet
  std::uint64_t begin_ = 0;
};

struct LineSearch {
  bool every_line = false;     // an empty pattern matches all lines
  bool only_matching = false;  // each match by itself
  bool count_lines = false;    // line numbers are wanted
};

struct FoundLine {
  std::uint64_t line;     // from 1; 0 where they are not wanted
  std::uint64_t byte;     // of the text below in the file
  std::string_view text;  // without the line's end; with only_matching the match
};

struct LinesFound {
  bool any = false;
  bool in_binary = false;  // one that is not shown, since it stands in the binary part
};

// How many bytes at the file's beginning are text: up to the beginning of a line, or all of them.
std::uint64_t text_bytes_before_binary(std::string_view content);

// Calls `show` with each line that matches, in order.
LinesFound for_each_matching_line(std::string_view content, MatchCursor& matches, const LineSearch& search,
                                  const std::function<void(const FoundLine&)>& show);

// How many lines match, those of the binary part included.
std::uint64_t count_matching_lines(std::string_view content, MatchCursor& matches, const LineSearch& search);

}  // namespace hemstitch
