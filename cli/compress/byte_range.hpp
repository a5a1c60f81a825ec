// --range A-B, A- and -N: a part of a stream's content.
#pragma once

#include "cli/files/files.hpp"
#include "cli/request.hpp"
#include "pipeline/stream.hpp"

namespace hemstitch::cli {

// Writes this part. If the source cannot seek (a pipe), its last bytes are kept in memory until the end is
// found. More than 64 MB of them, or more than options.memory_limit_bytes allows, are refused. Throws Error
// and ToolError. For a BGZF file with a .gzi beside it, this index says where to begin; other files are
// walked through.
StreamReport restore_part(FileSource& source, Sink& sink, const ByteRange& range,
                          const RestoreOptions& options, const StreamHooks& hooks);

}  // namespace hemstitch::cli
