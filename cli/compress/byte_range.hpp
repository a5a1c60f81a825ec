// --range A-B, A- and -N: a part of a stream's content.
#pragma once

#include "cli/compress/gzip_range.hpp"
#include "cli/files/files.hpp"
#include "cli/request.hpp"
#include "pipeline/stream.hpp"

namespace hemstitch::cli {

// Writes this part. If the source cannot seek (a pipe), its last bytes are kept in memory until the end is
// found. More than 64 MB of them, or more than options.memory_limit_bytes allows, are refused. Throws Error
// and ToolError. An index beside the file may say where to begin (gzip_range.hpp); other files are walked
// through.
PartReport restore_part(FileSource& source, Sink& sink, const ByteRange& range, const RestoreOptions& options,
                        const StreamHooks& hooks);

}  // namespace hemstitch::cli
