#include "search_report.hpp"

#include <charconv>
#include <nlohmann/json.hpp>

namespace hemstitch::cli {
namespace {

void add_object(const nlohmann::ordered_json& object, std::string& output) {
  output += object.dump(-1, ' ', false, nlohmann::ordered_json::error_handler_t::replace);
  output += '\n';
}

}  // namespace

Reporter::Reporter(const SearchRequest& request, bool with_names, bool every_line, const PatternSet* patterns)
    : request_(request),
      with_names_(with_names),
      search_{.every_line = every_line,
              .only_matching = request.only_matching,
              .count_lines = request.line_number || request.json},
      patterns_(patterns) {}

void Reporter::report(const std::string& name, std::string_view content, MatchCursor matches,
                      FileReport& report) const {
  if (request_.names_only) {
    if (search_.every_line ? content.empty() : !matches.next(0)) return;
    report.found = true;
    add_name(name, report.output);
  } else if (request_.count) {
    const std::uint64_t count = count_matching_lines(content, matches, search_);
    report.found |= count != 0;
    add_count(name, count, report.output);
  } else {
    const LinesFound found = for_each_matching_line(
        content, matches, search_, [&](const FoundLine& line) { add_line(name, line, report.output); });
    report.found |= found.any;
    if (found.in_binary) report.complaint = "binary file matches";
  }
}

void Reporter::add_name(const std::string& name, std::string& output) const {
  if (request_.json)
    add_object({{"file", name}}, output);
  else
    output.append(name).append(1, '\n');
}

void Reporter::add_count(const std::string& name, std::uint64_t count, std::string& output) const {
  if (request_.json) {
    add_object({{"file", name}, {"count", count}}, output);
    return;
  }
  if (with_names_) output.append(name).append(1, ':');
  output.append(std::to_string(count)).append(1, '\n');
}

void Reporter::add_line(const std::string& name, const FoundLine& line, std::string& output) const {
  if (request_.json) {
    add_object({{"file", name}, {"line", line.line}, {"byte", line.byte}, {"text", line.text}}, output);
    return;
  }
  const auto add_number = [&](std::uint64_t number) {
    char digits[20];
    output.append(digits, std::to_chars(digits, digits + sizeof digits, number).ptr).append(1, ':');
  };
  if (with_names_) output.append(name).append(1, ':');
  if (request_.line_number) add_number(line.line);
  if (request_.byte_offset) add_number(line.byte);
  output.append(line.text).append(1, '\n');
}

}  // namespace hemstitch::cli
