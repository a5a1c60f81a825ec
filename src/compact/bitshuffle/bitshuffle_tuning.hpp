// Numbers of bitshuffle on devices. They decide speed alone.
#pragma once

#include <cstdint>

namespace hemstitch {

// Bytes of a tile, what a thread block of CUDA moves at once: a block as the bitshuffle library makes it, and 32 bytes a thread.
inline constexpr std::uint32_t kBitshuffleTileBytes = 8 * 1024;
inline constexpr unsigned kBitshuffleThreads = 256;

// Thread blocks of a launch for each multiprocessor: four times those that one holds.
inline constexpr unsigned kBitshuffleBlocks = 8 * 4;

}  // namespace hemstitch
