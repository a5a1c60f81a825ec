// A finder's search on the CUDA device, for those who judge finders: the data as one block, up and back.
#pragma once

#include "evaluate/finder_choice.hpp"

namespace hemstitch {

// With `all`, coop_stitch also gives its records before the stitch and its counters, which takes longer. Throws
// kInvalidOption for a finder that has no kernel, and the device family's errors.
FoundMatches find_on_cuda(const FinderChoice& choice, const FinderInput& input, bool stitch, bool all);

}  // namespace hemstitch
