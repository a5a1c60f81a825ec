// Numbers of LZ4 restoration on CUDA. They decide speed alone.
#pragma once

#include <cstdint>

namespace hemstitch::cuda {

// Measured on an H200, 2 GB of pages in flight, seven files of silesia, harmonic means (docs/decisions/lz4-pages.md).

// Pages that share a thread block: each block costs 1 KB of shared memory besides what it asks for. 1, 2, 4 and 8 gave
// 450, 448, 454 and 443 GB/s.
inline constexpr unsigned kLz4PagesPerBlock = 4;

// Pieces of a page that are kept at a time, 2 bytes each. A page may have 1639, one of text has some 730; those that do not fit are
// found again later. With 896, eight thread blocks of four pages share the shared memory of an H200's multiprocessor; with 1024,
// seven, and 454 GB/s become 421.
inline constexpr std::uint32_t kLz4PagePieces = 896;

// Windows of 32 bytes whose pieces are looked up together: 2, 4 and 8 gave 445, 454 and 451 GB/s.
inline constexpr unsigned kLz4PageGroup = 4;

// Rounds of the walk in which every lane that began wrong walks again. If more are needed, the guesses were useless (random bytes),
// and only the first lane that began wrong walks on. Counted on the CPU, steps of a warp a page: 2, 4 and 6 rounds take 129, 119
// and 120 on mr, where it matters most.
inline constexpr unsigned kLz4GuessingRounds = 4;

// Batches of fewer pages than this count as few: an H200 holds as many with their tables. Tables give 130 instead of 102 GB/s at
// 1000 pages, and 68 instead of 53 at 500.
inline constexpr std::uint64_t kLz4FewPages = 132 * 14;

// Blocks of at least this many sixteenths of their room consist mostly of literals. Their few sequences are read one after the
// other, in this many rounds of 32, unless a round does not reach its part of the block. x-ray: 485 GB/s without; 2, 4, 8 and 16
// rounds gave 1024, 1113, 1131 and 1140.
inline constexpr std::uint32_t kLz4FewSixteenths = 15;
inline constexpr unsigned kLz4FewRounds = 8;

// Pages whose pieces are longer than this on average, in bytes, are searched for groups of windows that lie in one piece; this many
// groups are copied together.
inline constexpr std::uint32_t kLz4LongPieceBytes = 48;
inline constexpr unsigned kLz4GroupsTogether = 4;

}  // namespace hemstitch::cuda
