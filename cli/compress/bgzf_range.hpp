// Parts of BGZF files, whose members can be restored from any of them on: by the index that stands beside a file, and by virtual offsets.
#pragma once

#include <cstdint>

#include "cli/files/files.hpp"
#include "cli/request.hpp"
#include "pipeline/stream.hpp"

namespace hemstitch::cli {

// restore_range(), from the last member before the range that FILE.gzi tells of, if there is such a file, it is not older than FILE, and
// what it says can be. An index of another file makes another part, or an error: nothing else in either tells that.
StreamReport restore_from_nearest(FileSource& source, Sink& sink, std::uint64_t begin, std::uint64_t end,
                                  const RestoreOptions& options, const StreamHooks& hooks);

// The content between two virtual offsets. Throws ToolError where the source cannot seek or no member begins there, and Error.
StreamReport restore_virtual(FileSource& source, Sink& sink, const VirtualRange& range,
                             const RestoreOptions& options, const StreamHooks& hooks);

}  // namespace hemstitch::cli
