// Numbers of the search on CUDA. They decide speed alone.
#pragma once

#include <cstdint>

namespace hemstitch {

// Threads of a block: eight warps that know nothing of each other.
inline constexpr unsigned kSearchThreads = 256;

// Words of 16 bytes that a lane has under way at once: 2 KB a warp, so that a multiprocessor's warps keep more loads in
// flight than its memory's delay.
inline constexpr unsigned kSearchRows = 4;

// Positions of a warp's tile: what one count, and one place in the result, stand for.
inline constexpr std::uint32_t kSearchTileBytes = 8192;

}  // namespace hemstitch
