// What search says of a file, as grep says it or as JSON.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "search/line_search.hpp"
#include "search_request.hpp"

namespace hemstitch::cli {

struct FileReport {
  std::string output;
  std::string complaint;  // after the file's name, on stderr
  bool found = false;
  bool trouble = false;
};

// Any number of threads may use one.
class Reporter {
 public:
  // The request and the patterns are not copied; no patterns where every line matches.
  Reporter(const SearchRequest& request, bool with_names, bool every_line, const PatternSet* patterns);

  // Appends to the report.
  void report(const std::string& name, std::string_view content, FileReport& report) const {
    this->report(name, content, MatchCursor(content, patterns_), report);
  }

  // Without matches the content is not looked at, unless every line matches; nor where names alone are wanted.
  void report(const std::string& name, std::string_view content, MatchCursor matches,
              FileReport& report) const;

 private:
  void add_name(const std::string& name, std::string& output) const;
  void add_count(const std::string& name, std::uint64_t count, std::string& output) const;
  void add_line(const std::string& name, const FoundLine& line, std::string& output) const;

  const SearchRequest& request_;
  bool with_names_;
  LineSearch search_;
  const PatternSet* patterns_;
};

}  // namespace hemstitch::cli
