// Numbers of the encoder on a device. They decide speed, never bytes.
#pragma once

#include <cstdint>

namespace hemstitch::cuda {

// Threads that share a block; each takes one sequence of a tile.
inline constexpr unsigned kEncodeThreads = 256;

// Bytes of a tile that are assembled in shared memory: twice what 256 sequences of text take. A larger tile,
// which is mostly literals, goes straight to its place.
inline constexpr std::uint32_t kEncodeStageBytes = 8192;

// Literals that the thread of a sequence copies itself; more are copied by its warp, and more than the second number by
// the whole thread block.
inline constexpr std::uint32_t kThreadLiteralBytes = 24;
inline constexpr std::uint32_t kWarpLiteralBytes = 2048;

}  // namespace hemstitch::cuda
