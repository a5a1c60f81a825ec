// Numbers of the device's finder (find_tiles.cuh). They decide speed, never bytes.
#pragma once

#include <cstdint>

namespace hemstitch::cuda {

// Positions that one thread block takes: the unit of parallelism in a large block. Each segment reads the window before
// it again, so half of this costs half as much again in loads.
inline constexpr std::uint32_t kSegmentPositions = 65536;

// Positions between barriers, one a thread.
inline constexpr std::uint32_t kTilePositions = 1024;

// Thread blocks that a multiprocessor is to hold: the compiler keeps registers below what that allows.
inline constexpr int kThreadBlocks = 2;

// Comparisons up to here read shared memory, beyond it device memory: the largest cap of the level table.
inline constexpr std::uint32_t kNearBytes = 64;

}  // namespace hemstitch::cuda
