// Hemstitch's compaction: many buffers brought together in one span, and given out again; and bytes of numbers sorted for compressing.
//
//   std::vector<std::uint64_t> offsets(sizes.size() + 1);
//   std::vector<std::byte> span(hemstitch::scan_sizes(sizes, offsets));
//   hemstitch::gather_pieces(sources, sizes, std::span(offsets).first(sizes.size()), span);
//
// Work is divided by bytes over all cores, never by pieces: one large piece among a million small ones does not set the
// time. For CUDA devices all of these stand in batch.h (hemstitch_scan_async and its neighbours).
//
// Errors are thrown as hemstitch::Error. Thread safety: any number of calls at once.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "hemstitch/hemstitch.hpp"

namespace hemstitch {

// offsets[i] = sizes[0] + ... + sizes[i-1], and one element more, the total, which is returned. Throws kInvalidOption
// where `offsets` has not one element more than `sizes`.
HEMSTITCH_API std::uint64_t scan_sizes(std::span<const std::uint32_t> sizes,
                                       std::span<std::uint64_t> offsets);

// Copies sizes[i] bytes from sources[i] to output + offsets[i]. Offsets ascend; pieces may have gaps between them in
// `output`, which keep their contents, and must not overlap there. Throws kInvalidOption for different counts or
// descending offsets, kOutputTooSmall where a piece does not fit.
HEMSTITCH_API void gather_pieces(std::span<const std::byte* const> sources,
                                 std::span<const std::uint32_t> sizes, std::span<const std::uint64_t> offsets,
                                 std::span<std::byte> output);

// Copies sizes[i] bytes from input + offsets[i] to targets[i], which must not overlap. Offsets ascend. Throws
// kInvalidOption for different counts or descending offsets, kOutputTooSmall where a piece is not inside `input`.
HEMSTITCH_API void scatter_pieces(std::span<const std::byte> input, std::span<const std::uint64_t> offsets,
                                  std::span<const std::uint32_t> sizes, std::span<std::byte* const> targets);

// HDF5's shuffle filter: n elements of element_bytes bytes each become as many planes of n bytes, the first one of all first
// bytes; bytes that fill no element are copied behind them. unshuffle_bytes() is the way back. element_bytes is 1..256. Source and target must
// not overlap. One thread: programs with many buffers call it for many at once. Throws kInvalidOption where sizes differ.
HEMSTITCH_API void shuffle_bytes(std::span<const std::byte> source, std::uint32_t element_bytes,
                                 std::span<std::byte> target);
HEMSTITCH_API void unshuffle_bytes(std::span<const std::byte> source, std::uint32_t element_bytes,
                                   std::span<std::byte> target);

}  // namespace hemstitch
