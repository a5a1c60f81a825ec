// Restores parts of gzip and BGZF files from the middle: with an index beside the file, and by virtual
// offsets of BGZF.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "cli/files/files.hpp"
#include "cli/request.hpp"
#include "pipeline/stream.hpp"

namespace hemstitch::cli {

// The index that `hemstitch index` and indexed_gzip write beside FILE, and that of BGZF, which bgzip writes
// too.
inline constexpr std::string_view kGzipIndexSuffix = ".gzidx", kBgzfIndexSuffix = ".gzi";

struct PartReport {
  StreamReport stream;
  // Why an index beside the file was not used; it names the index.
  std::optional<std::string> index_warning = {};
};

// Does what restore_range() does, from the last member before the range in FILE.gzi, or from the last block
// before it in FILE.gzidx. An index is used if it is not older than FILE, and FILE does not contradict it:
// FILE.zstidx (zstd_index.hpp) knows its file;
// nearest_bgzf_place() says what is compared of .gzi. Of .gzidx only sizes are, so an index of another file
// gives a wrong part, or an error.
PartReport restore_from_nearest(FileSource& source, Sink& sink, std::uint64_t begin, std::uint64_t end,
                                const RestoreOptions& options, const StreamHooks& hooks);

// The last `bytes` bytes of the content of a file that can seek. `.gzidx` beside the file may tell its size;
// otherwise the file is read from its beginning to its end first.
PartReport restore_last(FileSource& source, Sink& sink, std::uint64_t bytes, const RestoreOptions& options,
                        const StreamHooks& hooks);

// The content between two virtual offsets. Throws ToolError if the source cannot seek or no member begins
// there, and Error.
StreamReport restore_virtual(FileSource& source, Sink& sink, const VirtualRange& range,
                             const RestoreOptions& options, const StreamHooks& hooks);

}  // namespace hemstitch::cli
