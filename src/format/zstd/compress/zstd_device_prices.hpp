// The prices for a device's optimal parse of a block of Zstandard: those of parse/zstd_prices.hpp, of codes instead of values.
//
// In sixteenths of a bit. Extra bits are not counted: they follow from the code.
#pragma once

#include <cstdint>

#include "format/zstd/block/zstd_symbols.hpp"

namespace hemstitch {

struct alignas(16) ZstdDevicePrices {
  std::int16_t literal[256];
  std::int16_t run_code[kZstdLiteralCodes.size()];    // by the code of a count of literals
  std::int16_t match_code[kZstdMatchCodes.size()];    // by the code of a match's length
  std::int16_t offset_code[kZstdMostOffsetCode + 1];  // by the code of an offset's value
};
static_assert(sizeof(ZstdDevicePrices) == 768);

}  // namespace hemstitch
