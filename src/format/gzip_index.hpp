// The index of a gzip file that indexed_gzip keeps beside it (.gzidx), from which it, rapidgzip and we begin in the middle of a stream:
//
//   "GZIDX" | version 0 or 1, 1 byte | 0, 1 byte | size of the gzip file, 8 bytes | of its content, 8 bytes | content from one
//   point to the next, about, 4 bytes | size of a window, 4 bytes | how many points, 4 bytes
//   for each point: where it is in the file, 8 bytes | and in the content, 8 bytes | bits, 1 byte | whether it has a window, 1 byte
//   the windows of those that have one, in order
//
// A point stands where a block's header begins, or behind the header of a member: at the bit that is so many bits before that byte of the file. Its
// window is the 32 KB of content before it. The last point stands at the end of the file, and nothing begins there. Of version 0 points lack their last byte,
// and all but the first one have a window. Numbers are little-endian.
// Nothing in an index tells whether its windows are those of the file; only sizes can be compared.
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

// Where restoring may begin.
struct GzipPoint {
  std::uint64_t bit = 0;  // of the file
  std::uint64_t content_at = 0;
  std::vector<std::byte> window = {};  // empty where a stream begins; else kGzipWindowBytes
};

// Gathers points, at most a given number of them: where there are more, every second one is dropped, and the distance between those to come
// doubles. So memory is bounded, whatever the file's size.
class GzipIndex {
 public:
  static constexpr std::uint32_t kSpacingBytes = 4 << 20;
  static constexpr std::size_t kMostPoints = 4096;

  explicit GzipIndex(std::uint32_t spacing_bytes = kSpacingBytes, std::size_t most_points = kMostPoints)
      : spacing_bytes_(spacing_bytes), most_points_(most_points) {}

  // How far behind that place a point is wanted, so that it is far enough behind the last one; 0: here.
  std::uint64_t bytes_to_next(std::uint64_t content_at) const {
    const std::uint64_t passed = points_.empty() ? spacing_bytes_ : content_at - points_.back().content_at;
    return spacing_bytes_ - std::min<std::uint64_t>(passed, spacing_bytes_);
  }
  bool wants(std::uint64_t content_at) const { return bytes_to_next(content_at) == 0; }
  // `window`: at most kGzipWindowBytes; of less, what stands before it counts as zeros.
  void add(std::uint64_t bit, std::uint64_t content_at, std::span<const std::byte> window);
  std::span<const GzipPoint> points() const { return points_; }
  // Of the file, for a gzip file of that size, and points as far apart as usual.
  static std::uint64_t most_bytes(std::uint64_t file_bytes);
  // The file.
  std::vector<std::byte> bytes(std::uint64_t file_bytes, std::uint64_t content_bytes) const;

 private:
  std::uint32_t spacing_bytes_;
  std::size_t most_points_;
  std::vector<GzipPoint> points_;
};

// Reads the index of a gzip file, of which it keeps no more than is asked for. What cannot be of a file of that size is no index; whether it is of
// another file of the same size is not told.
class GzipIndexReader {
 public:
  struct IndexedPoint {
    std::uint64_t bit = 0;
    std::uint64_t content_at = 0;
    std::optional<std::uint64_t> window_number;  // among those of the index
  };

  // `index` can seek, and outlives the reader. Nothing where it is no index of a gzip file of that size.
  static std::optional<GzipIndexReader> of(Source& index, std::uint64_t file_bytes);

  std::uint64_t content_bytes() const { return content_bytes_; }
  // The last point at or before that byte of the content. Nothing where there is none, or where points are not in order.
  std::optional<GzipPoint> nearest(std::uint64_t content_at);
  // All of them, without their windows; and one with its window.
  std::optional<std::vector<IndexedPoint>> points();
  std::optional<GzipPoint> read(const IndexedPoint& point);

 private:
  GzipIndexReader(Source& index, std::uint64_t file_bytes) : index_(index), file_bytes_(file_bytes) {}
  template <class Visit>
  bool for_each_point(const Visit& visit);

  Source& index_;
  std::uint64_t file_bytes_, content_bytes_ = 0, point_count_ = 0;
  bool marked_ = true;  // points tell whether they have a window
};

}  // namespace hemstitch
