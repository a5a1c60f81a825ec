// The prices for a device's parse of DEFLATE chunks: those of deflate_cost.hpp in whole bits, one byte each.
//
// Prices are whole bits: code lengths (at most 15, also for symbols that do not occur) and extra bits (at
// most 13). A device has one set for each chunk or, if chunks are split, one for each 8 KB of a chunk. The
// n-th set serves the segments that begin in the n-th 8 KB, even if less than a unit remains there, which the
// cuts count with the unit before.
#pragma once

#include <cstdint>

#include "format/deflate/compress/deflate_tuning.hpp"

namespace hemstitch {

// The highest price.
inline constexpr std::uint32_t kDeflateMostPriceBits = 15 + 13;

// Units of kDeflateSplitUnitBytes in a full chunk.
inline constexpr std::uint32_t kDeflateChunkUnits = 8;
static_assert(kDeflateChunkUnits * kDeflateSplitUnitBytes == kDeflateChunkBytes);

struct alignas(4) DeflateDeviceCosts {
  std::uint8_t literals[256];
  std::uint8_t lengths[260];   // with the extra bits; [i]: for a match of i bytes, 3 to 258
  std::uint8_t distances[32];  // with the extra bits; by the distance's symbol, 0 to 29
};
static_assert(sizeof(DeflateDeviceCosts) == 548);
static_assert(kDeflateMaxMatchBytes < sizeof DeflateDeviceCosts::lengths);

}  // namespace hemstitch
