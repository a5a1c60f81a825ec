// What a device's parse of DEFLATE chunks counts with: the prices of deflate_cost.hpp in whole bits, one byte each.
//
// Prices of a chunk are whole bits: lengths of codes, at most 15, or those of symbols that do not occur, and extra bits, at most 13. A
// device has one of these for a chunk, or, where chunks are split, one for each 8 KB that begin in it: the n-th is for the segments that
// begin there, also where less than a unit is left and the cuts count it to the unit before.
#pragma once

#include <cstdint>

#include "format/deflate/compress/deflate_tuning.hpp"

namespace hemstitch {

// The most that any of them may be.
inline constexpr std::uint32_t kDeflateMostPriceBits = 15 + 13;

// Units of kDeflateSplitUnitBytes in a full chunk.
inline constexpr std::uint32_t kDeflateChunkUnits = 8;
static_assert(kDeflateChunkUnits * kDeflateSplitUnitBytes == kDeflateChunkBytes);

struct alignas(4) DeflateDeviceCosts {
  std::uint8_t literals[256];
  std::uint8_t lengths[260];   // with the extra bits; [i]: of a match of i bytes, 3 to 258
  std::uint8_t distances[32];  // with the extra bits; by the distance's symbol, 0 to 29
};
static_assert(sizeof(DeflateDeviceCosts) == 548);
static_assert(kDeflateMaxMatchBytes < sizeof DeflateDeviceCosts::lengths);

}  // namespace hemstitch
