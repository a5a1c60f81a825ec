// shuffle: sorts the bytes of a buffer of elements by their place in the element, like HDF5's filter of that
// name.
//
//   n elements of S bytes           S planes of n bytes           what fills no element
//   a0 a1 a2 a3  b0 b1 b2 b3 ...    a0 b0 ... a1 b1 ... a2 ...    unchanged, after them
//
// Numbers that are close to each other differ only in their low bytes. So the planes of high bytes repeat,
// and DEFLATE or LZ4 find that. unshuffle reverses it. A buffer keeps its size; buffers of a batch have any
// size and any alignment. (Definition: the HDF5 library's documentation of H5Pset_shuffle; leftover bytes as
// its filter and Blosc's keep them.)
//
// On the CPU, vectors of 16 bytes are interleaved (byte_planes.hpp, where the twin is, a plain loop). CUDA does
// it in tiles through shared memory (shuffle.cu).
#pragma once

#include "compact/shuffle/shuffle_tuning.hpp"
#include "hemstitch/compact.hpp"

namespace hemstitch {

// Throws kInvalidOption if elements have no bytes, or more than kMostElementBytes.
void check_element_bytes(std::uint32_t element_bytes);

}  // namespace hemstitch
