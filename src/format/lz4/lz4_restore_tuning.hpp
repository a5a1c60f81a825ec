// Numbers of LZ4 restoration on CUDA. They decide speed alone.
#pragma once

#include <cstdint>

namespace hemstitch::cuda {

// Pages that share a thread block: each block costs 1 KB of shared memory besides what it asks for.
inline constexpr unsigned kLz4PagesPerBlock = 4;

// Pieces of a page that are kept at a time, 2 bytes each. A page may have 1639; of text it has some 730, and what is
// over is found once more. With 896, eight thread blocks of four pages share the shared memory of an H200's
// multiprocessor.
inline constexpr std::uint32_t kLz4PagePieces = 896;

// Windows of 32 bytes whose pieces are looked up together.
inline constexpr unsigned kLz4PageGroup = 4;

}  // namespace hemstitch::cuda
