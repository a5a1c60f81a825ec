// Parameters of far whose generations and tables are so small that much happens in few bytes.
#pragma once

#include <vector>

#include "match/far/far.hpp"

namespace hemstitch::testing {

inline std::vector<FarParameters> small_far_parameters() {
  return {{.hash_bits = 8, .ways = 1, .generation_bytes = 128},
          {.hash_bits = 10, .ways = 4, .generation_bytes = 256, .window_bytes = 3000},
          {.hash_bits = 12,
           .ways = 2,
           .grid_bytes = 2,
           .generation_bytes = 128,
           .window_bytes = 700,
           .cap_bytes = 8,
           .stitch_reach = 1},
          {.hash_bits = 9, .ways = 8, .grid_bytes = 4, .generation_bytes = 512},
          {.hash_bits = 8, .hash_bytes = 5, .ways = 4, .grid_bytes = 1, .generation_bytes = 100},
          {.hash_bits = 12,
           .hash_bytes = 4,
           .ways = 2,
           .grid_bytes = 16,
           .generation_bytes = 80,
           .cap_bytes = 239}};
}

}  // namespace hemstitch::testing
