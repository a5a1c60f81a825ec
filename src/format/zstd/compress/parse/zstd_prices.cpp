#include "format/zstd/compress/parse/zstd_prices.hpp"

#include <algorithm>
#include <bit>
#include <vector>

#include "core/cost_model.hpp"
#include "format/zstd/compress/entropy/zstd_block_writer.hpp"
#include "format/zstd/compress/entropy/zstd_huffman.hpp"
#include "format/zstd/compress/entropy/zstd_literals_writer.hpp"
#include "format/zstd/compress/entropy/zstd_log2.hpp"

namespace hemstitch {
namespace {

constexpr std::int32_t kUnits = kCostUnitsPerBit;

std::array<std::int32_t, 256> literal_prices(std::span<const std::byte> literals) {
  std::array<std::int32_t, 256> prices;
  prices.fill(kZstdRawLiteralPrice);
  if (read_zstd_literals_header(write_zstd_literals(literals)).type == ZstdLiteralsType::kRaw) return prices;
  ZstdByteCounts counts{};
  for (const std::byte literal : literals) ++counts[static_cast<std::size_t>(literal)];
  const ZstdHuffmanCode code = make_zstd_huffman(counts);
  for (std::size_t byte = 0; byte < prices.size(); ++byte)
    prices[byte] = code.lengths[byte] == 0 ? kZstdUnusedLiteralPrice : code.lengths[byte] * kUnits;
  return prices;
}

// Without extra bits.
std::vector<std::int32_t> code_prices(const ZstdTableChoice& choice, std::size_t code_count) {
  std::vector<std::uint32_t> cells(code_count);
  for (const ZstdCell& cell : choice.table.cells) ++cells[cell.symbol];
  std::vector<std::int32_t> prices(code_count);
  constexpr std::uint32_t kSizeUnits = kZstdSizeUnitsPerBit / kCostUnitsPerBit;
  for (std::size_t code = 0; code < code_count; ++code) {
    if (choice.mode == ZstdTableMode::kRle)
      prices[code] = cells[code] != 0 ? kZstdOnlyCodePrice : kZstdOtherCodePrice;
    else if (cells[code] == 0)
      prices[code] = static_cast<std::int32_t>(choice.table.log + 1) * kUnits;
    else
      prices[code] = static_cast<std::int32_t>(
          (zstd_symbol_size(cells[code], choice.table.log) + kSizeUnits / 2) / kSizeUnits);
  }
  return prices;
}

// The prices of the values from 0 on; those below the first code's base stay as they are.
template <std::size_t code_count>
void spread_prices(const std::array<ZstdCode, code_count>& codes, const std::vector<std::int32_t>& by_code,
                   std::span<std::int32_t> by_value) {
  for (std::size_t code = 0; code < code_count; ++code) {
    const std::size_t end = std::min<std::size_t>(
        std::size_t{codes[code].base} + (std::size_t{1} << codes[code].bits), by_value.size());
    for (std::size_t value = codes[code].base; value < end; ++value)
      by_value[value] = by_code[code] + codes[code].bits * kUnits;
  }
}

}  // namespace

std::int32_t ZstdPrices::offset_value(std::uint32_t value) const {
  return offset[static_cast<std::size_t>(std::bit_width(value)) - 1];
}

ZstdPrices zstd_prices_of(std::span<const std::byte> content, std::span<const Sequence> parsed) {
  ZstdPrices prices;
  prices.literal = literal_prices(zstd_literals_of(content, parsed));
  const auto choices = choose_zstd_tables(zstd_sequences_of(parsed));
  spread_prices(kZstdLiteralCodes, code_prices(choices[0], kZstdLiteralCodes.size()), prices.run);
  const std::vector<std::int32_t> offsets = code_prices(choices[1], prices.offset.size());
  for (std::size_t code = 0; code < offsets.size(); ++code)
    prices.offset[code] = offsets[code] + static_cast<std::int32_t>(code) * kUnits;
  spread_prices(kZstdMatchCodes, code_prices(choices[2], kZstdMatchCodes.size()), prices.match);
  return prices;
}

}  // namespace hemstitch
