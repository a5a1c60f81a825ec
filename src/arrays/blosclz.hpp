// BloscLZ, the codec of its own that Blosc has, and in which Blosc 2 stores the index of a frame whatever the codec of its chunks is. A byte pair format
// like FastLZ's; c-blosc2's blosclz.c is its only description.
#pragma once

#include <cstddef>
#include <span>

namespace hemstitch {

// Restores a block. False if it is damaged, or does not hold as much as `output` has room for.
bool restore_blosclz(std::span<const std::byte> input, std::span<std::byte> output);

}  // namespace hemstitch
