#include "cli/search/search_report.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cstdlib>

#include "cli/json_text.hpp"
#include "cli/terminal.hpp"

namespace hemstitch::cli {
namespace {

using Wanted = LineSelection::Wanted;
using Names = SearchRequest::Names;
using Color = SearchRequest::Color;

// JSON may escape a byte with up to six bytes.
constexpr std::size_t kJsonBytes = 16 << 10;

bool is_colored(const SearchRequest& request) {
  if (request.json || request.color != Color::kOnTerminal)
    return !request.json && request.color == Color::kAlways;
  const char* const terminal = std::getenv("TERM");
  return is_terminal(1) && terminal != nullptr && std::string_view(terminal) != "dumb";
}

bool is_inside_character(char c) { return (static_cast<unsigned char>(c) & 0xC0) == 0x80; }

}  // namespace

Reporter::Reporter(const SearchRequest& request, bool with_names, const SearchPlan& plan)
    : request_(request),
      with_names_(request.with_names.value_or(with_names)),
      colored_(is_colored(request)),
      selection_(plan.selection),
      patterns_(plan.pattern_set()) {
  selection_.numbers = request.line_number || request.json;
  selection_.in_groups = request.in_groups;
  if (request.null_data) selection_.line_end = '\0';
  const char* const setting = std::getenv("GREP_COLORS");
  if (setting != nullptr) colors_ = search_colors(setting);
  const auto colored = [&](std::string_view text) {
    std::string separator;
    colors_.add(colored_ ? colors_.separator : "", text, separator);
    return separator;
  };
  behind_selected_ = colored(":");
  behind_others_ = colored("-");
  between_groups_ = colored("--") + '\n';
}

bool Reporter::matches_are_enough() const {
  const LineRules& rules = selection_.rules;
  return selection_.wanted == Wanted::kWhether && !selection_.invert && !rules.whole_words &&
         !rules.whole_lines && selection_.binary != LineSelection::Binary::kNoMatch;
}

void ContentReport::finish() {
  switch (reporter_.selection_.wanted) {
    case Wanted::kWhether:
      return tell_whether(searcher_.any());
    case Wanted::kCount:
      tell_count();
      break;
    case Wanted::kLines:
      if (searcher_.in_binary()) {
        report_.complaint = "binary file matches";
        report_.in_any_case = true;
        report_.sets_off_next = true;  // as if a line had been shown
      }
      break;
  }
  report_.found |= searcher_.any();
  if (searcher_.count() == request_.options.most_lines) report_.stopped_at = searcher_.selected_end();
}

void ContentReport::tell_whether(bool any) {
  report_.found |= any;
  if (request_.quiet || (request_.names == Names::kMatching) != any) return;
  std::string& output = report_.output;
  if (request_.json) {
    output += fmt::format("{{\"file\":\"{}\"}}\n", json_text(name_));
    return;
  }
  output += name();
  output += request_.null_after_names ? '\0' : '\n';
}

void ContentReport::tell_count() {
  std::string& output = report_.output;
  if (request_.json) {
    output += fmt::format("{{\"file\":\"{}\",\"count\":{}}}\n", json_text(name_), searcher_.count());
    return;
  }
  if (reporter_.with_names_) output += name_before(true);
  output += fmt::format("{}\n", searcher_.count());
}

// Called for every line.
inline void ContentReport::grow() {
  if (report_.output.size() - report_.counted_bytes > SearchRoom::kSmallBytes) room_.grown(report_);
}

inline void ContentReport::add_text(std::string_view text) {
  if (text.size() > SearchRoom::kSmallBytes)
    room_.add_long(report_, text);
  else
    report_.output += text;
  grow();
}

inline void ContentReport::add_prefix(const FoundLine& line, std::uint64_t byte) {
  if (reporter_.with_names_) {
    std::string& before = names_before_[line.selected ? 0 : 1];
    if (before.empty()) before = name_before(line.selected);
    report_.output += before;
  }
  if (request_.line_number) add_number(line.number, reporter_.colors_.line_number, line.selected);
  if (request_.byte_offset) add_number(byte, reporter_.colors_.byte_offset, line.selected);
}

inline void ContentReport::add_line(const FoundLine& line, bool matches) {
  if (request_.json) return add_json(line, line.byte, line.text);
  add_prefix(line, line.byte);
  if (reporter_.colored_)
    add_colored(line, matches);
  else
    add_text(line.text);
  report_.output += reporter_.selection_.line_end;
}

inline void ContentReport::add_match(const FoundLine& line, const SearchMatch& match) {
  const std::uint64_t byte = line.byte + match.position;
  const std::string_view text = line.text.substr(match.position, match.bytes);
  if (request_.json) return add_json(line, byte, text);
  add_prefix(line, byte);
  const SearchColors& colors = reporter_.colors_;
  if (reporter_.colored_)
    colors.add(line.selected ? colors.selected_match : colors.context_match, text, report_.output);
  else
    report_.output += text;
  report_.output += reporter_.selection_.line_end;
  grow();
}

void ContentReport::line(const FoundLine& line) {
  if (line.behind_gap && !request_.json) {
    if (report_.sets_off_next || room_.lines_before())
      report_.output += reporter_.between_groups_;
    else
      report_.begins_group = true;
    report_.sets_off_next = true;
  }
  // With `invert`, the matches in context lines are shown.
  const bool matches = line.selected != request_.options.invert;
  if (!request_.only_matching) {
    add_line(line, matches);
  } else if (matches) {
    for (auto match = searcher_.match_in(line, 0); match;
         match = searcher_.match_in(line, match->position + match->bytes))
      add_match(line, *match);
  }
  grow();
}

// Like grep: the line's colour begins again after each match, and does not include a '\r' at the end.
void ContentReport::add_colored(const FoundLine& line, bool matches) {
  const SearchColors& colors = reporter_.colors_;
  const std::string& line_color = line.selected != (request_.options.invert && colors.reverse)
                                      ? colors.selected_line
                                      : colors.context_line;
  const std::string& match_color = line.selected ? colors.selected_match : colors.context_match;
  std::string& output = report_.output;
  std::size_t at = 0;
  if (matches && !match_color.empty()) {
    for (auto match = searcher_.match_in(line, 0); match; match = searcher_.match_in(line, at)) {
      colors.begin(line_color, output);
      add_text(line.text.substr(at, match->position - at));
      colors.add(match_color, line.text.substr(match->position, match->bytes), output);
      at = match->position + match->bytes;
    }
  }
  std::string_view rest = line.text.substr(at);
  const bool carriage_return = rest.ends_with('\r');
  if (carriage_return) rest.remove_suffix(1);
  if (!rest.empty()) {
    colors.begin(line_color, output);
    add_text(rest);
    colors.end(line_color, output);
  }
  if (carriage_return) output += '\r';
}

std::string ContentReport::name() const {
  std::string text;
  if (reporter_.colored_)
    reporter_.colors_.add(reporter_.colors_.file_name, name_, text);
  else
    text = name_;
  return text;
}

std::string ContentReport::name_before(bool selected) const {
  return request_.null_after_names ? name() + '\0' : name() + reporter_.separator(selected);
}

void ContentReport::add_number(std::uint64_t number, const std::string& color, bool selected) {
  char digits[20];
  const std::string_view text(digits, std::to_chars(digits, digits + sizeof digits, number).ptr - digits);
  if (reporter_.colored_)
    reporter_.colors_.add(color, text, report_.output);
  else
    report_.output += text;
  report_.output += reporter_.separator(selected);
}

void ContentReport::add_json(const FoundLine& line, std::uint64_t byte, std::string_view text) {
  report_.output += fmt::format("{{\"file\":\"{}\",\"line\":{},\"byte\":{},\"text\":\"", json_text(name_),
                                line.number, byte);
  while (!text.empty()) {
    // Does not split a character.
    std::size_t part = std::min(text.size(), kJsonBytes);
    while (part < text.size() && part < kJsonBytes + 3 && is_inside_character(text[part])) ++part;
    add_text(json_text(text.substr(0, part)));
    text.remove_prefix(part);
  }
  report_.output += line.selected ? "\"}\n" : "\",\"context\":true}\n";
  grow();
}

void ContentReport::too_long(std::uint64_t byte) {
  room_.complain(report_, fmt::format("byte {}: the line that begins here is too long for the memory and was "
                                      "left out (give more with --memory)",
                                      byte));
}

void ContentReport::too_many_before(std::uint64_t byte) {
  room_.complain(
      report_, fmt::format("byte {}: there are too many lines to show before the one that begins here; some "
                           "were left out (give more with --memory)",
                           byte));
}

}  // namespace hemstitch::cli
