// Restores parts of a gzip or Zstandard file from points in its middle, which an index lists. StreamHooks::index makes
// that of gzip, make_zstd_index() that of Zstandard.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "core/kept.hpp"
#include "core/random_access.hpp"
#include "format/gzip_index.hpp"
#include "format/zstd_index.hpp"
#include "pipeline/stream.hpp"

namespace hemstitch {

// Does what restore_range() does for a gzip source that can seek, from `point` on, which must not lie after
// `range_begin`. Checksums are not verified. With a damaged index, or that of another file, it gives wrong
// bytes or an Error: nothing in the file shows whether a window belongs to it.
StreamReport restore_range_from(Source& source, Sink& sink, const GzipPoint& point, std::uint64_t range_begin,
                                std::uint64_t range_end, const RestoreOptions& options,
                                const StreamHooks& hooks = {});

// The same for an index of Zstandard, from the nearest point of each part on. Throws kInvalidOption if the index is
// damaged or of another file.
StreamReport restore_range_from(Source& source, Sink& sink, const ZstdIndexReader& reader, Source& index,
                                std::uint64_t range_begin, std::uint64_t range_end,
                                const RestoreOptions& options, const StreamHooks& hooks = {});

// Restores ranges of a gzip or Zstandard file with an index (RestoreOptions::index). Its points are read once. The decoder of the
// last range is kept: a range that begins a little after it costs only what lies between them.
//
// Thread safety: several threads may call restore() at once.
class IndexedRanges {
 public:
  // `input`, and the memory of options.index, must outlive this object. Throws kInvalidOption if that is not
  // an index of the input.
  IndexedRanges(const RandomAccess& input, const RestoreOptions& options);
  ~IndexedRanges();
  std::uint64_t content_bytes() const { return content_bytes_; }
  // As RangeReader::restore().
  std::vector<RestoredRange> restore(std::span<const ContentBytes> ranges) const;

 private:
  struct Cursor;
  class Points;
  class GzipPoints;
  class ZstdPoints;

  const RandomAccess& input_;
  RestoreOptions options_;
  std::uint64_t content_bytes_ = 0;
  std::unique_ptr<const Points> points_;
  std::vector<std::uint64_t> places_;  // of the points, in the content
  mutable Kept<std::unique_ptr<Cursor>> cursor_;
};

}  // namespace hemstitch
