// --range A-B, A- and -N: a part of a stream's content.
#pragma once

#include "cli/files/files.hpp"
#include "cli/request.hpp"
#include "pipeline/stream.hpp"

namespace hemstitch::cli {

// Writes that part. The last bytes of what cannot seek (a pipe) are kept in memory until the end shows which they
// are; more than 64 MB of them are refused, as is what options.memory_limit_bytes has no room for. Throws Error
// and ToolError.
// Of a BGZF file with a .gzi beside it, that tells where to begin; its own walk tells of others.
StreamReport restore_part(FileSource& source, Sink& sink, const ByteRange& range,
                          const RestoreOptions& options, const StreamHooks& hooks);

}  // namespace hemstitch::cli
