// Beginning in the middle of a gzip stream: making an index of places where that can be done, and doing it.
#pragma once

#include "format/deflate/frame/gzip_index.hpp"
#include "pipeline/stream.hpp"

namespace hemstitch {

struct GzipIndexReport {
  std::uint64_t input_bytes = 0;  // the file's, with what may follow the last member
  std::uint64_t output_bytes = 0;
  std::uint64_t member_count = 0;
  std::optional<std::uint64_t> trailing_garbage_at;  // as StreamReport has it
};

// Restores the members of a gzip source that can seek and stands at its beginning, keeps none of the content, and adds points to `index`. Throws
// Error as restore_stream() does: all sizes and checksums are verified. BGZF is kUnsupportedFeature: the members themselves are its points.
GzipIndexReport index_gzip(Source& source, GzipIndex& index, const StreamHooks& hooks = {});

// restore_range() of a gzip source that can seek, from that point on, which is not behind `range_begin`. Checksums are not verified.
StreamReport restore_range_from(Source& source, Sink& sink, const GzipPoint& point, std::uint64_t range_begin,
                                std::uint64_t range_end, const RestoreOptions& options,
                                const StreamHooks& hooks = {});

}  // namespace hemstitch
