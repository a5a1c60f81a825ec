// A search made from its options, for TextSearcher and for the command.
#pragma once

#include <optional>

#include "search/line_search.hpp"
#include "search/search.hpp"

namespace hemstitch {

struct SearchPlan {
  // Throws kInvalidOption if a pattern is too long, or if there is none.
  explicit SearchPlan(const SearchOptions& options);

  const PatternSet* pattern_set() const { return patterns ? &*patterns : nullptr; }
  // Whether lines follow from the places of patterns, so that a device can find them; with an empty
  // pattern, each line is examined.
  bool lines_follow_from_matches() const { return patterns && !selection.rules.empty_pattern; }

  std::optional<PatternSet> patterns;  // none if the only pattern is the empty one
  LineSelection selection;
};

}  // namespace hemstitch
