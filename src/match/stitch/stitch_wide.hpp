// The stitch (match/stitch/stitch.hpp) for finders with wide records.
#pragma once

#include <cstddef>
#include <vector>

#include "match/common/finder.hpp"

namespace hemstitch {

// The backward pass, from up to `reach` positions ahead, then the forward pass.
void stitch_matches(const FinderInput& input, std::size_t reach, std::vector<WideRecord>& records);

}  // namespace hemstitch
