// What literals and sequences of a block cost, for the optimal parse: the sizes that they have with the tables of a parse before.
//
// In sixteenths of a bit. A literal costs its code, or 8 bits if literals would be raw, or kZstdUnusedLiteralPrice if it did not occur. A code of a sequence costs log - log2(cells),
// rounded to the nearest sixteenth, and its extra bits; one without cells costs a bit more than one cell would. A code that was the only one of its kind costs
// kZstdOnlyCodePrice, and the others kZstdOtherCodePrice.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

#include "core/sequence.hpp"
#include "format/zstd/block/zstd_symbols.hpp"
#include "format/zstd/compress/zstd_device_prices.hpp"

namespace hemstitch {

// The longest run of literals of a segment with what it looks ahead, and the longest match that is priced.
inline constexpr std::size_t kZstdMostPricedRun = 2048 + 256, kZstdMostPricedMatch = 144;

struct ZstdPrices {
  std::array<std::int32_t, 256> literal{};
  std::array<std::int32_t, kZstdMostPricedRun + 1> run{};      // by how many literals precede
  std::array<std::int32_t, kZstdMostPricedMatch + 1> match{};  // by length, 3 at least
  std::array<std::int32_t, kZstdMostOffsetCode + 1> offset{};  // by the code of a value, with its extra bits

  std::int32_t offset_value(std::uint32_t value) const;
};

// `parsed` covers `content`, as for put_zstd_block().
ZstdPrices zstd_prices_of(std::span<const std::byte> content, std::span<const Sequence> parsed);

}  // namespace hemstitch
