// Restores parts of a gzip file from points in its middle, which an index lists. StreamHooks::index makes an
// index.
#pragma once

#include "format/gzip_index.hpp"
#include "pipeline/stream.hpp"

namespace hemstitch {

// Does what restore_range() does for a gzip source that can seek, from `point` on, which must not lie after
// `range_begin`. Checksums are not verified. With a damaged index, or that of another file, it gives wrong
// bytes or an Error: nothing in the file shows whether a window belongs to it.
StreamReport restore_range_from(Source& source, Sink& sink, const GzipPoint& point, std::uint64_t range_begin,
                                std::uint64_t range_end, const RestoreOptions& options,
                                const StreamHooks& hooks = {});

// Does what restore_ranges() does for a gzip file, with options.index. Throws kInvalidOption if that is not
// an index of the file.
std::vector<RestoredRange> restore_ranges_by_index(std::span<const std::byte> input,
                                                   std::span<const ContentBytes> ranges,
                                                   const RestoreOptions& options);

}  // namespace hemstitch
