// What search prints about a file, in grep's form or as JSON.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "cli/search/search_colors.hpp"
#include "cli/search/search_request.hpp"
#include "cli/search/search_room.hpp"
#include "search/search_plan.hpp"

namespace hemstitch::cli {

// How reports are written. Any number of threads may use one.
class Reporter {
 public:
  // The request and the plan's patterns are not copied.
  Reporter(const SearchRequest& request, bool with_names, const SearchPlan& plan);

  const LineSelection& selection() const { return selection_; }
  const PatternSet* patterns() const { return patterns_; }
  // Whether a content's matches are enough for its report.
  bool matches_are_enough() const;

  // The line between groups of lines.
  const std::string& between_groups() const { return between_groups_; }

 private:
  friend class ContentReport;

  const std::string& separator(bool selected) const { return selected ? behind_selected_ : behind_others_; }

  const SearchRequest& request_;
  bool with_names_;
  bool colored_;
  SearchColors colors_;
  bool in_groups_;                               // lines are shown with those around them, perhaps none
  std::string behind_selected_, behind_others_;  // after what precedes such lines
  std::string between_groups_;
  LineSelection selection_;
  const PatternSet* patterns_;
};

// Searches one content, and writes its report.
class ContentReport : private LineListener {
 public:
  // Nothing is copied.
  ContentReport(const Reporter& reporter, const std::string& name, bool has_hole, FileReport& report,
                SearchRoom& room)
      : reporter_(reporter),
        request_(reporter.request_),
        name_(name),
        report_(report),
        room_(room),
        searcher_(reporter.selection_, reporter.patterns_, has_hole, *this) {}

  LineSearcher& searcher() { return searcher_; }
  // When the search has ended, for whatever reason.
  void finish();
  // Instead of a search, if matches are enough: whether there are any.
  void finish_without_content(bool any) { tell_whether(any); }

 private:
  void line(const FoundLine& line) override;
  void too_long(std::uint64_t byte) override;
  void too_many_before(std::uint64_t byte) override;

  void tell_whether(bool any);
  void tell_count();
  void add_line(const FoundLine& line, bool matches);
  void add_match(const FoundLine& line, const SearchMatch& match);
  void add_colored(const FoundLine& line, bool matches);
  void add_json(const FoundLine& line, std::uint64_t byte, std::string_view text);
  void add_prefix(const FoundLine& line, std::uint64_t byte);
  void add_number(std::uint64_t number, const std::string& color, bool selected);
  std::string name() const;
  std::string name_before(bool selected) const;
  void add_text(std::string_view text);
  void grow();

  const Reporter& reporter_;
  const SearchRequest& request_;
  const std::string& name_;
  FileReport& report_;
  SearchRoom& room_;
  LineSearcher searcher_;
  std::string names_before_[2];  // before selected lines and others, made on first use
};

}  // namespace hemstitch::cli
