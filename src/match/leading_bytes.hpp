// The four bytes at a position as one little-endian word, and the hash by which finders look them up.
// The hash decides which candidates a position has, and so decides bytes: host and device share it.
#pragma once

#include <cstddef>
#include <cstdint>

#include "core/host_device.hpp"

namespace hemstitch {

// How many bytes a hash covers. A position with fewer bytes left is neither hashed nor inserted.
inline constexpr std::size_t kHashedBytes = 4;

inline constexpr unsigned kMinHashBits = 8;
inline constexpr unsigned kMaxHashBits = 16;

HEMSTITCH_HOST_DEVICE inline std::uint32_t leading_word(const std::byte* bytes) {
  return static_cast<std::uint32_t>(bytes[0]) | static_cast<std::uint32_t>(bytes[1]) << 8 |
         static_cast<std::uint32_t>(bytes[2]) << 16 | static_cast<std::uint32_t>(bytes[3]) << 24;
}

// Multiplicative hashing: 2^32 divided by the golden ratio spreads words that differ in few bits over the
// whole table, and the best mixed bits of the product are its highest ones.
HEMSTITCH_HOST_DEVICE constexpr std::uint32_t hash_word(std::uint32_t word, unsigned hash_bits) {
  return (word * 2654435769u) >> (32 - hash_bits);
}

}  // namespace hemstitch
