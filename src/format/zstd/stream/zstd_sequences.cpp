#include "format/zstd/stream/zstd_sequences.hpp"

#include <algorithm>

#include "format/zstd/stream/zstd_words.hpp"

namespace hemstitch {
namespace {

constexpr std::uint32_t kMostShort = UINT16_MAX;
// Larger offsets than any window.
constexpr std::uint32_t kMostOffset = std::uint32_t{1} << 31;

// Writes one sequence as several.
[[gnu::noinline]] ZstdShortSequence* put_split(std::uint32_t literals, std::uint32_t match,
                                               std::uint32_t offset, ZstdShortSequence* to) {
  while (literals > kMostShort) {
    *to++ = {1, kMostShort, 0};
    literals -= kMostShort;
  }
  for (;;) {
    const std::uint32_t some = std::min(match, kMostShort);
    *to++ = {offset, static_cast<std::uint16_t>(literals), static_cast<std::uint16_t>(some)};
    literals = 0;
    match -= some;
    if (match == 0) return to;
  }
}

}  // namespace

void make_zstd_sequence_table(const ZstdTable& from, ZstdSequencePart part, ZstdSequenceTable& table) {
  table.log = from.log;
  for (std::size_t i = 0; i < from.cells.size(); ++i) {
    const ZstdCell& cell = from.cells[i];
    const ZstdCode code = part == ZstdSequencePart::kLiterals ? kZstdLiteralCodes[cell.symbol]
                          : part == ZstdSequencePart::kMatch
                              ? kZstdMatchCodes[cell.symbol]
                              : ZstdCode{std::uint32_t{1} << cell.symbol, cell.symbol};
    table.cells[i] = {code.base, cell.base, code.bits, cell.bits};
  }
}

ZstdSequencesRead read_zstd_sequences(std::span<const std::byte> stream, std::size_t count,
                                      const std::array<ZstdSequenceTable, 3>& tables, ZstdOffsets& offsets,
                                      ZstdShortSequence* to) {
  using Cell = ZstdSequenceTable::Cell;
  // The bits of a sequence that are always in one word: the three states take 26 of its 57.
  constexpr unsigned kBitsBeforeStates = 31;
  ZstdSequencesRead read;
  if (!ZstdWords::is_marked(stream)) return read;
  return with_fast_shifts([&]() __attribute__((always_inline)) {
    ZstdWords words(stream);
    const Cell* const literal_cells = tables[0].cells.data();
    const Cell* const offset_cells = tables[1].cells.data();
    const Cell* const match_cells = tables[2].cells.data();
    std::uint32_t literal_state = words.take(tables[0].log), offset_state = words.take(tables[1].log),
                  match_state = words.take(tables[2].log);
    std::uint32_t first = offsets.offsets[0], second = offsets.offsets[1], third = offsets.offsets[2];
    std::uint64_t literals_sum = 0, matches_sum = 0;
    ZstdShortSequence* at = to;
    for (std::size_t left = count; left > 0; --left) {
      const Cell literal = literal_cells[literal_state], offset = offset_cells[offset_state],
                 match = match_cells[match_state];
      words.refill();
      if (words.left() < 0) return read;
      std::uint32_t value = offset.base + words.take(offset.extra_bits);
      if (static_cast<unsigned>(offset.extra_bits) + match.extra_bits + literal.extra_bits >
          kBitsBeforeStates) [[unlikely]]
        words.refill();
      const std::uint32_t match_bytes = match.base + words.take(match.extra_bits);
      const std::uint32_t literal_bytes = literal.base + words.take(literal.extra_bits);
      if (match.extra_bits + literal.extra_bits > kBitsBeforeStates) [[unlikely]]
        words.refill();
      if (left > 1) {
        literal_state = literal.next + words.take(literal.state_bits);
        match_state = match.next + words.take(match.state_bits);
        offset_state = offset.next + words.take(offset.state_bits);
      }
      if (value > kZstdRepeatCount) {
        value -= kZstdRepeatCount;
        if (value > kMostOffset) [[unlikely]]
          return read;
        third = second;
        second = first;
        first = value;
      } else {
        // Without literals, the offset that was used last is passed over.
        value += literal_bytes == 0 ? 1 : 0;
        if (value != 1) {
          const std::uint32_t taken = value == 2 ? second : value == 3 ? third : first - 1;
          if (taken == 0) [[unlikely]]
            return read;
          if (value != 2) third = second;
          second = first;
          first = taken;
        }
      }
      literals_sum += literal_bytes;
      matches_sum += match_bytes;
      if ((literal_bytes | match_bytes) > kMostShort) [[unlikely]] {
        if (literals_sum + matches_sum > kZstdMostBlockBytes) return read;
        at = put_split(literal_bytes, match_bytes, first, at);
      } else {
        *at++ = {first, static_cast<std::uint16_t>(literal_bytes), static_cast<std::uint16_t>(match_bytes)};
      }
    }
    if (words.left() != 0) return read;
    offsets.offsets = {first, second, third};
    read = {true, static_cast<std::size_t>(at - to), literals_sum, matches_sum};
    return read;
  });
}

}  // namespace hemstitch
