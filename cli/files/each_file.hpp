// Processes a command's files. A failure is reported on stderr, and the other files are processed too. The
// exit status is the worst one.
#pragma once

#include <algorithm>
#include <functional>
#include <vector>

#include "cli/files/walk/folder.hpp"
#include "cli/request.hpp"
#include "cli/tally.hpp"

namespace hemstitch::cli {

// kLeft: compressed already, and so left as it is.
enum class Outcome { kDone, kLeft, kWarned };
inline Outcome worst(Outcome a, Outcome b) { return std::max(a, b); }

// Processes those of `files` that it can, many at a time; returns the others, in order.
using BatchWork = std::function<std::vector<FileName>(std::vector<FileName> files, Tally& tally)>;

// What -r does besides processing files one by one.
struct FolderWork {
  BatchWork batches;  // comes first; may be empty
  // With --rm: removes what an earlier run has completed.
  std::function<void(const std::vector<FileName>& files, Tally& tally)> remove_done;
};

// Calls `work` with each input of the request, and with the files in folders if -r was given. Returns the
// exit status.
int for_each_file(const Request& request, const std::function<Outcome(const FileName& file)>& work,
                  const FolderWork& folder_work = {});

}  // namespace hemstitch::cli
