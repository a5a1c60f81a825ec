// The hash of far: host and device share it, since it decides which candidates a position has.
#pragma once

#include <cstdint>

#include "core/host_device.hpp"

namespace hemstitch {

// 2^64 divided by the golden ratio, as in hash_word(). `word` is the hashed bytes in little-endian order. The highest bits are mixed best: as many
// as the table has are the bucket, and those below them tell different words in a bucket apart.
HEMSTITCH_HOST_DEVICE constexpr std::uint64_t far_product(std::uint64_t word) {
  return word * 0x9E3779B97F4A7C15u;
}

// What is hashed of a word of eight bytes; `hash_bytes` is 1..8.
HEMSTITCH_HOST_DEVICE constexpr std::uint64_t far_mask(std::uint32_t hash_bytes) {
  return ~std::uint64_t{0} >> (64 - 8 * hash_bytes);
}

}  // namespace hemstitch
