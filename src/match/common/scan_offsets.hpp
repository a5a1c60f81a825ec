// Tries one offset after the other, as the scanning finders do, at a host's speed.
//
// Nearly all offsets fail in their first byte. The bytes that a scan reads are neighbours, so eight offsets
// are compared with the first byte of the text at once, and only those that pass are tried. Each of the
// others still counts as a probe of one byte, as it would in a kernel.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>

#include "match/common/find_counters.hpp"

namespace hemstitch {

// The smallest offset of first..last for which the byte `offset` before `text` equals text[0]; last + 1 if
// there is none.
inline std::uint32_t next_equal_byte(const std::byte* text, std::uint32_t first, std::uint32_t last) {
  if constexpr (std::endian::native == std::endian::little) {
    constexpr std::uint64_t kOnes = 0x0101010101010101u;
    constexpr std::uint64_t kLowBits = 0x7F * kOnes;
    const std::uint64_t wanted = kOnes * static_cast<std::uint64_t>(text[0]);
    for (; first + 7 <= last; first += 8) {
      std::uint64_t word;  // its highest byte is at offset `first`, its lowest at first + 7
      std::memcpy(&word, text - first - 7, sizeof word);
      const std::uint64_t difference = word ^ wanted;
      // The top bit of each byte: clear exactly where the byte is 0. No sum carries into its neighbour.
      const std::uint64_t differs = ((difference & kLowBits) + kLowBits) | difference | kLowBits;
      if (~differs != 0) return first + static_cast<std::uint32_t>(std::countl_zero(~differs)) / 8;
    }
  }
  while (first <= last && *(text - first) != text[0]) ++first;
  return first;
}

// Calls try_offset(offset) for the offsets first..last in ascending order that begin with the right byte,
// until a call returns true; the others are counted here. Returns whether a call did. The text has at least
// one byte, and at least `last` bytes before it.
template <typename TryOffset>
bool scan_offsets(const std::byte* text, std::uint32_t first, std::uint32_t last, FindCounters& counters,
                  const TryOffset& try_offset) {
  while (first <= last) {
    const std::uint32_t offset = next_equal_byte(text, first, last);
    counters.probes += offset - first;
    counters.byte_comparisons += offset - first;
    if (offset > last) return false;
    if (try_offset(offset)) return true;
    first = offset + 1;
  }
  return false;
}

}  // namespace hemstitch
