// The level table of Zstandard: how a block is searched and parsed, for every engine that writes the project's own bytes. Data only; changing
// a number here changes bytes everywhere at once. `cpu` passes the levels to libzstd.
//
// Levels that are not in the table are those at its ends: -7 to -1 are 1, and 20 to 22 are 19.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>

#include "match/far/far.hpp"
#include "match/hash_chain/hash_chain.hpp"
#include "match/near_three/near_three.hpp"

namespace hemstitch {

struct ZstdLevelRow {
  int first;               // of the levels; they end before the next row's first
  std::uint32_t far_ways;  // 0: no far finder
};

inline constexpr std::array<ZstdLevelRow, 2> kZstdLevels{{
    // The fastest: one near candidate, and the lazy parse.
    {1, 0},
    // The default, and so far all above it: the far finder beside it.
    {3, kFarWays},
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
  std::optional<FarParameters> far;
};

// `level` is -7..22.
inline ZstdLevel zstd_level(int level) {
  constexpr unsigned kHashBits = 14;
  const ZstdLevelRow& row = zstd_level_row(level);
  ZstdLevel result{.finder = {.hash_bits = kHashBits,
                              .depth = 1,
                              .window_bytes = kMaxRecordOffset,
                              .stitch_reach = kHashChainDeepStitchReach,
                              .few_values_hash_bytes = kHashChainFewValuesBytes},
                   .near = {.depth = 1, .window_bytes = kMaxRecordOffset},
                   .far = std::nullopt};
  if (row.far_ways != 0) result.far = FarParameters{.ways = row.far_ways};
  return result;
}

}  // namespace hemstitch
