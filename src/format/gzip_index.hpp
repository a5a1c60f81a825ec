// The index that indexed_gzip stores beside a gzip file (.gzidx). With it, indexed_gzip, rapidgzip and
// Hemstitch begin in the middle of a stream:
//
//   "GZIDX" | version 0 or 1, 1 byte | 0, 1 byte | size of the gzip file, 8 bytes | of its content, 8 bytes | content from one
//   point to the next, about, 4 bytes | size of a window, 4 bytes | how many points, 4 bytes
//   for each point: where it is in the file, 8 bytes | and in the content, 8 bytes | bits, 1 byte | whether it has a window, 1 byte
//   the windows of those that have one, in order
//
// A point is where a block's header begins, or directly after the header of a member: `bits` bits before that
// byte of the file. Its window is the 32 KB of content before it. The last point is at the end of the file,
// and nothing begins there. In version 0, points have no last byte, and all but the first have a window.
// Numbers are little-endian.
//
// Nothing in an index shows whether its windows belong to the file; only sizes can be compared.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "core/source.hpp"

namespace hemstitch {

inline constexpr std::size_t kGzipWindowBytes = 32768;

// A place where restoring may begin.
struct GzipPoint {
  std::uint64_t bit = 0;  // of the file
  std::uint64_t content_at = 0;
  std::vector<std::byte> window = {};  // empty where a stream begins; otherwise kGzipWindowBytes
};

// Gathers points, at most `most_points` of them. If there are more, every second one is dropped, and the
// distance between later ones doubles. So memory is bounded, whatever the file's size.
class GzipIndex {
 public:
  static constexpr std::uint32_t kSpacingBytes = 4 << 20;
  static constexpr std::size_t kMostPoints = 4096;

  explicit GzipIndex(std::uint32_t spacing_bytes = kSpacingBytes, std::size_t most_points = kMostPoints)
      : spacing_bytes_(spacing_bytes), most_points_(most_points) {}

  // How many bytes after this place the next point is wanted, to be far enough from the last one; 0: here.
  std::uint64_t bytes_to_next(std::uint64_t content_at) const {
    const std::uint64_t passed = points_.empty() ? spacing_bytes_ : content_at - points_.back().content_at;
    return spacing_bytes_ - std::min<std::uint64_t>(passed, spacing_bytes_);
  }
  bool wants(std::uint64_t content_at) const { return bytes_to_next(content_at) == 0; }
  // `window`: at most kGzipWindowBytes; if it is shorter, zeros precede it.
  void add(std::uint64_t bit, std::uint64_t content_at, std::span<const std::byte> window);
  std::span<const GzipPoint> points() const { return points_; }
  // The most bytes of an index for a gzip file of this size, with the default spacing.
  static std::uint64_t most_bytes(std::uint64_t file_bytes);
  // The index file.
  std::vector<std::byte> bytes(std::uint64_t file_bytes, std::uint64_t content_bytes) const;

 private:
  std::uint32_t spacing_bytes_;
  std::size_t most_points_;
  std::vector<GzipPoint> points_;
};

// Reads the index of a gzip file and keeps only what is requested. Data that cannot be the index of a file of
// that size is refused. An index of another file of the same size cannot be recognised.
class GzipIndexReader {
 public:
  struct IndexedPoint {
    std::uint64_t bit = 0;
    std::uint64_t content_at = 0;
    std::optional<std::uint64_t> window_number;  // among the windows in the index
  };

  // `index` must be able to seek and must outlive the reader. Nothing if it is not an index of a gzip file
  // of that size.
  static std::optional<GzipIndexReader> of(Source& index, std::uint64_t file_bytes);

  std::uint64_t content_bytes() const { return content_bytes_; }
  // The last point at or before that byte of the content. Nothing if there is none, or if points are not in
  // order.
  std::optional<GzipPoint> nearest(std::uint64_t content_at);
  // All points without their windows, of several at the same byte of the content the last; and one point with
  // its window.
  std::optional<std::vector<IndexedPoint>> points();
  std::optional<GzipPoint> read(const IndexedPoint& point);

 private:
  GzipIndexReader(Source& index, std::uint64_t file_bytes) : index_(index), file_bytes_(file_bytes) {}
  template <class Visit>
  bool for_each_point(const Visit& visit);

  Source& index_;
  std::uint64_t file_bytes_, content_bytes_ = 0, point_count_ = 0;
  bool marked_ = true;  // each point states whether it has a window
};

}  // namespace hemstitch
