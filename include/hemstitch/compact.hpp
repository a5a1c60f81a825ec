// Hemstitch's compaction: many buffers are gathered into one span, and scattered from it again. And the
// filters shuffle and bitshuffle, which reorder the bytes or bits of numbers so that they compress better, and delta, which
// makes differences of them.
//
//   std::vector<std::uint64_t> offsets(sizes.size() + 1);
//   std::vector<std::byte> span(hemstitch::scan_sizes(sizes, offsets));
//   hemstitch::gather_pieces(sources, sizes, std::span(offsets).first(sizes.size()), span);
//
// Work is divided by bytes over all cores, never by pieces: one large piece among a million small ones does
// not determine the duration. For CUDA devices the same functions are in batch.h (hemstitch_scan_async() and
// those after it).
//
// Errors are thrown as hemstitch::Error. Thread safety: any number of threads may call these at once.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "hemstitch/hemstitch.hpp"

namespace hemstitch {

// offsets[i] = sizes[0] + ... + sizes[i-1]. `offsets` has one element more than `sizes`, else the function
// throws kInvalidOption. The last element is the total, which is also returned.
HEMSTITCH_API std::uint64_t scan_sizes(std::span<const std::uint32_t> sizes,
                                       std::span<std::uint64_t> offsets);

// Copies sizes[i] bytes from sources[i] to output + offsets[i]. Offsets ascend. Pieces must not overlap in
// `output`; gaps between them are unchanged. Throws kInvalidOption if counts differ, offsets descend or a
// source overlaps the output, kOutputTooSmall if a piece does not fit.
HEMSTITCH_API void gather_pieces(std::span<const std::byte* const> sources,
                                 std::span<const std::uint32_t> sizes, std::span<const std::uint64_t> offsets,
                                 std::span<std::byte> output);

// Copies sizes[i] bytes from input + offsets[i] to targets[i]. Targets must not overlap. Offsets ascend.
// Throws kInvalidOption if counts differ, offsets descend or a target overlaps the input, kOutputTooSmall if a
// piece is not inside `input`.
HEMSTITCH_API void scatter_pieces(std::span<const std::byte> input, std::span<const std::uint64_t> offsets,
                                  std::span<const std::uint32_t> sizes, std::span<std::byte* const> targets);

// HDF5's shuffle filter. It turns n elements of element_bytes bytes into element_bytes planes of n bytes:
// first the first bytes of all elements, then their second bytes, and so on. Bytes left over after the last
// whole element are copied to the end. unshuffle_bytes() reverses it. element_bytes is 1..256. Source and
// target must not overlap. Runs on the calling thread: programs with many buffers can call it from many
// threads. Throws kInvalidOption if the sizes of source and target differ, or if they overlap.
HEMSTITCH_API void shuffle_bytes(std::span<const std::byte> source, std::uint32_t element_bytes,
                                 std::span<std::byte> target);
HEMSTITCH_API void unshuffle_bytes(std::span<const std::byte> source, std::uint32_t element_bytes,
                                   std::span<std::byte> target);

// HDF5's bitshuffle filter (32008) and Blosc's. It turns n elements of element_bytes bytes into 8 *
// element_bytes planes of n / 8 bytes: first the lowest bits of all elements' first bytes, 8 elements a byte,
// the first in its lowest bit; then the next bits, and so on. It does so for each block of block_bytes bytes
// by itself; the last block is shorter. block_bytes is a multiple of 8 elements; 0 makes everything one block.
// Elements beyond the last multiple of 8, and bytes that fill no element, are copied to the end.
// bitunshuffle_bytes() reverses it. Everything else is as with shuffle_bytes(); throws kInvalidOption for
// other block_bytes too.
HEMSTITCH_API void bitshuffle_bytes(std::span<const std::byte> source, std::uint32_t element_bytes,
                                    std::size_t block_bytes, std::span<std::byte> target);
HEMSTITCH_API void bitunshuffle_bytes(std::span<const std::byte> source, std::uint32_t element_bytes,
                                      std::size_t block_bytes, std::span<std::byte> target);

// numcodecs' filter delta for integers: each element becomes its difference from the one before, modulo 256 to the power
// of element_bytes, which is 1, 2, 4 or 8; the first one stays. Elements are little-endian. undelta_bytes() reverses it.
// Everything else is as with shuffle_bytes().
HEMSTITCH_API void delta_bytes(std::span<const std::byte> source, std::uint32_t element_bytes,
                               std::span<std::byte> target);
HEMSTITCH_API void undelta_bytes(std::span<const std::byte> source, std::uint32_t element_bytes,
                                 std::span<std::byte> target);

}  // namespace hemstitch
