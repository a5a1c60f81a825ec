// The level table of Zstandard: how a block is searched and parsed, for every engine that writes the project's own bytes. Data only; changing
// a number here changes bytes everywhere at once. `cpu` passes the levels to libzstd.
//
// Levels that are not in the table are those at its ends: -7 to -1 are 1, and 20 to 22 are 19.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "format/zstd/compress/parse/zstd_optimal.hpp"
#include "match/far/far.hpp"
#include "match/hash_chain/hash_chain.hpp"
#include "match/near_three/near_three.hpp"

namespace hemstitch {

struct ZstdLevelRow {
  int first;  // of the levels; they end before the next row's first
  std::uint32_t chain_depth, near_depth;
  std::uint32_t far_ways;  // 0: no far finder
  unsigned far_hash_bits;
  bool also_short_far;  // a second one, of five bytes at every position; the first one has a grid of 4
  unsigned cheap_passes, full_passes;  // of the optimal parse behind the lazy one
};

inline constexpr std::array<ZstdLevelRow, 5> kZstdLevels{{
    // The fastest: one near candidate, and the lazy parse.
    {1, 1, 1, 0, 0, false, 0, 0},
    // The default: the far finder beside it.
    {3, 1, 1, 4, kFarHashBits, false, 0, 0},
    // A near depth of 4 saves 3.2 % of x-ray and 0.6 % of ooffice compared with 1.
    {5, 1, 4, 4, kFarDeepHashBits, false, 1, 1},
    {10, 16, 8, 4, kFarDeepHashBits, false, 2, 1},
    // As small as it gets.
    {16, 64, 16, 8, kFarDeepHashBits, true, 0, 3},
}};

constexpr const ZstdLevelRow& zstd_level_row(int level) {
  std::size_t row = kZstdLevels.size() - 1;
  while (row > 0 && level < kZstdLevels[row].first) --row;
  return kZstdLevels[row];
}

// How far back the far finder looks; 0: there is none.
constexpr std::uint32_t zstd_far_window_bytes(int level) {
  return zstd_level_row(level).far_ways == 0 ? 0 : kFarWindowBytes;
}

struct ZstdLevel {
  HashChainParameters finder;
  NearThreeParameters near;
  std::vector<FarParameters> far;  // kZstdMostFarFinders at most
  std::vector<ZstdPass> passes;
};

// `level` is -7..22.
inline ZstdLevel zstd_level(int level) {
  constexpr unsigned kHashBits = 14;
  const ZstdLevelRow& row = zstd_level_row(level);
  ZstdLevel result;
  result.finder = {.hash_bits = kHashBits,
                   .depth = row.chain_depth,
                   .window_bytes = kMaxRecordOffset,
                   .stitch_reach = kHashChainDeepStitchReach,
                   .few_values_hash_bytes = kHashChainFewValuesBytes};
  result.near = {.depth = row.near_depth, .window_bytes = kMaxRecordOffset};
  if (row.far_ways != 0) result.far.push_back({.hash_bits = row.far_hash_bits, .ways = row.far_ways});
  if (row.also_short_far) {
    result.far.front().grid_bytes = 4;
    result.far.push_back({.hash_bits = row.far_hash_bits, .hash_bytes = 5, .ways = 4, .grid_bytes = 1});
  }
  result.passes.assign(row.cheap_passes, kZstdCheapPass);
  result.passes.insert(result.passes.end(), row.full_passes, kZstdFullPass);
  return result;
}

}  // namespace hemstitch
