// Numbers of level 1's compressor. They decide speed, never bytes.
#pragma once

#include <cstdint>

namespace hemstitch::cuda {

// Pages that a thread block works on, each by a warp of its own. With 1: 3 % slower, with 4: 6 %.
inline constexpr unsigned kPageWarps = 2;

// Warps with pages that a multiprocessor holds, by their shared memory: the compiler keeps registers below what that allows.
inline constexpr unsigned kPageWarpsResident = 22;

// Warps that share a tile of 64 KB, and how many such thread blocks a multiprocessor holds, by their shared memory. There are as
// many warps as their registers allow: 11 are 1 % slower, 10 are 3 %.
inline constexpr unsigned kTileWarps = 12;
inline constexpr unsigned kTilesResident = 3;

// The same for thread blocks that only write bytes: the compiler keeps registers below what that allows. Without this limit: 1.5 % slower.
inline constexpr unsigned kWritersResident = 4;

// Bytes of a warp's run-up before its segment: enough that most walks have met the true one. With 512 it is 1 % slower; with 256
// too many walks have not met on xml and nci.
inline constexpr std::uint32_t kRunUpBytes = 384;

// Bytes of output that a warp assembles before it stores them: one and a half times what 32 sequences of text take.
inline constexpr std::uint32_t kPageStageBytes = 768;
inline constexpr std::uint32_t kSegmentStageBytes = 640;

// Literals that the lane of a sequence copies itself; more are copied by the whole warp.
inline constexpr std::uint32_t kLaneLiteralBytes = 16;

}  // namespace hemstitch::cuda
