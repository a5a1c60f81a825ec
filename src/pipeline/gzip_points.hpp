// Restoring parts of a gzip file from places in its middle, which an index tells. StreamHooks::index makes one.
#pragma once

#include "format/gzip_index.hpp"
#include "pipeline/stream.hpp"

namespace hemstitch {

// restore_range() of a gzip source that can seek, from that point on, which is not behind `range_begin`. Checksums are not verified. An index of
// another file, or a damaged one, gives other bytes or an Error: nothing in the file tells whether a window is its own.
StreamReport restore_range_from(Source& source, Sink& sink, const GzipPoint& point, std::uint64_t range_begin,
                                std::uint64_t range_end, const RestoreOptions& options,
                                const StreamHooks& hooks = {});

// restore_ranges() of a gzip file by options.index. Throws kInvalidOption where that is none of the file.
std::vector<RestoredRange> restore_ranges_by_index(std::span<const std::byte> input,
                                                   std::span<const ContentBytes> ranges,
                                                   const RestoreOptions& options);

}  // namespace hemstitch
