// Numbers of window_index's kernel. None of them changes a result.
#pragma once

#include <cstdint>

namespace hemstitch::cuda {

// Positions that a workgroup indexes. Each candidate of the window is looked up once a group, so a larger group means
// fewer lookups a byte: 5 at 1024 with a window of 4096. At most kMaxIndexedPositions.
inline constexpr std::uint32_t kIndexedPositions = 1024;

// Threads of that workgroup.
inline constexpr std::uint32_t kIndexThreads = 256;

// Heads of the table: four an indexed position, 16 KB, so that few lookups meet a position with other bytes.
inline constexpr std::uint32_t kIndexBits = 12;

// The index is rebuilt when more than this part of its positions are done. That costs about as much as a round of candidates on
// text.
inline constexpr std::uint32_t kRebuildFraction = 8;

}  // namespace hemstitch::cuda
