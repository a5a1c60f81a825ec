// From matches to what grep tells of a file: the lines that are selected, with those around them, how many they are, or whether
// there are any. Content comes whole or in pieces, and what is told of it is the same.
//
// A piece is a window of the content: the caller keeps what the searcher still needs of it, and puts what comes next behind
// that. Needed are the last line, unfinished; lines of which it is not known yet whether they are text (text_boundary.hpp); and
// lines that may be shown before one to come. In the binary part of a file no line is shown: the first that is selected ends the
// search, unless lines are counted. Zero bytes end lines there as well. Lines that are still to be shown behind one in the text are
// shown from those of grep's buffers in which none is selected.
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

// The matches of one content in ascending order: looked for as they are asked for, and none twice; or found already.
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

// Of matches in texts that lie one behind the other, those in the text from `begin` to `end`. Not copied.
MatchCursor matches_in(std::span<const PackedMatch> matches, std::uint64_t begin, std::uint64_t end);

struct LineSelection {
  using Wanted = SearchOptions::Wanted;
  using Binary = SearchOptions::Binary;

  LineRules rules = {};
  bool invert = false;  // lines that do not match are selected
  Wanted wanted = Wanted::kLines;
  Binary binary = Binary::kTold;
  bool numbers = false;                   // of lines are wanted
  bool in_groups = false;                 // it matters which lines follow each other: always with these two
  std::uint64_t before = 0, after = 0;    // lines shown beside a selected one
  std::uint64_t most_lines = UINT64_MAX;  // are selected
};

struct FoundLine {
  std::uint64_t number;   // from 1; 0 where they are not wanted
  std::uint64_t byte;     // of the line's first in the content
  std::string_view text;  // without the line's end
  bool selected;          // rather than shown for one that is
  bool behind_gap;        // in groups: nothing was shown before it, or not the line before it
};

class LineListener {
 public:
  virtual ~LineListener() = default;
  // In order.
  virtual void line(const FoundLine& line) = 0;
  // A line that begins at this byte is longer than a window can be: it is passed over.
  virtual void too_long(std::uint64_t byte) = 0;
  // Lines before the one that begins at this byte should be shown, and are more than a window can be.
  virtual void too_many_before(std::uint64_t byte) = 0;
};

// Of one content.
class LineSearcher {
 public:
  enum class Piece {
    kMore,   // more can come behind it
    kSoFar,  // the same, but what is there is to be told now: whoever reads a pipe may wait
    kFull,   // more will come, and there is no room for it
    kLast,
  };

  // Nothing is copied. No patterns where there is none but the empty one.
  LineSearcher(const LineSelection& selection, const PatternSet* patterns, bool has_hole,
               LineListener& listener)
      : selection_(selection),
        patterns_(patterns),
        matcher_(selection.rules, patterns),
        boundary_(has_hole),
        listener_(listener),
        selecting_(selection.most_lines != 0),
        done_(!selecting_) {}

  // Returns how much of the window's beginning is not needed any more: some of it where it is full. The next one is the rest and
  // what comes behind it.
  std::size_t take(std::string_view window, Piece piece);
  // Instead of that: content whose matches are known.
  void take_whole(std::string_view content, MatchCursor matches);

  // While the listener is told of the line: the first match in it that is not empty, at or after `from`, where one before ended.
  std::optional<SearchMatch> match_in(const FoundLine& line, std::size_t from);

  // Nothing that is still to come changes anything.
  bool done() const { return done_; }

  std::uint64_t count() const { return count_; }
  bool any() const { return count_ != 0; }
  // There is a selected line that was not shown.
  bool in_binary() const { return in_binary_; }
  // Where in the content the last selected line ends.
  std::uint64_t selected_end() const { return selected_end_; }

 private:
  struct Line {
    std::size_t begin, end, next;  // in the window; the next one begins behind the line's end
    SearchMatch match = {0, 0};    // in the line, where it was found on the way: it has bytes
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
  MatchCursor* matches_ = nullptr;  // in it, while lines are searched
  SearchMatch first_match_{0, 0};   // of the line that is told, in it, where it is known
  std::uint64_t begin_ = 0;         // of the window in the content
  std::size_t at_ = 0;              // the next line, in the window
  std::size_t without_ends_ = 0;    // behind at_, no line ends before this place in the window
  bool in_long_line_ = false;
  std::size_t long_line_end_ = 0;  // what of the last one is in the window
  bool zeros_end_lines_ = false;
  bool selecting_;
  bool done_;
  std::uint64_t count_ = 0, selected_end_ = 0;
  bool in_binary_ = false;

  std::uint64_t number_ = 1;  // of the line that begins at numbered_
  std::size_t numbered_ = 0;
  std::optional<std::size_t> shown_end_;  // of the last line that was shown, while that is in the window
  std::uint64_t pending_ = 0;             // lines that are still to be shown behind it
  bool before_lost_ = false;              // lines that could be shown before one to come
};

}  // namespace hemstitch
