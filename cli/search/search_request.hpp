// The arguments of `hemstitch search`, which are grep's.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "cli/search/search_names.hpp"
#include "search/line_search.hpp"

namespace hemstitch::cli {

struct SearchRequest {
  enum class Names { kNo, kMatching, kNotMatching };
  enum class Color { kNever, kAlways, kOnTerminal };

  std::vector<std::string> patterns;
  std::vector<std::string> paths;
  NameRules name_rules;
  bool ignore_case = false, invert = false, whole_words = false, whole_lines = false;
  bool quiet = false, count = false, only_matching = false, json = false;
  bool byte_offset = false, line_number = false;
  bool null_after_names = false;
  bool no_messages = false;
  bool recursive = false, follow_links = false, decompress = false, help = false;
  Names names = Names::kNo;  // of files alone
  Color color = Color::kOnTerminal;
  LineSelection::Binary binary = LineSelection::Binary::kTold;
  std::optional<bool> with_names;
  std::optional<std::uint64_t> before, after;  // none: no line but those that are selected
  std::uint64_t most_lines = UINT64_MAX;
  unsigned threads = 0;
  std::optional<std::uint64_t> memory_bytes;
  std::string backend = "auto";
  std::string device;  // as CompressOptions::device

  // Lines are shown, rather than counted or asked about.
  bool shows_lines() const { return !quiet && !count && names == Names::kNo; }
};

// Throws UsageError.
SearchRequest parse_search(std::span<const std::string> words);

extern const char* const kSearchUsage;

}  // namespace hemstitch::cli
