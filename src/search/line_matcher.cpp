#include "search/line_matcher.hpp"

namespace hemstitch {
namespace {

bool is_word_byte(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
}

bool word_before(std::string_view line, std::size_t position) {
  return position > 0 && is_word_byte(line[position - 1]);
}

bool word_behind(std::string_view line, std::size_t position) {
  return position < line.size() && is_word_byte(line[position]);
}

}  // namespace

// An empty match is a whole word if no word character is on either side of it.
bool LineMatcher::matches_empty(std::string_view line) const {
  if (!rules_.empty_pattern) return false;
  if (rules_.whole_lines) return line.empty();
  if (!rules_.whole_words) return true;
  for (std::size_t position = 0; position <= line.size(); ++position)
    if (!word_before(line, position) && !word_behind(line, position)) return true;
  return false;
}

std::optional<SearchMatch> LineMatcher::at(std::string_view line, const SearchMatch& found) const {
  if (rules_.whole_lines) {
    const auto size = static_cast<std::uint32_t>(line.size());
    if (found.position != 0 || line.size() > kMaxPatternBytes) return std::nullopt;
    if (found.bytes != size && patterns_->size_at(line, 0, size) != size) return std::nullopt;
    return SearchMatch{0, size};
  }
  if (!rules_.whole_words) return found;
  if (word_before(line, found.position)) return std::nullopt;
  return before_no_word(line, found);
}

std::optional<SearchMatch> LineMatcher::before_no_word(std::string_view line,
                                                       const SearchMatch& found) const {
  for (std::uint32_t size = found.bytes; size != 0; size = patterns_->size_at(line, found.position, size - 1))
    if (!word_behind(line, found.position + size)) return SearchMatch{found.position, size};
  return std::nullopt;
}

std::optional<SearchMatch> LineMatcher::next(std::string_view line, std::size_t from) const {
  if (patterns_ == nullptr) return std::nullopt;
  for (auto found = patterns_->next(line, from); found; found = patterns_->next(line, found->position + 1)) {
    const bool behind_another =
        rules_.whole_words && rules_.begins_anew && from != 0 && found->position == from;
    if (const auto match = behind_another ? before_no_word(line, *found) : at(line, *found)) return match;
    if (rules_.whole_lines) break;
  }
  return std::nullopt;
}

}  // namespace hemstitch
