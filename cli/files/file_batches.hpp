// -r: many small files at a time. All threads read a batch, the engine gets it in one call, and all threads
// write it, while other batches are read, computed and written. Each file's content, name, mode and time
// become the same as if it were processed alone. A call to a device costs the same for one file as for a
// thousand, so only batches make small files worthwhile there; on the processor, a batch divides files among
// threads.
//
// Files that are not plain are left for later: those larger than a batch, those that change while they are
// read, damaged ones, and others on which a stream can report better.
#pragma once

#include <vector>

#include "cli/files/walk/folder.hpp"
#include "cli/request.hpp"
#include "cli/tally.hpp"
#include "pipeline/frame_batch.hpp"

namespace hemstitch::cli {

// Whether batches can do what the request asks for: each file becomes another one, or is tested.
bool works_in_batches(const Request& request);

// Return the files that are left, in order. The dictionary is in the options, not in the request.
std::vector<FileName> compress_in_batches(const Request& request, const CompressOptions& options,
                                          std::vector<FileName> files, Tally& tally,
                                          const FrameBatchLimits& limits = {});
std::vector<FileName> restore_in_batches(const Request& request, const RestoreOptions& options,
                                         std::vector<FileName> files, Tally& tally,
                                         const FrameBatchLimits& limits = {});

}  // namespace hemstitch::cli
