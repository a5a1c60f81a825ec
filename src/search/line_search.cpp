#include "search/line_search.hpp"

#include <string.h>

#include <algorithm>

namespace hemstitch {
namespace {

using Reads = TextBoundary::Reads;
using Wanted = LineSelection::Wanted;
using Binary = LineSelection::Binary;

}  // namespace

std::optional<SearchMatch> MatchCursor::next(std::uint64_t from) {
  if (exhausted_ || (last_ && last_->position >= from)) return last_;
  if (patterns_ != nullptr) {
    last_ = patterns_->next(content_, from);
  } else {
    while (!found_.empty() && found_.front().position() - begin_ < from) found_ = found_.subspan(1);
    last_.reset();
    if (!found_.empty()) last_ = SearchMatch{found_.front().position() - begin_, found_.front().bytes()};
  }
  exhausted_ = !last_;
  return last_;
}

MatchCursor matches_in(std::span<const PackedMatch> matches, std::uint64_t begin, std::uint64_t end) {
  const auto first_at = [&](std::uint64_t position) {
    return std::lower_bound(matches.begin(), matches.end(), position,
                            [](PackedMatch match, std::uint64_t at) { return match.position() < at; });
  };
  return {std::span(first_at(begin), first_at(end)), begin};
}

// The end of the line that contains a position.
inline std::size_t LineSearcher::line_end(std::size_t position) const {
  return std::min(zeros_end_lines_ ? window_.find_first_of(kBinaryLineEnds, position)
                                   : window_.find(selection_.line_end, position),
                  window_.size());
}

inline LineSearcher::Line LineSearcher::line_between(std::size_t begin, std::size_t end) const {
  return {begin, end, std::min(end + 1, window_.size())};
}

inline LineSearcher::Line LineSearcher::line_at(std::size_t begin) const {
  return line_between(begin, line_end(begin));
}

// The beginning of the line that contains a position, but at least `least`.
inline std::size_t LineSearcher::line_begin(std::size_t position, std::size_t least) const {
  const std::string_view before = window_.substr(least, position - least);
  if (zeros_end_lines_) {
    const std::size_t end = before.find_last_of(kBinaryLineEnds);
    return end == std::string_view::npos ? least : least + end + 1;
  }
  const void* const end =
      before.empty() ? nullptr : memrchr(before.data(), selection_.line_end, before.size());
  return end == nullptr ? least
                        : static_cast<std::size_t>(static_cast<const char*>(end) - window_.data()) + 1;
}

// The end of the window's last whole line. Bytes are searched for it only once, however long a line grows.
std::size_t LineSearcher::lines_end() {
  const std::size_t from = std::max(at_, without_ends_);
  const std::size_t end = line_begin(window_.size(), from);
  without_ends_ = window_.size();
  return end == from ? at_ : end;
}

std::uint64_t LineSearcher::count_ends(std::size_t begin, std::size_t end) const {
  const std::string_view lines = window_.substr(begin, end - begin);
  const auto ends = std::count(lines.begin(), lines.end(), selection_.line_end);
  return static_cast<std::uint64_t>(zeros_end_lines_ ? ends + std::count(lines.begin(), lines.end(), '\0')
                                                     : ends);
}

// Where the line begins that is `lines` before the one at `begin`, or the first one that was not shown yet.
std::size_t LineSearcher::begin_before(std::size_t begin, std::uint64_t lines) const {
  const std::size_t least = std::max(shown_end_.value_or(0), long_line_end_);
  for (; lines > 0 && begin > least; --lines) begin = line_begin(begin - 1, least);
  return begin;
}

inline void LineSearcher::tell(const Line& line, bool selected, bool behind_gap) {
  if (selection_.numbers) {
    number_ += count_ends(numbered_, line.begin);
    numbered_ = line.begin;
  }
  first_match_ = line.match;
  listener_.line({selection_.numbers ? number_ : 0, begin_ + line.begin,
                  window_.substr(line.begin, line.end - line.begin), selected, behind_gap});
}

// Searches and reports the part of the window that does not depend on later bytes.
void LineSearcher::search(MatchCursor* matches, Reads reads) {
  const bool last = reads == Reads::kToEnd;
  if (in_long_line_ && !last) reads = Reads::kSoFar;  // nothing of that line was kept
  const TextBoundary::Known known = selection_.binary == Binary::kText
                                        ? TextBoundary::Known{last ? window_.size() : lines_end(), false}
                                        : boundary_.look(window_, begin_, reads);
  if (in_long_line_ && !known.binary && !leave_long_line()) return;
  if (!zeros_end_lines_) search_lines(matches, std::max(known.text_bytes, at_));
  if (done_ || !known.binary) return;
  if (selection_.binary == Binary::kNoMatch) {
    count_ = 0;
    done_ = true;
    return;
  }
  zeros_end_lines_ = true;
  without_ends_ = 0;
  if (in_long_line_ && !leave_long_line()) return;
  while (selecting_ && pending_ > 0) {
    const auto limit = boundary_.next_binary_buffer(window_, begin_, reads);
    if (!limit) return;
    search_lines(matches, std::max(*limit, at_));
    if (done_) return;
  }
  search_lines(matches, last ? window_.size() : lines_end());
}

// False if the line does not end in this window.
bool LineSearcher::leave_long_line() {
  const Line line = line_at(0);
  at_ = line.next;
  if (line.end == window_.size()) return false;
  in_long_line_ = false;
  long_line_end_ = numbered_ = at_;
  ++number_;
  return true;
}

// Searches the lines from at_ up to `limit`, where a line ends.
void LineSearcher::search_lines(MatchCursor* known_matches, std::size_t limit) {
  MatchCursor looked_for(window_.substr(0, limit), patterns_);
  MatchCursor& matches = known_matches != nullptr ? *known_matches : looked_for;
  matches_ = &matches;
  if (selection_.wanted == Wanted::kCount && !selection_.invert && matcher_.is_plain())
    count_lines(matches, limit);
  else
    select_lines(matches, limit);
  if (done_) return;
  at_ = std::max(at_, limit);
  show_pending(limit);
  done_ = !selecting_ && pending_ == 0;
}

void LineSearcher::select_lines(MatchCursor& matches, std::size_t limit) {
  while (selecting_ && at_ < limit) {
    Line match;
    const bool any = next_matching(matches, limit, match);
    if (!selection_.invert) {
      if (!any) break;
      select(match);
      at_ = match.next;
      continue;
    }
    const std::size_t end = any ? match.begin : limit;
    while (selecting_ && at_ < end) {
      const Line line = line_at(at_);
      select(line);
      at_ = line.next;
    }
    if (selecting_ && any) at_ = match.next;
  }
}

// To count a line that contains a pattern, its beginning is not needed.
void LineSearcher::count_lines(MatchCursor& matches, std::size_t limit) {
  while (selecting_ && at_ < limit) {
    const std::optional<SearchMatch> match = matches.next(at_);
    if (!match || match->position >= limit) break;
    const Line line = line_between(at_, line_end(match->position));
    select(line);
    at_ = line.next;
  }
}

bool LineSearcher::next_matching(MatchCursor& matches, std::size_t limit, Line& line) {
  const auto text = [&] { return window_.substr(line.begin, line.end - line.begin); };
  line = {at_, at_, at_};
  if (matcher_.each_line_by_itself()) {
    while (line.next < limit) {
      line = line_at(line.next);
      if (matcher_.matches(text())) return true;
    }
    return false;
  }
  for (std::size_t from = at_;;) {
    const std::optional<SearchMatch> found = matches.next(from);
    if (!found || found->position >= limit) return false;
    if (found->position >= line.next)
      line = line_between(line_begin(found->position, line.next), line_end(found->position));
    line.match = {found->position - line.begin, found->bytes};
    if (matcher_.is_plain()) return true;
    if (const auto match = matcher_.at(text(), line.match)) {
      line.match = *match;
      return true;
    }
    from = found->position + 1;
  }
}

std::optional<SearchMatch> LineSearcher::match_in(const FoundLine& line, std::size_t from) {
  if (from == 0 && first_match_.bytes != 0) return first_match_;
  if (first_match_.bytes == 0 || !matcher_.is_plain()) return matcher_.next(line.text, from);
  // The next match is looked for only once, in this line or after it.
  const auto begin = static_cast<std::size_t>(line.text.data() - window_.data());
  const std::optional<SearchMatch> match = matches_->next(begin + from);
  if (!match || match->position >= begin + line.text.size()) return std::nullopt;
  return SearchMatch{match->position - begin, match->bytes};
}

void LineSearcher::select(const Line& line) {
  ++count_;
  selected_end_ = begin_ + line.next;
  selecting_ = count_ != selection_.most_lines;
  switch (selection_.wanted) {
    case Wanted::kWhether:
      done_ = true;
      break;
    case Wanted::kCount:
      done_ = !selecting_;
      break;
    case Wanted::kLines:
      if (!selection_.in_groups && !zeros_end_lines_) {
        tell(line, true, false);
        done_ = !selecting_;
        break;
      }
      in_binary_ = done_ = zeros_end_lines_;
      if (done_) break;
      show_pending(line.begin);
      show(line);
      done_ = !selecting_ && pending_ == 0;
      break;
  }
  selecting_ &= !done_;
}

void LineSearcher::show(const Line& line) {
  const std::size_t first = begin_before(line.begin, selection_.before);
  if (before_lost_ && first == 0 && count_ends(0, line.begin) < selection_.before)
    listener_.too_many_before(begin_ + line.begin);
  bool behind_gap = !shown_end_ || *shown_end_ != first;
  for (std::size_t at = first; at != line.begin; behind_gap = false) {
    const Line before = line_at(at);
    tell(before, false, behind_gap);
    at = before.next;
  }
  tell(line, true, behind_gap);
  shown_end_ = line.next;
  pending_ = selection_.after;
}

// Shows the lines after the last one that was shown.
void LineSearcher::show_pending(std::size_t limit) {
  for (; pending_ > 0 && *shown_end_ < limit; --pending_) {
    const Line line = line_at(*shown_end_);
    tell(line, false, false);
    shown_end_ = line.next;
  }
}

void LineSearcher::take_whole(std::string_view content, MatchCursor matches) {
  window_ = content;
  // Most files have no match, and then no more needs to be known.
  if (!done_ && (selection_.invert || selection_.rules.empty_pattern || matches.next(0)))
    search(&matches, Reads::kToEnd);
  done_ = true;
}

std::size_t LineSearcher::take(std::string_view window, Piece piece) {
  window_ = window;
  search(nullptr, piece == Piece::kLast    ? Reads::kToEnd
                  : piece == Piece::kSoFar ? Reads::kSoFar
                                           : Reads::kInBuffers);
  done_ |= piece == Piece::kLast;
  if (done_) return window.size();
  std::size_t unneeded = needed_from();
  if (unneeded == 0 && piece == Piece::kFull) {
    search(nullptr, Reads::kSoFar);  // searching a part is better than not searching
    if (done_) return window.size();
    unneeded = needed_from();
    before_lost_ = unneeded == 0 && at_ != 0;
    if (before_lost_) unneeded = at_;
    if (unneeded == 0) {
      listener_.too_long(begin_);
      in_long_line_ = true;
      pending_ = 0;
      at_ = unneeded = window.size();
    }
  } else if (unneeded != 0) {
    before_lost_ = false;
  }
  drop(unneeded);
  return unneeded;
}

std::size_t LineSearcher::needed_from() const {
  if (!selecting_ || selection_.wanted != Wanted::kLines || in_long_line_) return at_;
  return begin_before(at_, selection_.before);
}

void LineSearcher::drop(std::size_t bytes) {
  if (selection_.numbers && numbered_ < bytes) {
    number_ += count_ends(numbered_, bytes);
    numbered_ = bytes;
  }
  numbered_ -= std::min(numbered_, bytes);
  if (shown_end_ && *shown_end_ < bytes) shown_end_.reset();
  if (shown_end_) *shown_end_ -= bytes;
  without_ends_ -= std::min(without_ends_, bytes);
  long_line_end_ -= std::min(long_line_end_, bytes);
  at_ -= bytes;
  begin_ += bytes;
}

}  // namespace hemstitch
