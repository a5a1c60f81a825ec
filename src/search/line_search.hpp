// Turns matches into what grep prints for a file: the selected lines with the lines around them, their
// number, or whether there are any. Content comes whole or in pieces, with the same result.
//
// A piece is a window of the content. The caller keeps what the searcher still needs of it and appends what
// comes next. The searcher needs the last line if it is unfinished, lines that are not yet known to be text
// (text_boundary.hpp), and lines that may be shown before a later match. In the binary part of a file no line
// is shown: the first selected one ends the search, unless lines are counted. There, zero bytes end lines
// too. Lines that must still be shown after a line in the text part come from those of grep's buffers in
// which no line is selected.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

#include "search/line_matcher.hpp"
#include "search/search.hpp"
#include "search/search_words.hpp"
#include "search/text_boundary.hpp"

namespace hemstitch {

// The matches of one content in ascending order. They were found before, or are searched on demand, each only
// once.
class MatchCursor {
 public:
  // Neither the set nor the content is copied. Without a set there are no matches.
  MatchCursor(std::string_view content, const PatternSet* patterns)
      : content_(content), patterns_(patterns), exhausted_(patterns == nullptr) {}
  // All matches, ascending, in a numbering where the file begins at `begin`. Not copied.
  MatchCursor(std::span<const PackedMatch> found, std::uint64_t begin) : found_(found), begin_(begin) {}

  // The first match at or after `from`. `from` must never decrease.
  std::optional<SearchMatch> next(std::uint64_t from);

 private:
  std::string_view content_;
  const PatternSet* patterns_ = nullptr;
  std::optional<SearchMatch> last_;
  bool exhausted_ = false;
  std::span<const PackedMatch> found_;  // not passed yet
  std::uint64_t begin_ = 0;
};

// The matches of one text, from `begin` to `end`, among those of several texts one after the other. Not
// copied.
MatchCursor matches_in(std::span<const PackedMatch> matches, std::uint64_t begin, std::uint64_t end);

struct LineSelection {
  using Wanted = SearchOptions::Wanted;
  using Binary = SearchOptions::Binary;

  LineRules rules = {};
  bool invert = false;  // select lines that do not match
  Wanted wanted = Wanted::kLines;
  Binary binary = Binary::kTold;
  // What ends a line: '\n', or '\0' with Binary::kText.
  char line_end = '\n';
  bool numbers = false;                   // line numbers are wanted
  bool in_groups = false;                 // the report must show gaps between lines; always with the next two
  std::uint64_t before = 0, after = 0;    // lines shown around a selected one
  std::uint64_t most_lines = UINT64_MAX;  // select no more lines than this
};

struct FoundLine {
  std::uint64_t number;   // from 1; 0 if not wanted
  std::uint64_t byte;     // of the line's first byte in the content
  std::string_view text;  // without the line's end
  bool selected;          // otherwise shown because of a selected line nearby
  bool behind_gap;        // in groups: it is the first line shown, or the line before it was not shown
};

class LineListener {
 public:
  virtual ~LineListener() = default;
  // In order.
  virtual void line(const FoundLine& line) = 0;
  // A line that begins at this byte is longer than a window can be. It is skipped.
  virtual void too_long(std::uint64_t byte) = 0;
  // Lines before the one at this byte should be shown, but are more than a window can hold.
  virtual void too_many_before(std::uint64_t byte) = 0;
};

// Searches one content.
class LineSearcher {
 public:
  enum class Piece {
    kMore,   // more can come after it
    kSoFar,  // the same, but report now what there is: a pipe's writer may pause
    kFull,   // more will come, and there is no room for it
    kLast,
  };

  // Nothing is copied. No patterns if the only one is empty.
  LineSearcher(const LineSelection& selection, const PatternSet* patterns, bool has_hole,
               LineListener& listener)
      : selection_(selection),
        patterns_(patterns),
        matcher_(selection.rules, patterns),
        boundary_(has_hole),
        listener_(listener),
        selecting_(selection.most_lines != 0),
        done_(!selecting_) {}

  // Returns how many bytes at the window's beginning are no longer needed; more than 0 if the window is
  // full. The next window is the rest and what comes after it.
  std::size_t take(std::string_view window, Piece piece);
  // Instead of take(): content whose matches are known.
  void take_whole(std::string_view content, MatchCursor matches);

  // Only while the listener handles this line: its first match that is not empty, at or after `from`, where
  // another one ended.
  std::optional<SearchMatch> match_in(const FoundLine& line, std::size_t from);

  // Whether nothing that follows can change the result.
  bool done() const { return done_; }

  std::uint64_t count() const { return count_; }
  bool any() const { return count_ != 0; }
  // Whether a selected line was not shown, since it is in the binary part.
  bool in_binary() const { return in_binary_; }
  // Where the last selected line ends in the content.
  std::uint64_t selected_end() const { return selected_end_; }

 private:
  struct Line {
    std::size_t begin, end, next;  // in the window; the next line begins after this one's end
    SearchMatch match = {0, 0};    // in the line, if it was found on the way; it is not empty
  };

  void search(MatchCursor* matches, TextBoundary::Reads reads);
  void search_lines(MatchCursor* known_matches, std::size_t limit);
  void count_lines(MatchCursor& matches, std::size_t limit);
  void select_lines(MatchCursor& matches, std::size_t limit);
  bool leave_long_line();
  bool next_matching(MatchCursor& matches, std::size_t limit, Line& line);
  void select(const Line& line);
  void show(const Line& line);
  void show_pending(std::size_t limit);
  void tell(const Line& line, bool selected, bool behind_gap);
  std::size_t needed_from() const;
  void drop(std::size_t bytes);

  std::size_t line_end(std::size_t position) const;
  Line line_at(std::size_t begin) const;
  Line line_between(std::size_t begin, std::size_t end) const;
  std::size_t line_begin(std::size_t position, std::size_t least) const;
  std::size_t lines_end();
  std::uint64_t count_ends(std::size_t begin, std::size_t end) const;
  std::size_t begin_before(std::size_t begin, std::uint64_t lines) const;

  const LineSelection& selection_;
  const PatternSet* patterns_;
  LineMatcher matcher_;
  TextBoundary boundary_;
  LineListener& listener_;

  std::string_view window_;
  MatchCursor* matches_ = nullptr;  // in the window, while lines are searched
  SearchMatch first_match_{0, 0};   // in the line that is reported, if known
  std::uint64_t begin_ = 0;         // of the window in the content
  std::size_t at_ = 0;              // the next line, in the window
  std::size_t without_ends_ = 0;    // after at_, no line ends before this place in the window
  bool in_long_line_ = false;
  std::size_t long_line_end_ = 0;  // the part of the window that belongs to it
  bool zeros_end_lines_ = false;
  bool selecting_;
  bool done_;
  std::uint64_t count_ = 0, selected_end_ = 0;
  bool in_binary_ = false;

  std::uint64_t number_ = 1;  // of the line that begins at numbered_
  std::size_t numbered_ = 0;
  std::optional<std::size_t> shown_end_;  // of the last line that was shown, while it is in the window
  std::uint64_t pending_ = 0;             // lines that must still be shown after it
  bool before_lost_ = false;              // lines that may have to be shown before a later one
};

}  // namespace hemstitch
