// Numbers of hash_chain in the level table. Part of the definition of the levels: changing one changes bytes.
// Sizes are those of the nine Silesia files in total, from bench/lz4_block_sizes.cpp with one number changed; "64 KB" and
// the like are independent blocks of that size. Those of bits and caps were taken when the stitch reached 4 positions.
#pragma once

#include <cstddef>
#include <cstdint>

#include "core/page.hpp"

namespace hemstitch {

// Heads of 16 bits: 4 KB of workgroup memory for a page, 32 KB for a larger block.
//   4 KB pages, depth 4:     10 bits 57.39 MB, 11 bits 57.33 MB, 12 bits 57.30 MB
//   64 KB blocks, depth 4:   13 bits 41.77 MB, 14 bits 41.60 MB, 15 bits 41.54 MB
//   64 KB blocks, depth 64:  13 bits 40.38 MB, 14 bits 40.37 MB
//   256 KB blocks, depth 4:  14 bits 38.72 MB, 15 bits 38.60 MB, 16 bits 38.56 MB
constexpr unsigned hash_chain_bits(std::size_t block_bytes) { return block_bytes <= kPageBytes ? 11 : 14; }

// Where comparing stops before true lengths are found, at every depth of the levels. 64 KB blocks:
//   depth 4:   16 41.85 MB, 32 41.71 MB, 64 41.60 MB, 128 41.59 MB
//   depth 16:  32 40.86 MB, 64 40.69 MB, 128 40.67 MB
//   depth 64:  64 40.37 MB, 128 40.35 MB, 258 40.35 MB
// All of the difference comes from nci and xml, which are full of long matches: a nearer match of `cap` bytes ends the walk before
// a longer one. Doubling 64 once more costs 5 % of the time at depth 64. (At depth 1 there is nothing to choose from: 16 bytes give
// the same output as 32.)
inline constexpr std::uint32_t kHashChainCapBytes = 64;

// How far the stitch carries a match back, up to depth 16. Cost by the prices of founding document 000
// (docs/founding.md: 9 bits a literal, 25 a match, best parse) above that of every offset up to 32768, for a window of 32768, geometric mean
// over the nine Silesia files, at depths 1, 4 and 64:
//   4: 13.4, 5.3, 0.58 %; 6: 12.8, 5.1, 0.55 %; 8: 12.4, 4.9, 0.51 %; 16: 11.2, 4.4, 0.37 %
// LZ4, 64 KB blocks, depths 4, 16 and 64: 4 41.60, 40.69, 40.37 MB; 8 41.49, 40.65, 40.35 MB.
// On an H200 (find_device_bench, the files in one, found and parsed): 8 29.7, 21.4; 16 28.6, 20.7, 6.5 GB/s.
inline constexpr std::uint32_t kHashChainStitchReach = 8;

// The same at depth 64. There, twice as far costs no measurable time; at depths 1 and 4 it would cost a thirtieth of the speed. No
// block of the regression test became larger.
inline constexpr std::uint32_t kHashChainDeepStitchReach = 16;

// The hash width of blocks that have few values (hash_width.hpp), in blocks longer than 64 KB; shorter ones take a byte less. E.coli
// (4.64 MB), blocks of 256 KB, widths 4 to 8, by bench/lz4_block_sizes.cpp with one number changed:
//   depth 4:   2.454, 2.113, 1.878, 1.769, 1.831 MB
//   depth 8:   2.286, 1.989, 1.792, 1.732, 1.801 MB
//   depth 16:  2.133, 1.876, 1.730, 1.719, 1.797 MB
//   depth 64:  1.876, 1.717, 1.702, 1.717, 1.797 MB
// Its first million bytes, blocks of 64 KB, widths 5 to 7: depth 4 0.419, 0.415, 0.464 MB; 16 0.399, 0.410, 0.460; 64 0.395, 0.397, 0.410.
inline constexpr std::uint32_t kHashChainFewValuesBytes = 7;
inline constexpr std::uint32_t kHashChainDeepFewValuesBytes = 6;

// Levels 1 and 2, depth 1. The table is one bit smaller, since it is two thirds of what a warp that compresses a block takes of a
// multiprocessor. Comparisons take four words, and the reach is what four shuffles give. Ratios of seven files at 4 KB and 64 KB
// against a table that is looked up for 32 positions before they enter it: equal within 0.3 %, but for nci and xml at 4 KB, which
// are 1.5 % and 1 % better.
constexpr unsigned hash_chain_fast_bits(std::size_t block_bytes) {
  return block_bytes <= kPageBytes ? 11 : 13;
}
inline constexpr std::uint32_t kHashChainFastCapBytes = 16;
inline constexpr std::uint32_t kHashChainFastStitchReach = 4;

}  // namespace hemstitch
