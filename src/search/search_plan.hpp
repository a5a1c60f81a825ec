// What a search does, made of its options: for TextSearcher and for the command.
#pragma once

#include <optional>

#include "search/line_search.hpp"
#include "search/search.hpp"

namespace hemstitch {

struct SearchPlan {
  // Throws kInvalidOption, for a pattern that is too long or none at all.
  explicit SearchPlan(const SearchOptions& options);

  const PatternSet* pattern_set() const { return patterns ? &*patterns : nullptr; }
  // Lines follow from where the patterns stand, so that a device can be asked; with an empty pattern each line is looked at.
  bool lines_follow_from_matches() const { return patterns && !selection.rules.empty_pattern; }

  std::optional<PatternSet> patterns;  // none where there is none but the empty one
  LineSelection selection;
};

}  // namespace hemstitch
