// The level table of LZ4: the finder and parse of each level, with their parameters, for every engine that
// writes the project's own bytes. Data only; changing a number here changes bytes everywhere at once. The
// processor's levels are liblz4's: those below 3 are its fast compressor, the others its levels of the same
// number.
//
// Levels 1 and 2 take pages without history by hash_pairs. Table sizes depend on the frame's block size, never on
// the device.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

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

// One row a level. `few_values_hash_bytes`: in blocks with few values, hashes cover so many bytes; 0: four always.
struct Lz4LevelRow {
  bool optimal;  // the parse; else it is lazy, and the tables are small
  std::uint32_t depth, cap_bytes, stitch_reach, few_values_hash_bytes;
};

inline constexpr std::array<Lz4LevelRow, 12> kLz4Levels{{
    // The fastest: one candidate, and the tables that let most warps share a multiprocessor.
    {false, 1, kHashChainFastCapBytes, kHashChainFastStitchReach, 0},  // 1
    {false, 1, kHashChainFastCapBytes, kHashChainFastStitchReach, 0},  // 2
    // The optimal parse with few candidates: the nine Silesia files in blocks of 64 KB take 41.5 MB.
    {true, 4, kHashChainCapBytes, kHashChainStitchReach, kHashChainFewValuesBytes},  // 3
    {true, 4, kHashChainCapBytes, kHashChainStitchReach, kHashChainFewValuesBytes},  // 4
    {true, 4, kHashChainCapBytes, kHashChainStitchReach, kHashChainFewValuesBytes},  // 5
    // Between the two.
    {true, 8, kHashChainCapBytes, kHashChainStitchReach, kHashChainFewValuesBytes},  // 6
    {true, 8, kHashChainCapBytes, kHashChainStitchReach, kHashChainFewValuesBytes},  // 7
    {true, 8, kHashChainCapBytes, kHashChainStitchReach, kHashChainFewValuesBytes},  // 8
    // 40.7 MB.
    {true, 16, kHashChainCapBytes, kHashChainStitchReach, kHashChainFewValuesBytes},  // 9
    {true, 16, kHashChainCapBytes, kHashChainStitchReach, kHashChainFewValuesBytes},  // 10
    {true, 16, kHashChainCapBytes, kHashChainStitchReach, kHashChainFewValuesBytes},  // 11
    // 40.4 MB: what more candidates still find. The reach is twice as far, which costs nothing beside them.
    {true, 64, kHashChainCapBytes, kHashChainDeepStitchReach, kHashChainDeepFewValuesBytes},  // 12
}};

// `level` is 1..12; `block_bytes` is the block size of the frame, or of the pages of a batch; `history_bytes`
// is the most history of any block.
inline Lz4Level lz4_level(int level, std::size_t block_bytes, std::size_t history_bytes = 0) {
  const Lz4LevelRow& row = kLz4Levels[static_cast<std::size_t>(level - 1)];
  if (!row.optimal && block_bytes <= kPageBytes && history_bytes == 0)
    return {HashPairsParameters{.hash_bits = kHashPairsBits}, LazyParse{}};
  const HashChainParameters chain{
      .hash_bits = row.optimal ? hash_chain_bits(block_bytes) : hash_chain_fast_bits(block_bytes),
      .depth = row.depth,
      .cap_bytes = row.cap_bytes,
      .stitch_reach = row.stitch_reach,
      .few_values_hash_bytes = row.few_values_hash_bytes};
  if (row.optimal) return {chain, OptimalParse<Lz4CostModel>{}};
  return {chain, LazyParse{}};
}

}  // namespace hemstitch
