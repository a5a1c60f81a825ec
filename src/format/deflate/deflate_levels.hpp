// The level table of DEFLATE: how a chunk is searched, parsed and cut, for every engine that writes the
// project's own bytes; beside it, what the processor's libraries are asked for. Data only; changing a number
// here changes bytes everywhere at once.
//
// Every level stitches over 16 positions. deflate_tuning.hpp has the other numbers, and how they were chosen.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "format/deflate/compress/deflate_tuning.hpp"
#include "match/hash_chain/hash_chain.hpp"
#include "match/near_three/near_three.hpp"

namespace hemstitch {

// What the processor's path asks a library for: ISA-L's level 2, or a level of libdeflate.
struct DeflateLibraryLevel {
  enum class Library { kIsal, kLibdeflate } library;
  int level;
};

// One row a level.
struct DeflateLevelRow {
  std::uint32_t chain_depth, chain_cap_bytes, near_depth;
  unsigned pass_count;                // parses of each chunk
  bool splits;                        // a chunk may become several blocks
  DeflateLibraryLevel stream, alone;  // the processor: for a part of a stream, and for a stream of its own
};

namespace deflate_levels {

inline constexpr DeflateLibraryLevel kIsal{DeflateLibraryLevel::Library::kIsal, 2};
constexpr DeflateLibraryLevel libdeflate(int level) {
  return {DeflateLibraryLevel::Library::kLibdeflate, level};
}

}  // namespace deflate_levels

// A stream of its own, as in BGZF: bgzip's default, 6, is libdeflate's 7, and no walk is needed.
inline constexpr std::array<DeflateLevelRow, 12> kDeflateLevels = [] {
  using deflate_levels::kIsal, deflate_levels::libdeflate;
  constexpr std::uint32_t kCap = kDeflateCapBytes, kDeep = kDeflateDeepCapBytes;
  return std::array<DeflateLevelRow, 12>{{
      // The fastest: one candidate.
      {1, kCap, 1, 1, false, kIsal, kIsal},                  // 1
      {1, kCap, 1, 1, false, libdeflate(1), libdeflate(2)},  // 2
      // One pass with prices guessed.
      {4, kCap, 4, 1, false, libdeflate(3), libdeflate(3)},  // 3
      {4, kCap, 4, 1, false, libdeflate(4), libdeflate(5)},  // 4
      {4, kCap, 4, 1, false, libdeflate(5), libdeflate(6)},  // 5
      // The default. The second pass has the prices of the first one's codes.
      {4, kCap, 4, 2, false, libdeflate(6), libdeflate(7)},  // 6
      {4, kCap, 4, 2, false, libdeflate(7), libdeflate(8)},  // 7
      {4, kCap, 4, 2, false, libdeflate(8), libdeflate(9)},  // 8
      // The third pass gains 0.2 % on the nine Silesia files and 2.3 % on E.coli, whose four letters have the
      // shortest codes, which the first prices do not anticipate. With a depth of 16, reads with qualities
      // (FASTQ) would be 1.2 % larger than with `gzip -9`; with 20 they are 0.8 % larger.
      {20, kDeep, 8, 3, false, libdeflate(9), libdeflate(10)},   // 9
      {20, kDeep, 8, 3, false, libdeflate(10), libdeflate(11)},  // 10
      {20, kDeep, 8, 3, false, libdeflate(11), libdeflate(12)},  // 11
      // As small as it gets: more candidates, one pass more, and chunks that may be split.
      {64, kDeep, 16, 4, true, libdeflate(12), libdeflate(12)},  // 12
  }};
}();

struct DeflateLevel {
  HashChainParameters finder;
  NearThreeParameters near;
  unsigned pass_count = 1;
  bool splits = false;
};

// `level` is 1..12.
inline DeflateLevel deflate_level(int level) {
  const DeflateLevelRow& row = kDeflateLevels[static_cast<std::size_t>(level - 1)];
  return {.finder = {.hash_bits = kDeflateChainHashBits,
                     .depth = row.chain_depth,
                     .cap_bytes = row.chain_cap_bytes,
                     .window_bytes = kDeflateWindowBytes,
                     .stitch_reach = kDeflateStitchReach},
          .near = {.depth = row.near_depth, .window_bytes = kDeflateWindowBytes},
          .pass_count = row.pass_count,
          .splits = row.splits};
}

}  // namespace hemstitch
