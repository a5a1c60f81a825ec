// Logarithms in integers: sizes that choose between tables must be the same everywhere, so no floating point takes part.
#pragma once

#include <array>
#include <cstdint>

#include "core/host_device.hpp"

namespace hemstitch {

inline constexpr std::uint32_t kZstdSizeUnitsPerBit = 256;  // sizes are counted in 1/256 bit

// The logarithm of `number` to base 2 in 1/256, by the usual way: eight times the fraction is squared, in 30 bits behind the point that
// are cut off, and a square of 2 or more gives the next digit 1. `number` is at least 1.
HEMSTITCH_HOST_DEVICE constexpr std::uint16_t zstd_log2_of(std::uint32_t number) {
  constexpr unsigned kFractionBits = 30, kDigits = 8;
  unsigned whole = 0;
  while (number >> whole > 1) ++whole;
  std::uint64_t fraction = std::uint64_t{number} << kFractionBits >> whole;
  std::uint32_t result = whole;
  for (unsigned digit = 0; digit < kDigits; ++digit) {
    fraction = fraction * fraction >> kFractionBits;
    const bool carries = fraction >> (kFractionBits + 1) != 0;
    if (carries) fraction >>= 1;
    result = result << 1 | (carries ? 1 : 0);
  }
  return static_cast<std::uint16_t>(result);
}

namespace zstd_log2_detail {

inline constexpr std::uint32_t kMostCells = 512;  // of a table
inline constexpr std::array<std::uint16_t, kMostCells + 1> kLog2 = [] {
  std::array<std::uint16_t, kMostCells + 1> logs{};
  for (std::uint32_t number = 1; number <= kMostCells; ++number) logs[number] = zstd_log2_of(number);
  return logs;
}();
static_assert(kLog2[1] == 0 && kLog2[2] == 256 && kLog2[3] == 405 && kLog2[512] == 9 * 256);

}  // namespace zstd_log2_detail

// What a symbol with so many (1 or more) of a table's 2^log cells takes, on average.
constexpr std::uint32_t zstd_symbol_size(std::uint32_t cell_count, unsigned log) {
  return log * kZstdSizeUnitsPerBit - zstd_log2_detail::kLog2[cell_count];
}

}  // namespace hemstitch
