// What a search does with four bytes at once, for host and device. search.wgsl has the same in WGSL.
//
// Bytes are in words least significant first. A position of the text is judged by the four bytes from it on. For one pattern: do
// they begin with its first four (or all that it has)? For several: does any pattern begin with the first two? That is a bit for
// each of 65,536 pairs. Positions that pass are compared in full.
#pragma once

#include <cstdint>

#include "core/host_device.hpp"

namespace hemstitch {

// Each byte folded as folded() of pattern_fold.hpp does: A-Z become a-z.
HEMSTITCH_HOST_DEVICE inline std::uint32_t folded_word(std::uint32_t word) {
  const std::uint32_t low = word & 0x7F7F7F7Fu;
  const std::uint32_t from_a = low + 0x3F3F3F3Fu;    // bit 7 of a byte: at least 'A'
  const std::uint32_t beyond_z = low + 0x25252525u;  // bit 7 of a byte: above 'Z'
  return word | ((from_a & ~beyond_z & ~word & 0x80808080u) >> 2);
}

// The four bytes that begin `byte` bytes (0..3) into low:high.
HEMSTITCH_HOST_DEVICE inline std::uint32_t word_from(std::uint32_t low, std::uint32_t high, unsigned byte) {
  return static_cast<std::uint32_t>((static_cast<std::uint64_t>(high) << 32 | low) >> (8 * byte));
}

// The bytes of a word that a pattern of this many bytes fills.
HEMSTITCH_HOST_DEVICE inline std::uint32_t first_bytes_mask(std::uint32_t pattern_bytes) {
  return pattern_bytes >= 4 ? ~0u : (1u << (8 * pattern_bytes)) - 1;
}

// A match in the form in which devices return it.
struct PackedMatch {
  std::uint64_t word;  // position << 16 | bytes: no pattern has more than 65,535

  HEMSTITCH_HOST_DEVICE static PackedMatch of(std::uint64_t position, std::uint32_t bytes) {
    return {position << 16 | bytes};
  }
  HEMSTITCH_HOST_DEVICE std::uint64_t position() const { return word >> 16; }
  HEMSTITCH_HOST_DEVICE std::uint32_t bytes() const { return static_cast<std::uint32_t>(word & 0xFFFF); }
};

}  // namespace hemstitch
