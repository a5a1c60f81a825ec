#include "search/line_search.hpp"

#include <string.h>

#include <algorithm>

namespace hemstitch {
namespace {

// GNU grep's buffers (3.8, as its reads show): a page in front for the unfinished line, aligned reads behind it,
// growing by half where a line does not fit.
constexpr std::uint64_t kPageBytes = 4096;
constexpr std::uint64_t kFirstBufferBytes = 96 * 1024 + kPageBytes;
constexpr std::uint64_t kGuardBytes = 8;

constexpr std::string_view kBinaryLineEnds("\n\0", 2);

std::uint64_t find_byte(std::string_view content, char byte, std::uint64_t from) {
  return std::min<std::uint64_t>(content.find(byte, from), content.size());
}

std::uint64_t line_begin(std::string_view content, std::uint64_t position) {
  if (position == 0) return 0;
  const void* end = memrchr(content.data(), '\n', position);
  return end == nullptr ? 0 : static_cast<std::uint64_t>(static_cast<const char*>(end) - content.data()) + 1;
}

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

std::uint64_t text_bytes_before_binary(std::string_view content) {
  const std::uint64_t zero = find_byte(content, '\0', 0);
  if (zero == content.size()) return content.size();
  std::uint64_t read_bytes = 0, unfinished_bytes = 0, buffer_bytes = kFirstBufferBytes + kGuardBytes;
  for (;;) {
    const std::uint64_t needed_bytes = unfinished_bytes + 2 * kPageBytes + kGuardBytes;
    if (buffer_bytes < needed_bytes) buffer_bytes = std::max(buffer_bytes + buffer_bytes / 2, needed_bytes);
    const std::uint64_t begin = (unfinished_bytes + kPageBytes) / kPageBytes * kPageBytes;
    const std::uint64_t room = (buffer_bytes - kGuardBytes - begin) / kPageBytes * kPageBytes;
    if (zero < read_bytes + room) return read_bytes - unfinished_bytes;
    read_bytes += room;
    unfinished_bytes = read_bytes - line_begin(content, read_bytes);
  }
}

LinesFound for_each_matching_line(std::string_view content, MatchCursor& matches, const LineSearch& search,
                                  const std::function<void(const FoundLine&)>& show) {
  LinesFound found;
  if (!search.every_line && !matches.next(0)) return found;
  const std::uint64_t text_bytes = text_bytes_before_binary(content);
  std::uint64_t line = 1, counted = 0;  // line number of the byte at `counted`
  for (std::uint64_t from = 0; from < content.size();) {
    std::optional<SearchMatch> match;
    if (!search.every_line || search.only_matching) match = matches.next(from);
    if (!match && !search.every_line) break;
    const std::uint64_t begin = search.every_line ? from : line_begin(content, match->position);
    found.any = true;
    if (begin >= text_bytes) {
      found.in_binary = true;
      break;
    }
    const std::uint64_t end = find_byte(content, '\n', begin);
    if (search.count_lines) {
      line +=
          static_cast<std::uint64_t>(std::count(content.begin() + static_cast<std::ptrdiff_t>(counted),
                                                content.begin() + static_cast<std::ptrdiff_t>(begin), '\n'));
      counted = begin;
    }
    const std::uint64_t number = search.count_lines ? line : 0;
    if (!search.only_matching) {
      show({number, begin, content.substr(begin, end - begin)});
    } else {
      for (auto part = match; part && part->position < end; part = matches.next(part->position + part->bytes))
        show({number, part->position, content.substr(part->position, part->bytes)});
    }
    from = end + 1;
  }
  return found;
}

std::uint64_t count_matching_lines(std::string_view content, MatchCursor& matches, const LineSearch& search) {
  if (!search.every_line && !matches.next(0)) return 0;
  const std::uint64_t text_bytes = text_bytes_before_binary(content);
  std::uint64_t count = 0;
  for (std::uint64_t from = 0; from < content.size();) {
    std::uint64_t within = from;
    if (!search.every_line) {
      const std::optional<SearchMatch> match = matches.next(from);
      if (!match) break;
      within = match->position;
    }
    ++count;
    const bool binary = within >= text_bytes;
    const std::uint64_t end =
        binary ? std::min<std::uint64_t>(content.find_first_of(kBinaryLineEnds, within), content.size())
               : find_byte(content, '\n', within);
    from = end + 1;
  }
  return count;
}

}  // namespace hemstitch
