// Parts of gzip and BGZF files from the middle on: by an index that stands beside the file, and by the virtual offsets of BGZF.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "cli/files/files.hpp"
#include "cli/request.hpp"
#include "pipeline/stream.hpp"

namespace hemstitch::cli {

// The index that `hemstitch index` and indexed_gzip write beside FILE.
inline constexpr std::string_view kGzipIndexSuffix = ".gzidx";

// restore_range(), from the last member before the range that FILE.gzi tells of, or the last block that FILE.gzidx does, if there is such a
// file, it is not older than FILE, and what it says can be. An index of another file makes another part, or an error: of .gzidx the
// file's size is compared, and nothing else in either tells that.
StreamReport restore_from_nearest(FileSource& source, Sink& sink, std::uint64_t begin, std::uint64_t end,
                                  const RestoreOptions& options, const StreamHooks& hooks);

// How much a file holds, which `.gzidx` beside it may tell; else all of it is gone through, from its beginning on.
std::uint64_t content_bytes_of(FileSource& source, std::optional<Format> format);

// The content between two virtual offsets. Throws ToolError where the source cannot seek or no member begins there, and Error.
StreamReport restore_virtual(FileSource& source, Sink& sink, const VirtualRange& range,
                             const RestoreOptions& options, const StreamHooks& hooks);

}  // namespace hemstitch::cli
