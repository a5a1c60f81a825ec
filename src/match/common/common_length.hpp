// How many bytes two places in the data have in common: the comparison that all finders use.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>

namespace hemstitch {

// The number of leading bytes in which `a` and `b` agree, at most `limit`. Both must have `limit` readable
// bytes; they may overlap.
inline std::size_t common_length(const std::byte* a, const std::byte* b, std::size_t limit) {
  std::size_t length = 0;
  if constexpr (std::endian::native == std::endian::little) {
    // Eight bytes at a time; the lowest bit in which two words differ lies in the first byte that differs.
    while (length + sizeof(std::uint64_t) <= limit) {
      std::uint64_t word_a, word_b;
      std::memcpy(&word_a, a + length, sizeof word_a);
      std::memcpy(&word_b, b + length, sizeof word_b);
      if (word_a != word_b) return length + static_cast<std::size_t>(std::countr_zero(word_a ^ word_b)) / 8;
      length += sizeof(std::uint64_t);
    }
  }
  while (length < limit && a[length] == b[length]) ++length;
  return length;
}

}  // namespace hemstitch
