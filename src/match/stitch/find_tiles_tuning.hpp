// Numbers of the device's finder (find_tiles.cuh). They decide speed, never bytes.
#pragma once

#include <cstdint>

namespace hemstitch::cuda {

// Positions that one thread block takes: the unit of parallelism in a large block. Each segment reads the window before
// it again, so half of this costs half as much again in loads.
inline constexpr std::uint32_t kSegmentPositions = 65536;

// Positions between barriers, and the threads that share them.
inline constexpr std::uint32_t kTilePositions = 1024;
inline constexpr std::uint32_t kTileThreads = 512;

// Thread blocks that a multiprocessor is to hold: the compiler keeps registers below what that allows.
inline constexpr int kThreadBlocks = 2;

// Steps of 32 positions that a warp which builds links has under way at once.
inline constexpr unsigned kLinkSteps = 4;

// Links stand in shared memory where two thread blocks with them fit a multiprocessor, or where a walk reads so many that
// one does better; else in device memory.
inline constexpr std::uint32_t kRingLinksWindowBytes = 32768;
inline constexpr std::uint32_t kRingLinksDepth = 16;

// Comparisons up to here read shared memory, beyond it device memory: the largest cap of the level table.
inline constexpr std::uint32_t kNearBytes = 64;

}  // namespace hemstitch::cuda
