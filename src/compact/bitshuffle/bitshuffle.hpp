// bitshuffle: sorts the bits of a buffer of elements by their place in the element, like HDF5's filter 32008
// (bitshuffle) and Blosc's filter of that name.
//
//   n elements of S bytes, n a multiple of 8         8 * S planes of n / 8 bytes
//   element i: bits 0 .. 8 * S - 1                   plane p: bit p of elements 0 .. n - 1
//
// Bit p of an element is bit p % 8 of its byte p / 8; bit i of a plane is bit i % 8 of its byte i / 8. Bits
// are counted from the lowest. So the first plane holds the lowest bits of the elements' first bytes. Where
// neighbouring numbers share most of their high bits, as detectors' counts do, whole planes are zeros or ones,
// and LZ4 finds that.
//
// A buffer is one block, or blocks of block_bytes bytes one after the other, each transposed by itself: the
// bitshuffle library works so, to stay in the processor's cache. The last block is shorter. Only multiples of
// 8 elements are transposed: the elements left over, and bytes that fill no element, are copied to the end
// unchanged. bitunshuffle reverses it. (Definition: the bitshuffle library, bshuf_bitshuffle(), where
// block_bytes are its block_size elements. Blosc 1 differs in one case: a block whose elements are no multiple
// of 8 is copied whole.)
//
// The twin is a loop over bits (bitshuffle_reference.cpp). bit_planes.cpp says how the processor does it fast,
// bitshuffle.cu how CUDA does.
#pragma once

#include "compact/shuffle/shuffle.hpp"

namespace hemstitch {

// Elements are transposed in multiples of so many: they fill a byte of a plane.
inline constexpr std::uint32_t kBitshuffleElements = 8;

// Throws kInvalidOption if elements have no bytes or too many, or if block_bytes is not a multiple of 8
// elements.
void check_bitshuffle_blocks(std::uint32_t element_bytes, std::size_t block_bytes);

// The twins of bitshuffle_bytes() and bitunshuffle_bytes(), on buffers that these have checked.
void bitshuffle_reference(std::span<const std::byte> source, std::uint32_t element_bytes,
                          std::size_t block_bytes, std::span<std::byte> target);
void bitunshuffle_reference(std::span<const std::byte> source, std::uint32_t element_bytes,
                            std::size_t block_bytes, std::span<std::byte> target);

}  // namespace hemstitch
