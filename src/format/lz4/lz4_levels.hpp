// The level table of LZ4: the finder and parse of each level, with their parameters, for every engine that
// writes the project's own bytes. Data only; changing a number here changes bytes everywhere at once.
//
//   levels  finder                        parse
//   1-2     hash_chain depth 1, stitch    lazy; pages without history: hash_pairs
//   3-5     hash_chain depth 4, stitch    optimal
//   6-8     hash_chain depth 8, stitch    optimal
//   9-11    hash_chain depth 16, stitch   optimal
//   12      hash_chain depth 64, stitch   optimal
//
// The stitch reaches 4 positions at levels 1 and 2, 16 at level 12, and 8 at the others. Levels 3 to 12 hash
// more than four bytes in blocks with few values. Table sizes depend on the frame's block size, never on the
// device.
#pragma once

#include <cstddef>

#include "format/lz4/compress/lz4_cost.hpp"
#include "match/finder_rows.hpp"
#include "match/hash_chain/hash_chain_tuning.hpp"
#include "parse/parse_rows.hpp"

namespace hemstitch {

using Lz4Parse = AnyParse<Lz4CostModel>;

struct Lz4Level {
  AnyFinder finder;
  Lz4Parse parse;
};

// `level` is 1..12; `block_bytes` is the block size of the frame, or of the pages of a batch; `history_bytes`
// is the most history of any block.
inline Lz4Level lz4_level(int level, std::size_t block_bytes, std::size_t history_bytes = 0) {
  if (level <= 2 && block_bytes <= kPageBytes && history_bytes == 0)
    return {HashPairsParameters{.hash_bits = kHashPairsBits}, LazyParse{}};
  if (level <= 2)
    return {HashChainParameters{.hash_bits = hash_chain_fast_bits(block_bytes),
                                .depth = 1,
                                .cap_bytes = kHashChainFastCapBytes,
                                .stitch_reach = kHashChainFastStitchReach},
            LazyParse{}};
  const std::uint32_t depth = level <= 5 ? 4 : level <= 8 ? 8 : level <= 11 ? 16 : 64;
  return {HashChainParameters{
              .hash_bits = hash_chain_bits(block_bytes),
              .depth = depth,
              .cap_bytes = kHashChainCapBytes,
              .stitch_reach = level <= 11 ? kHashChainStitchReach : kHashChainDeepStitchReach,
              .few_values_hash_bytes = level <= 11 ? kHashChainFewValuesBytes : kHashChainDeepFewValuesBytes},
          OptimalParse<Lz4CostModel>{}};
}

}  // namespace hemstitch
