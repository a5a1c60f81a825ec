// Numbers of the search on CUDA. They decide speed alone.
#pragma once

#include <cstdint>

namespace hemstitch {

// Threads of a block: eight independent warps.
inline constexpr unsigned kSearchThreads = 256;

// Words of 16 bytes that a lane has in flight at once: 2 KB a warp, so that a multiprocessor's warps keep enough loads in flight to
// hide the memory's delay.
inline constexpr unsigned kSearchRows = 4;

// Positions of a warp's tile, which has one count and one place in the result.
inline constexpr std::uint32_t kSearchTileBytes = 8192;

}  // namespace hemstitch
