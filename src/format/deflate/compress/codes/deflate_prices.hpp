// What symbols cost in a chunk's parse, in whole bits, where no code says it: the rules of deflate_cost.hpp, stated once for host and
// device. All of these are without the symbols' extra bits.
#pragma once

#include <cstdint>

#include "core/host_device.hpp"
#include "format/deflate/block/deflate_symbols.hpp"

namespace hemstitch {

// Prices of the first pass, which has no codes yet.
inline constexpr std::uint32_t kDeflatePriorLiteralBits = 8;
inline constexpr std::uint32_t kDeflatePriorDistanceBits = 5;
HEMSTITCH_HOST_DEVICE constexpr std::uint32_t deflate_prior_length_bits(std::uint32_t symbol) {
  return 6 + (symbol - kDeflateFirstLengthSymbol) / 4;
}

// Prices of symbols that the pass before did not use.
inline constexpr std::uint32_t kDeflateUnusedLiteralBits = 13;
inline constexpr std::uint32_t kDeflateUnusedLengthBits = 12;
inline constexpr std::uint32_t kDeflateUnusedDistanceBits = 10;

// `code_bits` is the length of the symbol's code, 0 where it has none.
HEMSTITCH_HOST_DEVICE constexpr std::uint32_t deflate_bits_or(std::uint32_t code_bits,
                                                              std::uint32_t unused_bits) {
  return code_bits != 0 ? code_bits : unused_bits;
}

}  // namespace hemstitch
