// Runs a finder on a CUDA device, for judging finders: the data is one block, uploaded, and the records are
// downloaded.
#pragma once

#include <string>

#include "match/common/finder.hpp"
#include "match/finder_rows.hpp"

namespace hemstitch {

bool has_kernel(const AnyFinder& finder);

// With `all`, it also returns the lists and counters of the finder, which takes longer. Throws kInvalidOption
// for a finder without a kernel, and the device family's errors.
FoundMatches find_on_cuda(const std::string& device, const AnyFinder& finder, const FinderInput& input,
                          bool all);

}  // namespace hemstitch
