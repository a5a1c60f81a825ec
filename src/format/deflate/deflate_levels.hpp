// The level table of DEFLATE: how a chunk is searched, parsed and cut, for every engine that writes the
// project's own bytes. Data only; changing a number here changes bytes everywhere at once.
//
//   levels            hash_chain depth   near_three depth   passes
//   1-2               1                  1                  1
//   3-5               4                  4                  1
//   6-8 (default: 6)  4                  4                  2
//   9-11              20                 8                  3
//   12                64                 16                 4, and chunks may be split
//
// The third pass of levels 9 to 11 gains 0.2 % on the nine Silesia files and 2.3 % on E.coli, whose four
// letters have the shortest codes, which the first prices do not anticipate. With a depth of 16, reads with
// qualities (FASTQ) would be 1.2 % larger than with `gzip -9`; with 20 they are 0.8 % larger.
//
// Every level stitches over 16 positions. deflate_tuning.hpp has the numbers, and how they were chosen.
#pragma once

#include "format/deflate/compress/deflate_tuning.hpp"
#include "match/hash_chain/hash_chain.hpp"
#include "match/near_three/near_three.hpp"

namespace hemstitch {

struct DeflateLevel {
  HashChainParameters finder;
  NearThreeParameters near;
  unsigned pass_count = 1;  // parses of each chunk
  bool splits = false;      // a chunk may become several blocks
};

// `level` is 1..12.
inline DeflateLevel deflate_level(int level) {
  const auto chain = [](std::uint32_t depth, std::uint32_t cap_bytes) {
    return HashChainParameters{.hash_bits = kDeflateChainHashBits,
                               .depth = depth,
                               .cap_bytes = cap_bytes,
                               .window_bytes = kDeflateWindowBytes,
                               .stitch_reach = kDeflateStitchReach};
  };
  const auto near = [](std::uint32_t depth) {
    return NearThreeParameters{.depth = depth, .window_bytes = kDeflateWindowBytes};
  };
  if (level <= 2) return {.finder = chain(1, kDeflateCapBytes), .near = near(1), .pass_count = 1};
  if (level <= 5) return {.finder = chain(4, kDeflateCapBytes), .near = near(4), .pass_count = 1};
  if (level <= 8) return {.finder = chain(4, kDeflateCapBytes), .near = near(4), .pass_count = 2};
  if (level <= 11) return {.finder = chain(20, kDeflateDeepCapBytes), .near = near(8), .pass_count = 3};
  return {.finder = chain(64, kDeflateDeepCapBytes), .near = near(16), .pass_count = 4, .splits = true};
}

}  // namespace hemstitch
