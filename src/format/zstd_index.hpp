// The index of an ordinary Zstandard file (.zstidx): points between two blocks, from which restoring can begin.
//
//   "ZSTIDX" 0 1 | size of the file, 8 bytes | of its content, 8 | how many points, 4 | XXH64 of all this and the
//   points, with zeros here, its lower 4 bytes
//   for each point: where it is in the file, 8 | and in the content, 8 | the frame's window, 8 | the last three offsets,
//   12 | bytes of content before it, 4 | bytes that these take in the index, 4 | XXH64 of the next 64 bytes of the
//   file, its lower 4 | whether the frame has a checksum, 0 or 1, and 256 times the bytes of a Huffman tree, 4
//   for each point, in order: a frame of Zstandard: the tree's description, and the content before it
//
// Of the content before a point there are only the bytes that matches reach up to the next point; others are zeros. A
// point has no tables of sequences: it is where no later block uses one from before. Numbers are little-endian.
//
// What is between two points is restored by libzstd: the content before a point, with its offsets and its tree, is a
// dictionary (RFC 8878, section 5) whose other tables nothing uses.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "core/random_access.hpp"
#include "core/source.hpp"
#include "format/stream_decoder.hpp"

namespace hemstitch {

inline constexpr std::string_view kZstdIndexSuffix = ".zstidx";

struct ZstdIndexedPoint {
  std::uint64_t at = 0;  // of a block's header, in the file
  std::uint64_t content_at = 0;
  std::uint64_t window_bytes = 0;
  std::array<std::uint32_t, 3> repeats{};
  std::uint32_t history_bytes = 0, tree_bytes = 0, stored_bytes = 0;
  std::uint32_t proof = 0;  // checksum of the file's next bytes
  bool has_checksum = false;
  std::uint64_t stored_at = 0;  // in the index
};

// The index of a source that can seek and was found whole. Restores it again. Points are so far apart that the index
// takes at most 3 % of the file, and a little for the first point. The bytes do not depend on `threads`. Throws kUnsupportedFeature for a seekable file, which
// needs none, and Error as index_frames() does.
std::vector<std::byte> make_zstd_index(Source& source, unsigned threads);
// The most bytes of an index for a file of this size.
std::uint64_t most_zstd_index_bytes(std::uint64_t file_bytes);

// Reads an index. Damage is found, and so is, with few exceptions, an index of another file.
class ZstdIndexReader {
 public:
  // Nothing if this is not the index of a file of that size.
  static std::optional<ZstdIndexReader> of(Source& index, std::uint64_t file_bytes);

  std::uint64_t content_bytes() const { return content_bytes_; }
  // In order; the first one is at the beginning of the content, unless the file has none.
  std::span<const ZstdIndexedPoint> points() const { return points_; }
  // The last point at or before that byte of the content; null if there are none.
  const ZstdIndexedPoint* nearest(std::uint64_t content_at) const;
  // What restores from a point on, given the file from point.at on. Nothing if the index is damaged, or `file` has
  // other bytes there. Both sources change their positions.
  static std::unique_ptr<StreamDecoder> decoder_at(Source& index, const ZstdIndexedPoint& point,
                                                   Source& file);

 private:
  std::uint64_t content_bytes_ = 0;
  std::vector<ZstdIndexedPoint> points_;
};

}  // namespace hemstitch
