#include "format/zstd/compress/entropy/zstd_table_choice.hpp"

#include <cstdlib>
#include <optional>

#include "format/zstd/compress/entropy/zstd_cells.hpp"
#include "format/zstd/compress/entropy/zstd_log2.hpp"

namespace hemstitch {
namespace {

constexpr std::uint64_t kByteSize = 8 * kZstdSizeUnitsPerBit;

// Nothing if a symbol that occurs has no cells. Cells may be -1, which is one.
template <class Cells>
std::optional<std::uint64_t> size_of(std::span<const std::uint32_t> counts, std::span<const Cells> cells,
                                     unsigned log) {
  std::uint64_t size = 0;
  for (std::size_t symbol = 0; symbol < counts.size(); ++symbol) {
    if (counts[symbol] == 0) continue;
    if (symbol >= cells.size() || cells[symbol] == 0) return std::nullopt;
    size += std::uint64_t{counts[symbol]} *
            zstd_symbol_size(static_cast<std::uint32_t>(std::abs(cells[symbol])), log);
  }
  return size;
}

}  // namespace

ZstdTableChoice choose_zstd_table(const ZstdCodeKind& kind, std::span<const std::uint32_t> counts) {
  std::size_t used = 0, last = 0;
  for (std::size_t symbol = 0; symbol < counts.size(); ++symbol)
    if (counts[symbol] != 0) ++used, last = symbol;
  const std::optional<std::uint64_t> predefined = size_of(counts, kind.predefined, kind.predefined_log);
  const auto beats_predefined = [&](std::uint64_t size) { return !predefined || size < *predefined; };
  if (used == 1) {
    if (beats_predefined(kByteSize))
      return {ZstdTableMode::kRle,
              {static_cast<std::byte>(last)},
              make_zstd_rle_table(static_cast<std::uint8_t>(last))};
  } else if (used > 1) {
    const unsigned log = zstd_table_log(counts, kind.most_log);
    const std::vector<std::int16_t> cells = share_zstd_cells(counts, log);
    std::vector<std::byte> description = describe_zstd_table(cells, log);
    const std::uint64_t size =
        *size_of(counts, std::span<const std::int16_t>(cells), log) + description.size() * kByteSize;
    if (beats_predefined(size))
      return {ZstdTableMode::kOwn, std::move(description), make_zstd_table(cells, log)};
  }
  return {ZstdTableMode::kPredefined, {}, make_zstd_table(kind.predefined, kind.predefined_log)};
}

}  // namespace hemstitch
