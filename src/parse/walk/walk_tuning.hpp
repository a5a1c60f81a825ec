// Numbers of the walk. They decide speed alone.
#pragma once

namespace hemstitch::cuda {

// Threads of a block, each with a tile of its own. One warp per scheduler of a multiprocessor: more tiles would
// make the hop from tile to tile, which one thread does, longer than the rest.
inline constexpr unsigned kWalkThreads = 128;

// Positions a tile. Small blocks get small tiles, so that all threads have one; larger tiles take fewer hops
// and more shared memory.
inline constexpr unsigned kWalkTileOfPages = 32;    // blocks of up to 4 KB: 16.5 KB of shared memory
inline constexpr unsigned kWalkTileOfBlocks = 64;   // larger ones: 33 KB

}  // namespace hemstitch::cuda
