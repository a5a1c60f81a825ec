// Searches on a device. Files are loaded in batches, each while the one before is searched. The device
// returns a batch's matches, and lines are made of them here. The processor searches files that do not fit
// into a batch, and those that change while they are loaded, in their turn.
#pragma once

#include <tbb/task_arena.h>

#include "cli/search/search_inputs.hpp"
#include "cli/search/search_work.hpp"
#include "search/search.hpp"

namespace hemstitch::cli {

// Uses the backend that the request names, which must exist; the processor searches if it fails on the way.
void search_in_batches(SearchWork& work, SearchInputs& inputs, tbb::task_arena& arena,
                       const PatternSet& patterns);

}  // namespace hemstitch::cli
