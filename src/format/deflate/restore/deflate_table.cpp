#include "format/deflate/restore/deflate_table.hpp"

#include <algorithm>
#include <bit>

namespace hemstitch {
namespace {

using namespace deflate_table;

constexpr std::uint32_t entry_of(unsigned extra_bits, std::uint32_t flags, std::uint32_t value) {
  return value << 16 | flags | extra_bits;
}
constexpr std::uint32_t litlen_entry(std::uint32_t symbol) {
  if (symbol < kDeflateEndOfBlock) return entry_of(0, kLiteralFlag, symbol);
  if (symbol == kDeflateEndOfBlock) return entry_of(0, kOtherFlag | kEndFlag, 0);
  if (symbol >= kDeflateLitlenCount) return entry_of(0, kOtherFlag, 0);
  return entry_of(deflate_length_extra_bits(symbol), 0, deflate_length_base(symbol));
}
constexpr std::uint32_t distance_entry(std::uint32_t symbol) {
  if (symbol >= kDeflateDistanceCount) return entry_of(0, kOtherFlag, 0);
  return entry_of(deflate_distance_extra_bits(symbol), 0, deflate_distance_base(symbol));
}
static_assert(deflate_distance_base(29) < 1 << 16);
constexpr auto kLitlenEntries = [] {
  std::array<std::uint32_t, kDeflateFixedLitlenCount> entries{};
  for (std::uint32_t symbol = 0; symbol < entries.size(); ++symbol) entries[symbol] = litlen_entry(symbol);
  return entries;
}();
constexpr auto kDistanceEntries = [] {
  std::array<std::uint32_t, kDeflateFixedDistanceCount> entries{};
  for (std::uint32_t symbol = 0; symbol < entries.size(); ++symbol) entries[symbol] = distance_entry(symbol);
  return entries;
}();

// The next code of the same length, or the first of a longer one. Codes are looked up with their first bit
// lowest, so 1 is added at the highest bit and carries downwards.
constexpr std::uint32_t next_reversed(std::uint32_t code, unsigned bits) {
  const std::uint32_t bit = std::bit_floor(~code & ((1u << bits) - 1));
  return bit == 0 ? 0 : (code & (bit - 1)) + bit;
}

// Builds a table from symbols whose lengths fit (deflate_header.hpp). A symbol's entry is repeated for all
// bits that may follow its code. So the table for one bit more is two copies of the table before, with the
// codes of that length added.
template <class Table>
void build(Table& table, std::span<const std::uint8_t> lengths,
           std::span<const std::uint32_t> symbol_entries) {
  std::array<std::uint16_t, kDeflateMaxCodeBits + 2> counts{},
      next{};  // of each length; where its next symbol is stored
  for (const std::uint8_t length : lengths) ++counts[length];
  counts[0] = 0;
  for (unsigned bits = 1; bits <= kDeflateMaxCodeBits; ++bits)
    next[bits + 1] = static_cast<std::uint16_t>(next[bits] + counts[bits]);
  std::array<std::uint16_t, kDeflateFixedLitlenCount> sorted;
  for (std::size_t symbol = 0; symbol < lengths.size(); ++symbol)
    if (lengths[symbol] != 0) sorted[next[lengths[symbol]]++] = static_cast<std::uint16_t>(symbol);

  constexpr unsigned kBits = Table::kBits;
  constexpr std::uint32_t kFirstEntries = 1u << kBits;
  std::uint32_t* const entries = table.entries.data();
  entries[0] = entry_of(1, kOtherFlag, 0) | 1u << 8;  // remains if some bits are not a code
  std::uint32_t code = 0;
  std::size_t place = 0;
  for (unsigned bits = 1; bits <= kBits; ++bits) {
    std::copy_n(entries, 1u << (bits - 1), entries + (1u << (bits - 1)));
    for (unsigned left = counts[bits]; left > 0; --left, code = next_reversed(code, bits))
      entries[code] = symbol_entries[sorted[place++]] + bits + (bits << 8);
  }
  std::uint32_t second_begin = kFirstEntries, second_bits = 0, prefix = UINT32_MAX;
  for (unsigned bits = kBits + 1; bits <= kDeflateMaxCodeBits; ++bits)
    for (unsigned left = counts[bits]; left > 0; --left, code = next_reversed(code, bits)) {
      if ((code & (kFirstEntries - 1)) != prefix) {
        if (prefix != UINT32_MAX) second_begin += 1u << second_bits;
        prefix = code & (kFirstEntries - 1);
        // As many more bits as the codes from here on need to fill the second table.
        second_bits = bits - kBits;
        for (std::uint32_t filled = left; filled < 1u << second_bits;
             filled = 2 * filled + counts[kBits + second_bits])
          ++second_bits;
        entries[prefix] = second_begin << 16 | kOtherFlag | kSecondTableFlag | second_bits << 8 | kBits;
      }
      const std::uint32_t rest = symbol_entries[sorted[place++]] + (bits - kBits) + ((bits - kBits) << 8);
      for (std::uint32_t at = code >> kBits; at < 1u << second_bits; at += 1u << (bits - kBits))
        entries[second_begin + at] = rest;
    }
}

}  // namespace

void build_deflate_table(DeflateLitlenTable& table, std::span<const std::uint8_t> lengths) {
  build(table, lengths, kLitlenEntries);
}

void build_deflate_table(DeflateDistanceTable& table, std::span<const std::uint8_t> lengths) {
  build(table, lengths, kDistanceEntries);
}

}  // namespace hemstitch
