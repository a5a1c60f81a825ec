// Searching on a device: files are loaded in batches, each while the one before it is searched; the batch's matches come from the
// device, and lines are made of them here. Files that do not fit into a batch, and those that change while they are loaded, are
// searched by the processor when their turn has come.
#pragma once

#include <tbb/task_arena.h>

#include "cli/search/search_inputs.hpp"
#include "cli/search/search_work.hpp"
#include "search/search.hpp"

namespace hemstitch::cli {

// On the backend that the request names, which must be there; the processor searches where it fails on the way.
void search_in_batches(SearchWork& work, SearchInputs& inputs, tbb::task_arena& arena,
                       const PatternSet& patterns);

}  // namespace hemstitch::cli
