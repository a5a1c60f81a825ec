// A finder on a CUDA device, for those who judge finders: the data as one block, up and back.
#pragma once

#include <string>

#include "match/common/finder.hpp"
#include "match/finder_rows.hpp"

namespace hemstitch {

bool has_kernel(const AnyFinder& finder);

// With `all`, also what the finder keeps and counts there, which takes longer. Throws kInvalidOption for a finder that has no
// kernel, and the device family's errors.
FoundMatches find_on_cuda(const std::string& device, const AnyFinder& finder, const FinderInput& input,
                          bool all);

}  // namespace hemstitch
