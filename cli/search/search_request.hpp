// The arguments of `hemstitch search`, which are grep's.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "cli/files/walk/name_rules.hpp"
#include "cli/request.hpp"
#include "hemstitch/search.hpp"

namespace hemstitch::cli {

struct SearchRequest {
  enum class Names { kNo, kMatching, kNotMatching };
  enum class Color { kNever, kAlways, kOnTerminal };

  SearchOptions options;
  bool in_groups = false;  // lines are shown with those around them, perhaps none
  std::vector<std::string> paths;
  NameRules name_rules;
  bool quiet = false, count = false, only_matching = false, json = false;
  bool byte_offset = false, line_number = false;
  bool null_after_names = false;
  bool null_data = false;  // lines end with a zero byte
  bool line_buffered = false;
  std::string label = "(standard input)";  // stdin's name
  bool no_messages = false;
  bool recursive = false, follow_links = false, help = false;
  Names names = Names::kNo;  // print only names of files
  Color color = Color::kOnTerminal;
  std::optional<bool> with_names;
  std::optional<std::uint64_t> memory_bytes;

  // The name of an input in messages and lines.
  std::string shown_input(const std::string& path) const { return path == kStandardStream ? label : path; }
  // Only a file or standard input.
  bool is_of_one_file() const { return !recursive && paths.size() <= 1; }
  // Lines are printed, not only counted or tested for.
  bool shows_lines() const { return !quiet && !count && names == Names::kNo; }
};

// Throws UsageError.
SearchRequest read_search_request(std::span<const std::string> words);

std::string search_help();

}  // namespace hemstitch::cli
