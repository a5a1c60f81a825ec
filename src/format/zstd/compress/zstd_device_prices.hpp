// The prices for a device's optimal parse of a block of Zstandard: those of parse/zstd_prices.hpp, of codes instead of values.
//
// In sixteenths of a bit. Extra bits are not counted: they follow from the code.
#pragma once

#include <cstdint>

#include "core/cost_model.hpp"
#include "format/zstd/block/zstd_symbols.hpp"

namespace hemstitch {

// Of literals that stay raw, and those that do not occur; of the one code that occurs, and all others beside it.
inline constexpr std::int32_t kZstdRawLiteralPrice = 8 * kCostUnitsPerBit,
                              kZstdUnusedLiteralPrice = 12 * kCostUnitsPerBit;
inline constexpr std::int32_t kZstdOnlyCodePrice = 4, kZstdOtherCodePrice = 10 * kCostUnitsPerBit;

struct alignas(16) ZstdDevicePrices {
  std::int16_t literal[256];
  std::int16_t run_code[kZstdLiteralCodes.size()];    // by the code of a count of literals
  std::int16_t match_code[kZstdMatchCodes.size()];    // by the code of a match's length
  std::int16_t offset_code[kZstdMostOffsetCode + 1];  // by the code of an offset's value
};
static_assert(sizeof(ZstdDevicePrices) == 768);

}  // namespace hemstitch
