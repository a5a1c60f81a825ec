// Numbers of hash_step, as evaluate and the batch interface use it. Sizes are those of the nine Silesia files in total, with
// these numbers as level 1 and one of them changed; "64 KB" and the like are independent blocks of that size.
#pragma once

#include <cstddef>
#include <cstdint>

#include "core/page.hpp"

namespace hemstitch {

// Where comparing stops before true lengths are found: a device compares four words. The stitch keeps the
// choice from mattering: 16 and 32 bytes differ by 8 bytes in 45.1 million at 64 KB, and 64 by none more.
inline constexpr std::uint32_t kHashStepCapBytes = 16;

// Entries are positions of 32 bits: 8 KB of workgroup memory for a page, 32 KB for a larger block.
//   4 KB pages:    10 bits 59.83 MB, 11 bits 59.18 MB, 12 bits 58.91 MB
//   64 KB blocks:  12 bits 46.61 MB (osdb falls below the ratio 1.914 asked of level 1), 13 bits 45.10 MB,
//                  14 bits 44.40 MB
//   256 KB blocks: 13 bits 43.13 MB, 14 bits 42.11 MB
// One bit more costs half of the blocks that a multiprocessor can hold.
constexpr unsigned hash_step_bits(std::size_t block_bytes) { return block_bytes <= kPageBytes ? 11 : 13; }

// Positions looked up before they are inserted: one to each lane of a warp, so that a step needs no barrier
// across warps. Larger groups would do too, at a price:
//   4 KB pages:    32 59.18 MB, 64 59.63 MB, 128 60.81 MB
//   64 KB blocks:  32 45.10 MB, 64 45.22 MB, 128 45.50 MB
inline constexpr std::uint32_t kHashStepGroupPositions = 32;

// How far the stitch carries a match back: as far as one word of four bytes can tell.
inline constexpr std::uint32_t kHashStepStitchReach = 4;

}  // namespace hemstitch
