// The level table of Zstandard: how a block is searched and parsed, for every engine that writes the project's own bytes. Changing a number
// here changes bytes everywhere at once. `cpu` passes the levels to libzstd.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "match/hash_chain/hash_chain.hpp"
#include "match/near_three/near_three.hpp"

namespace hemstitch {

struct ZstdLevel {
  HashChainParameters finder;
  NearThreeParameters near;
};

// `level` is -7..22. So far all levels are the first one's: one near candidate and the lazy parse.
inline ZstdLevel zstd_level(int /*level*/) {
  return {.finder = {.hash_bits = 14,
                     .depth = 1,
                     .window_bytes = kMaxRecordOffset,
                     .stitch_reach = kHashChainDeepStitchReach,
                     .few_values_hash_bytes = 7},
          .near = {.depth = 1, .window_bytes = kMaxRecordOffset}};
}

}  // namespace hemstitch
