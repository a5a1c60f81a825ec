// Finds what an earlier run has completed.
#pragma once

#include <vector>

#include "cli/files/walk/folder.hpp"
#include "cli/request.hpp"
#include "cli/tally.hpp"

namespace hemstitch::cli {

// True if `target` is an output that holds all of `source` in its present state, as far as that can be known
// without restoring it. The target has the time that an output gets from its source. The source has not
// changed since the target was completed, as its own change is older. The frames are whole, and their content
// is as long as the other file. Equal times do not show what came first, so -r waits before it reads a file
// until its times would differ (await_later_stamps).
bool is_done_before(Action action, const FileName& source, const FileName& target);

// For -r --rm: removes sources of an earlier run's outputs after checking that the outputs restore to the
// same bytes. If one does not, that is an error, and its source stays.
void remove_done_sources(const Request& request, const RestoreOptions& options,
                         const std::vector<FileName>& sources, Tally& tally);

}  // namespace hemstitch::cli
