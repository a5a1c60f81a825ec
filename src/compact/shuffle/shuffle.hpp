// shuffle: the bytes of a buffer of elements sorted by their place in the element, as HDF5's filter of that name does it.
//
//   n elements of S bytes           S planes of n bytes           what fills no element
//   a0 a1 a2 a3  b0 b1 b2 b3 ...    a0 b0 ... a1 b1 ... a2 ...    as it is, behind them
//
// Numbers that lie close to each other differ in their low bytes alone: planes of the high ones then repeat, and DEFLATE or LZ4
// find that. unshuffle is the way back. A buffer keeps its size; buffers of a batch have any size and any alignment.
// (Definition: the HDF5 library's documentation of H5Pset_shuffle; leftover bytes as its filter and Blosc's keep them.)
//
// On the CPU a plain loop, which is the twin of what devices do: on CUDA tiles through shared memory (shuffle.cu), on WebGPU
// vector by vector (shuffle.wgsl).
#pragma once

#include "compact/shuffle/shuffle_tuning.hpp"
#include "hemstitch/compact.hpp"

namespace hemstitch {

// Throws kInvalidOption for elements of no bytes, or more than kMostElementBytes.
void check_element_bytes(std::uint32_t element_bytes);

}  // namespace hemstitch
