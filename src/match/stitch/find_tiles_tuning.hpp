// Numbers of the device's finder (find_tiles.cuh). They decide speed, never bytes.
#pragma once

#include <cstdint>

namespace hemstitch::cuda {

// Positions that one thread block takes: the unit of parallelism in a large block. Each segment reads the window before it again,
// so half of this would take half as many loads more.
inline constexpr std::uint32_t kSegmentPositions = 65536;

// Positions between barriers, and the threads that share them.
inline constexpr std::uint32_t kTilePositions = 1024;
inline constexpr std::uint32_t kTileThreads = 512;  // with 1024: 6% slower at depth 4, 2% at depth 1

// Thread blocks that a multiprocessor should hold: the compiler keeps registers below what that allows.
inline constexpr int kThreadBlocks = 2;

// Steps of 32 positions that a warp that builds links has in flight at once.
inline constexpr unsigned kLinkSteps = 4;

// Segments that such a warp takes one after the other, as long as there are at least this many warps: four times what the largest
// device holds.
inline constexpr std::uint32_t kMostSegmentsPerWarp = 8;
inline constexpr std::uint32_t kLeastWarps = 3696;

// Links are in shared memory if two thread blocks with them fit a multiprocessor, or if a walk reads so many links that one thread
// block is faster; else in device memory.
inline constexpr std::uint32_t kRingLinksWindowBytes = 32768;
inline constexpr std::uint32_t kRingLinksDepth = 16;

// Comparisons read shared memory up to this length, and device memory beyond: the largest cap of LZ4's level table.
inline constexpr std::uint32_t kNearBytes = 64;
// The same for larger caps, as long as two thread blocks still fit a multiprocessor: the largest cap of DEFLATE's levels, 258.
inline constexpr std::uint32_t kDeepNearBytes = 268;

}  // namespace hemstitch::cuda
