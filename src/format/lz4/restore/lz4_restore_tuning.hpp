// Numbers of LZ4 restoration on CUDA. They decide speed alone.
#pragma once

#include <cstdint>

namespace hemstitch::cuda {

// Measured on an H200, 2 GB of pages in flight, seven files of silesia, harmonic means (docs/decisions/lz4-pages.md).

// Pages that share a thread block: each block costs 1 KB of shared memory besides what it asks for. 1, 2, 4 and 8 gave
// 450, 448, 454 and 443 GB/s.
inline constexpr unsigned kLz4PagesPerBlock = 4;

// Pieces of a page that are kept at a time, 2 bytes each. A page may have 1639; of text it has some 730, and what is
// over is found once more. With 896, eight thread blocks of four pages share the shared memory of an H200's
// multiprocessor; with 1024, seven, and 454 GB/s become 421.
inline constexpr std::uint32_t kLz4PagePieces = 896;

// Windows of 32 bytes whose pieces are looked up together: 2, 4 and 8 gave 445, 454 and 451 GB/s.
inline constexpr unsigned kLz4PageGroup = 4;

// Rounds of the walk in which every lane that began wrong walks again. Where more are needed, the guesses were no good
// (random bytes), and only the first lane that began wrong walks on. Counted on the CPU, steps of a warp a page: 2, 4
// and 6 rounds take 129, 119 and 120 on mr, where it matters most.
inline constexpr unsigned kLz4GuessingRounds = 4;

// Batches of fewer pages than this are few: an H200 holds as many with their tables. At 1000 pages 130 GB/s for 102, at 500
// 68 for 53.
inline constexpr std::uint64_t kLz4FewPages = 132 * 14;

// Blocks of at least so many sixteenths of their room are made of literals, mostly; their few sequences are read one
// after the other, in so many rounds of 32, unless a round does not reach its part of the block. x-ray: 485 GB/s without;
// 2, 4, 8 and 16 rounds gave 1024, 1113, 1131 and 1140.
inline constexpr std::uint32_t kLz4FewSixteenths = 15;
inline constexpr unsigned kLz4FewRounds = 8;

// Pages whose pieces are longer than this on average, in bytes, are looked through for groups of windows that lie in one
// piece; so many groups are copied together.
inline constexpr std::uint32_t kLz4LongPieceBytes = 48;
inline constexpr unsigned kLz4GroupsTogether = 4;

}  // namespace hemstitch::cuda
