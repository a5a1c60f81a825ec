// The arguments of `hemstitch search`, which are grep's.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace hemstitch::cli {

struct SearchRequest {
  std::vector<std::string> patterns;
  std::vector<std::string> paths;
  bool ignore_case = false, count = false, names_only = false, only_matching = false, byte_offset = false,
       line_number = false, recursive = false, decompress = false, json = false, help = false;
  unsigned threads = 0;
  std::uint64_t memory_bytes = 0;
  std::string backend = "auto";
};

// Throws UsageError.
SearchRequest parse_search(std::span<const std::string> words);

extern const char* const kSearchUsage;

}  // namespace hemstitch::cli
