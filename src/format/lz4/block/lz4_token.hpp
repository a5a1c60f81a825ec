// Sizes in an LZ4 block, stated once for parses, encoders and kernels.
//
// A sequence in the block:
//   token           one byte: high nibble the literal count, low nibble the match length less 4; 15 means "and more"
//   more literals   if the nibble is 15: bytes to be added, as long as they are 255, and the first one that is not
//   literals
//   offset          two bytes, little-endian
//   more length     as for the literals
// The last sequence ends after its literals.
#pragma once

#include <cstdint>

#include "core/host_device.hpp"

namespace hemstitch {

inline constexpr std::uint32_t kLz4MinMatchBytes = 4;
inline constexpr std::uint32_t kLz4NibbleMax = 15;
inline constexpr std::uint32_t kLz4OffsetBytes = 2;

// The longest match whose length fits the token.
inline constexpr std::uint32_t kLz4LongestInToken = kLz4MinMatchBytes + kLz4NibbleMax - 1;
static_assert(kLz4LongestInToken == 18);

// Bytes that follow a token because `value` (a literal count, or a match length less 4) does not fit its
// nibble.
HEMSTITCH_HOST_DEVICE constexpr std::uint32_t lz4_extension_bytes(std::uint32_t value) {
  return value < kLz4NibbleMax ? 0 : 1 + (value - kLz4NibbleMax) / 255;
}

// The bytes of one sequence; a match length of 0 stands for the last sequence, which has no match.
HEMSTITCH_HOST_DEVICE constexpr std::uint64_t lz4_sequence_bytes(std::uint32_t literal_count,
                                                                 std::uint32_t match_length) {
  const std::uint64_t literals = std::uint64_t{1} + lz4_extension_bytes(literal_count) + literal_count;
  if (match_length == 0) return literals;
  return literals + kLz4OffsetBytes + lz4_extension_bytes(match_length - kLz4MinMatchBytes);
}

}  // namespace hemstitch
