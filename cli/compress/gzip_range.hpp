// Restores parts of gzip and BGZF files from the middle: with an index beside the file, and by virtual
// offsets of BGZF.
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

// Does what restore_range() does, from the last member before the range in FILE.gzi, or from the last block
// before it in FILE.gzidx. The index is used if it exists, is not older than FILE, and is plausible. An index
// of another file gives a wrong part, or an error: for .gzidx the file's size is compared, and nothing else
// in either shows it.
StreamReport restore_from_nearest(FileSource& source, Sink& sink, std::uint64_t begin, std::uint64_t end,
                                  const RestoreOptions& options, const StreamHooks& hooks);

// The size of a file's content. `.gzidx` beside the file may give it; otherwise the file is read from its
// beginning to its end.
std::uint64_t content_bytes_of(FileSource& source, std::optional<Format> format);

// The content between two virtual offsets. Throws ToolError if the source cannot seek or no member begins
// there, and Error.
StreamReport restore_virtual(FileSource& source, Sink& sink, const VirtualRange& range,
                             const RestoreOptions& options, const StreamHooks& hooks);

}  // namespace hemstitch::cli
