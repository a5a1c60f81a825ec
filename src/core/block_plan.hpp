// What a format allows inside one block. Finders clip only to the maximum offset and to the end of the data;
// parses apply the rest, so one finder serves all formats.
#pragma once

#include <cstdint>

#include "core/host_device.hpp"

namespace hemstitch {

struct BlockPlan {
  std::uint32_t min_match_length = 0;      // bytes
  std::uint32_t max_match_length = 0;      // bytes; 0xFFFFFFFF: no limit
  std::uint32_t max_offset = 0;            // bytes
  std::uint32_t last_match_start_gap = 0;  // a match starts at most at N - gap
  std::uint32_t last_match_end_gap = 0;    // a match ends at most at N - gap
};

inline constexpr std::uint32_t kUnlimitedLength = 0xFFFFFFFFu;

// LZ4 block format, "End of block conditions": the last 5 bytes are literals, the last match starts at least
// 12 bytes before the end. Offsets have 16 bits.
HEMSTITCH_HOST_DEVICE constexpr BlockPlan lz4_block_plan() { return {4, kUnlimitedLength, 65535, 12, 5}; }

// RFC 1951, 3.2.5: lengths 3..258, distances 1..32768; a match may end with the data.
HEMSTITCH_HOST_DEVICE constexpr BlockPlan deflate_block_plan() { return {3, 258, 32768, 3, 0}; }

// The free-form LZSS of founding document 000 (docs/founding.md), for match finding alone.
HEMSTITCH_HOST_DEVICE constexpr BlockPlan lzss_block_plan(std::uint32_t min_length,
                                                          std::uint32_t max_length) {
  return {min_length, max_length, 65535, min_length, 0};
}

}  // namespace hemstitch
