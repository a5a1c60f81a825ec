// The symbols of DEFLATE (RFC 1951, section 3.2.5) and their numbers, stated once for encoders and decoders, on host and
// device.
//
// A block's tokens are symbols of two alphabets. The literal/length alphabet has the bytes (0 to 255), the end of the block
// (256) and lengths (257 to 285); a length is followed by its extra bits, then a symbol of the distance alphabet (0 to 29) and its
// extra bits. Huffman codes are packed from their highest bit on, everything else from its lowest.
#pragma once

#include <array>
#include <cstdint>

#include "core/host_device.hpp"

namespace hemstitch {

inline constexpr std::uint32_t kDeflateWindowBytes = 32768;  // the largest distance
inline constexpr std::uint32_t kDeflateMinMatchBytes = 3;
inline constexpr std::uint32_t kDeflateMaxMatchBytes = 258;
inline constexpr std::uint32_t kDeflateMostStoredBytes = 65535;  // of a stored block

inline constexpr std::uint32_t kDeflateEndOfBlock = 256;
inline constexpr std::uint32_t kDeflateFirstLengthSymbol = 257;
// The number of symbols to which a dynamic block may give codes. Fixed codes have two more of each kind, which no token may use.
inline constexpr std::uint32_t kDeflateLitlenCount = 286;
inline constexpr std::uint32_t kDeflateDistanceCount = 30;
inline constexpr std::uint32_t kDeflateFixedLitlenCount = 288;
inline constexpr std::uint32_t kDeflateFixedDistanceCount = 32;
inline constexpr std::uint32_t kDeflateMaxCodeBits = 15;

// The code of the code lengths: 0 to 15 are lengths, 16 repeats the one before it 3 to 6 times, 17 and 18 stand for 3 to 10 and
// 11 to 138 lengths of 0.
inline constexpr std::uint32_t kDeflatePrecodeCount = 19;
inline constexpr std::uint32_t kDeflateMaxPrecodeBits = 7;
inline constexpr std::uint32_t kDeflateRepeatLast = 16;
inline constexpr std::uint32_t kDeflateRepeatZero = 17;
inline constexpr std::uint32_t kDeflateRepeatZeroLong = 18;
// The order of their own lengths in a block's header.
inline constexpr std::array<std::uint8_t, kDeflatePrecodeCount> kDeflatePrecodeOrder = {
    16, 17, 18, 0, 8, 7, 9, 6, 10, 5, 11, 4, 12, 3, 13, 2, 14, 1, 15};

// The two bits after the one that says whether a block is the last.
enum class DeflateBlockType : std::uint32_t { kStored = 0, kFixed = 1, kDynamic = 2, kReserved = 3 };

namespace deflate_detail {

// The highest set bit of a value from 1 to 65535.
HEMSTITCH_HOST_DEVICE constexpr std::uint32_t log2_floor(std::uint32_t value) {
  std::uint32_t log = 0;
  for (std::uint32_t step = 8; step > 0; step /= 2)
    if (value >> step != 0) {
      value >>= step;
      log += step;
    }
  return log;
}

}  // namespace deflate_detail

// Lengths 3 to 10 have a symbol each, then four symbols share each power of two; 258 has one of its own.
HEMSTITCH_HOST_DEVICE constexpr std::uint32_t deflate_length_extra_bits(std::uint32_t symbol) {
  const std::uint32_t index = symbol - kDeflateFirstLengthSymbol;
  return index < 8 || index == 28 ? 0 : (index >> 2) - 1;
}
HEMSTITCH_HOST_DEVICE constexpr std::uint32_t deflate_length_base(std::uint32_t symbol) {
  const std::uint32_t index = symbol - kDeflateFirstLengthSymbol;
  if (index < 8) return kDeflateMinMatchBytes + index;
  if (index == 28) return kDeflateMaxMatchBytes;
  return kDeflateMinMatchBytes + ((4 + (index & 3)) << ((index >> 2) - 1));
}
HEMSTITCH_HOST_DEVICE constexpr std::uint32_t deflate_length_symbol(std::uint32_t length) {
  const std::uint32_t above = length - kDeflateMinMatchBytes;
  if (above < 8) return kDeflateFirstLengthSymbol + above;
  if (length == kDeflateMaxMatchBytes) return kDeflateFirstLengthSymbol + 28;
  const std::uint32_t log = deflate_detail::log2_floor(above);
  return kDeflateFirstLengthSymbol + 4 * (log - 1) + (above >> (log - 2) & 3);
}
static_assert(deflate_length_symbol(3) == 257 && deflate_length_symbol(10) == 264 &&
              deflate_length_symbol(11) == 265 && deflate_length_symbol(12) == 265 &&
              deflate_length_symbol(13) == 266 && deflate_length_symbol(257) == 284 &&
              deflate_length_symbol(258) == 285);
static_assert(deflate_length_base(265) == 11 && deflate_length_base(269) == 19 &&
              deflate_length_base(284) == 227 && deflate_length_extra_bits(284) == 5 &&
              deflate_length_extra_bits(264) == 0 && deflate_length_extra_bits(285) == 0);

// Distances 1 to 4 have a symbol each, then two symbols share each power of two.
HEMSTITCH_HOST_DEVICE constexpr std::uint32_t deflate_distance_extra_bits(std::uint32_t symbol) {
  return symbol < 4 ? 0 : (symbol >> 1) - 1;
}
HEMSTITCH_HOST_DEVICE constexpr std::uint32_t deflate_distance_base(std::uint32_t symbol) {
  return symbol < 4 ? 1 + symbol : 1 + ((2 + (symbol & 1)) << ((symbol >> 1) - 1));
}
HEMSTITCH_HOST_DEVICE constexpr std::uint32_t deflate_distance_symbol(std::uint32_t distance) {
  const std::uint32_t above = distance - 1;
  if (above < 4) return above;
  const std::uint32_t log = deflate_detail::log2_floor(above);
  return 2 * log + (above >> (log - 1) & 1);
}
static_assert(deflate_distance_symbol(1) == 0 && deflate_distance_symbol(4) == 3 &&
              deflate_distance_symbol(5) == 4 && deflate_distance_symbol(7) == 5 &&
              deflate_distance_symbol(24577) == 29 && deflate_distance_symbol(32768) == 29);
static_assert(deflate_distance_base(4) == 5 && deflate_distance_base(29) == 24577 &&
              deflate_distance_extra_bits(29) == 13);

// Code lengths of the fixed code (RFC 1951, section 3.2.6); every distance has 5 bits.
HEMSTITCH_HOST_DEVICE constexpr std::uint32_t deflate_fixed_litlen_bits(std::uint32_t symbol) {
  return symbol < 144 ? 8 : symbol < 256 ? 9 : symbol < 280 ? 7 : 8;
}
inline constexpr std::uint32_t kDeflateFixedDistanceBits = 5;

}  // namespace hemstitch
