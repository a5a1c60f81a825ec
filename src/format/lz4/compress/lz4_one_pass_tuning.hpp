// Numbers of level 1's compressor. They decide speed, never bytes.
#pragma once

#include <cstdint>

namespace hemstitch::cuda {

// Pages that a thread block works on, each by a warp of its own. With 1: 3 % slower, with 4: 6 %.
inline constexpr unsigned kPageWarps = 2;

// Warps with pages that a multiprocessor holds, by their shared memory: the compiler keeps registers below what that allows.
inline constexpr unsigned kPageWarpsResident = 22;

// Warps that share a tile of 64 KB, and such thread blocks that a multiprocessor holds, by their shared memory. As many warps as
// their registers allow: with 11 1 % slower, with 10 3 %.
inline constexpr unsigned kTileWarps = 12;
inline constexpr unsigned kTilesResident = 3;

// Such thread blocks where only bytes are written: the compiler keeps registers below what that allows. Without: 1.5 %.
inline constexpr unsigned kWritersResident = 4;

// Bytes before its segment of which such a warp works out what walks do: enough that most walks have met. With 512 1 % slower; with
// 256 too many walks have not met on xml and nci.
inline constexpr std::uint32_t kRunUpBytes = 384;

// Bytes of output that a warp puts together before it stores them: what 32 sequences of text fill, and half as much again.
inline constexpr std::uint32_t kPageStageBytes = 768;
inline constexpr std::uint32_t kSegmentStageBytes = 640;

// Literals that the lane of a sequence copies itself; more are copied by the whole warp.
inline constexpr std::uint32_t kLaneLiteralBytes = 16;

}  // namespace hemstitch::cuda
