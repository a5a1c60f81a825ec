// Working through a command's files: one that fails is told on stderr, the others go on, the exit status is
// the worst.
#pragma once

#include <algorithm>
#include <functional>
#include <vector>

#include "cli/files/folder.hpp"
#include "cli/request.hpp"
#include "cli/tally.hpp"

namespace hemstitch::cli {

enum class Outcome { kDone, kWarned };
inline Outcome worst(Outcome a, Outcome b) { return std::max(a, b); }

// Does what it can of `files` many at a time; returns the others, in order.
using BatchWork = std::function<std::vector<FileName>(std::vector<FileName> files, Tally& tally)>;

// What -r adds to working on files one by one.
struct FolderWork {
  BatchWork batches;  // has its turn first; may be empty
  // With --rm: what an earlier run has done.
  std::function<void(const std::vector<FileName>& files, Tally& tally)> remove_done;
};

// Calls `work` with each input of the request, folders resolved where -r was given. Returns the exit status.
int for_each_file(const Request& request, const std::function<Outcome(const FileName& file)>& work,
                  const FolderWork& folder_work = {});

}  // namespace hemstitch::cli
