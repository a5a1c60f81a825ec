// The hash of the four bytes at a position, or of up to eight, by which finders look them up.
// It decides which candidates a position has, and so decides bytes: host and device share it.
#pragma once

#include <cstddef>
#include <cstdint>

#include "core/host_device.hpp"

namespace hemstitch {

// How many bytes a hash covers, unless a finder says otherwise. A position with fewer bytes left is neither hashed nor inserted.
inline constexpr std::size_t kHashedBytes = 4;
inline constexpr std::size_t kMostHashedBytes = 8;

inline constexpr unsigned kMinHashBits = 8;
inline constexpr unsigned kMaxHashBits = 16;

// `word` is the four bytes in little-endian order (core/bytes.hpp). Multiplicative hashing: 2^32 divided by
// the golden ratio spreads words that differ in few bits over the whole table, and the highest bits of the product are mixed best.
HEMSTITCH_HOST_DEVICE constexpr std::uint32_t hash_word(std::uint32_t word, unsigned hash_bits) {
  return (word * 2654435769u) >> (32 - hash_bits);
}

// The value to hash if a hash covers more than four bytes: `word` is the first four of them, `last_word` the last four. Each takes
// one load, so no width needs a mask. The factor is a prime with as many ones as zeros.
HEMSTITCH_HOST_DEVICE constexpr std::uint32_t wide_word(std::uint32_t word, std::uint32_t last_word) {
  return word + last_word * 2246822519u;
}

}  // namespace hemstitch
