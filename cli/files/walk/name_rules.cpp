#include "cli/files/walk/name_rules.hpp"

#include <fnmatch.h>

#include <algorithm>

namespace hemstitch::cli {
namespace {

bool matches(const std::string& pattern, const std::string& name, bool argument) {
  for (const char* end = name.c_str();; ++end) {
    if (fnmatch(pattern.c_str(), end, 0) == 0) return true;
    // The next part of the path, after a '/'.
    while (*end != '\0' && !(end[0] == '/' && end[1] != '/')) ++end;
    if (!argument || *end == '\0') return false;
  }
}

}  // namespace

void NameRules::exclude_folder(std::string_view pattern) {
  while (pattern.size() > 1 && pattern.ends_with('/')) pattern.remove_suffix(1);
  excluded_folders_.emplace_back(pattern);
}

bool NameRules::takes(const std::string& name, bool argument) const {
  for (auto rule = files_.rbegin(); rule != files_.rend(); ++rule)
    if (matches(rule->pattern, name, argument)) return rule->include;
  return files_.empty() || !files_.front().include;
}

bool NameRules::takes_folder(const std::string& name, bool argument) const {
  return std::none_of(excluded_folders_.begin(), excluded_folders_.end(),
                      [&](const std::string& pattern) { return matches(pattern, name, argument); });
}

}  // namespace hemstitch::cli
