// Numbers of shuffle and unshuffle. All but the largest element decide speed alone.
#pragma once

#include <cstdint>

namespace hemstitch {

// The largest element, in bytes: more than Blosc's. HDF5 has no limit, but its numbers have at most 16 bytes.
inline constexpr std::uint32_t kMostElementBytes = 256;

// Bytes of a tile, what a thread block of CUDA moves at once: 64 a thread, so that a multiprocessor of 2048 threads has more than
// enough loads on their way, and planes of elements of 16 bytes come in runs of 1024 bytes.
inline constexpr std::uint32_t kShuffleTileBytes = 16 * 1024;
inline constexpr unsigned kShuffleThreads = 256;

// Thread blocks of a launch, whatever there is to move: four times those that an H200's 132 multiprocessors hold, so that the last
// ones are short. The host does not know how many bytes there are; those without a tile end at once.
inline constexpr unsigned kShuffleBlocks = 132 * 4 * 4;

// Elements of a tile: a multiple of 16.
constexpr std::uint32_t shuffle_tile_elements(std::uint32_t element_bytes) {
  return kShuffleTileBytes / element_bytes / 16 * 16;
}
static_assert(shuffle_tile_elements(kMostElementBytes) > 0);

}  // namespace hemstitch
