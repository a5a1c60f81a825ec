#include "search/search_plan.hpp"

#include <set>
#include <string>
#include <vector>

#include "core/status.hpp"

namespace hemstitch {

SearchPlan::SearchPlan(const SearchOptions& options) {
  if (options.patterns.empty()) throw Error(Status::kInvalidOption, "patterns: give at least one");
  const std::set<std::string> different(options.patterns.begin(), options.patterns.end());
  std::vector<std::string> strings;
  for (const std::string& pattern : different)
    if (!pattern.empty()) strings.push_back(pattern);
  if (!strings.empty()) patterns.emplace(std::move(strings), options.ignore_case);

  selection.rules = {.empty_pattern = different.contains(""),
                     .whole_words = options.whole_words && !options.whole_lines,
                     .whole_lines = options.whole_lines,
                     // Like grep, which works differently with several patterns.
                     .begins_anew = different.size() > 1};
  selection.invert = options.invert;
  selection.wanted = options.wanted;
  selection.binary = options.binary;
  selection.before = options.before;
  selection.after = options.after;
  selection.in_groups = options.before != 0 || options.after != 0;
  selection.most_lines = options.most_lines;
}

}  // namespace hemstitch
