// Numbers of the restoration of large blocks on a CUDA device. They decide speed, never bytes.
#pragma once

#include <cstdint>

namespace hemstitch::cuda {

// Warps, a block each, that are launched together. Few, so that a slow block holds little back.
#ifndef RB_WARPS
#define RB_WARPS 2
#endif
inline constexpr unsigned kLz4BlockWarps = RB_WARPS;
// Workgroups a multiprocessor shall hold: limits the registers.
#ifndef RB_RESIDENT
#define RB_RESIDENT 20
#endif
inline constexpr unsigned kLz4BlockResidency = RB_RESIDENT;

// Groups of 32 bytes of a tile: a lane gathers a byte of each at once. More hide latency, and cost registers.
#ifndef RB_STRIPES
#define RB_STRIPES 4
#endif
inline constexpr unsigned kLz4TileStripes = RB_STRIPES;

}  // namespace hemstitch::cuda
