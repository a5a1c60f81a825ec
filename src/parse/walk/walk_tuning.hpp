// Numbers of the walk. They decide speed alone.
#pragma once

namespace hemstitch::cuda {

// Threads of a block, each with a tile of its own. One warp per scheduler of a multiprocessor: more tiles would
// make the hop from tile to tile, which one thread does, longer than the rest.
inline constexpr unsigned kWalkThreads = 128;

// Positions a tile: 16.5 KB of shared memory a block, so that 12 blocks share a multiprocessor. On an H200, blocks of
// 64 KB of the nine Silesia files, decisions stored beforehand: 16 give 330 GB/s, 32 430, 64 326. When decisions came one at a
// time, 24 gave 296 and 40 299, while 32 gave 352.
inline constexpr unsigned kWalkTilePositions = 32;

}  // namespace hemstitch::cuda
