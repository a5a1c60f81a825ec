// -r: small files many at a time. A batch of them is read by all threads, goes to the engine in one call, and is written by all
// threads, while other batches are read, computed and written; what each file becomes, and how it takes its name, mode and
// time, is as it would be alone. On a device, whose every call costs the same for one file as for a thousand, this is what
// makes small files worth while; on the processor it divides files among threads.
//
// What is not plain is left for later: files larger than a batch, those that change while they are read, damaged ones, and
// whatever else is better told by the stream that meets it.
#pragma once

#include <vector>

#include "cli/files/folder.hpp"
#include "cli/request.hpp"
#include "cli/tally.hpp"
#include "pipeline/frame_batch.hpp"

namespace hemstitch::cli {

// True where batches do what the request asks for: each file becomes another one, or is tested.
bool works_in_batches(const Request& request);

// Return the files that are left, in order. The dictionary is in the options, not in the request.
std::vector<FileName> compress_in_batches(const Request& request, const CompressOptions& options,
                                          std::vector<FileName> files, Tally& tally,
                                          const FrameBatchLimits& limits = {});
std::vector<FileName> restore_in_batches(const Request& request, const RestoreOptions& options,
                                         std::vector<FileName> files, Tally& tally,
                                         const FrameBatchLimits& limits = {});

}  // namespace hemstitch::cli
