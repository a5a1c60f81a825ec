// What an earlier run left complete.
#pragma once

#include <vector>

#include "cli/files/folder.hpp"
#include "cli/request.hpp"
#include "cli/tally.hpp"

namespace hemstitch::cli {

// True where `target` is an output that holds all of `source` as it is now, as far as that can be known without restoring it:
// the target has the time that an output takes from its source; the source has not changed since the target was completed,
// since its own change is the older one; the frames are whole, and what they hold is as long as the other file. Stamps of
// equal time say nothing of what came first: -r does not read a file before they would differ (await_later_stamps).
bool is_done_before(Action action, const FileName& source, const FileName& target);

// -r --rm: removes sources of an earlier run's outputs, once it is seen that the outputs, restored, hold the same bytes. One
// that does not is an error, and its source stays.
void remove_done_sources(const Request& request, const RestoreOptions& options,
                         const std::vector<FileName>& sources, Tally& tally);

}  // namespace hemstitch::cli
