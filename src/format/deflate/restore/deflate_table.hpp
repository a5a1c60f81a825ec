// Tables with which decoders on the processor find tokens. A look-up with the next bits, several at a time,
// gives how many of these a symbol takes with its extra bits, and what it is. Codes that are too long for a
// table continue in a second one after it.
#pragma once

#include <array>
#include <cstdint>
#include <span>

#include "format/deflate/block/deflate_symbols.hpp"

namespace hemstitch {

// What the next bits are. A word:
//   bits 0-5: how many bits to take, those of the code and its extra bits | bits 8-11: how many of them are the code's
//   bits 12-15: flags | bits 16-31: the literal, the smallest length or distance, or where the second table begins
// Where a second table follows, bits 0-5 are those that found it, bits 8-11 those that are looked up in it.
template <unsigned Bits, unsigned Symbols>
struct DeflateTable {
  static constexpr unsigned kBits = Bits;
  // A second table for codes of up to n bits more is shared by at least n + 1 codes.
  static constexpr unsigned kMoreBits = kDeflateMaxCodeBits - Bits;
  static constexpr unsigned kMostEntries = (1u << Bits) + Symbols / (kMoreBits + 1) * (1u << kMoreBits);
  std::array<std::uint32_t, kMostEntries> entries;
};
using DeflateLitlenTable = DeflateTable<11, kDeflateFixedLitlenCount>;
using DeflateDistanceTable = DeflateTable<8, kDeflateFixedDistanceCount>;

// The lengths must be valid (deflate_header.hpp).
void build_deflate_table(DeflateLitlenTable& table, std::span<const std::uint8_t> lengths);
void build_deflate_table(DeflateDistanceTable& table, std::span<const std::uint8_t> lengths);

namespace deflate_table {

inline constexpr std::uint32_t kLiteralFlag = 1u << 12, kEndFlag = 1u << 13, kSecondTableFlag = 1u << 14;
inline constexpr std::uint32_t kOtherFlag =
    1u << 15;  // of all but literals, lengths and distances; alone: no code

constexpr unsigned taken_bits(std::uint32_t entry) { return entry & 63; }
constexpr unsigned code_bits(std::uint32_t entry) { return entry >> 8 & 15; }
constexpr std::uint32_t payload(std::uint32_t entry) { return entry >> 16; }
constexpr std::uint32_t low_bits(std::uint64_t bits, unsigned count) {
  return static_cast<std::uint32_t>(bits & ((std::uint64_t{1} << count) - 1));
}
// The smallest value and the extra bits, which follow the code.
constexpr std::uint32_t value_of(std::uint32_t entry, std::uint64_t bits) {
  return payload(entry) + (low_bits(bits, taken_bits(entry)) >> code_bits(entry));
}

}  // namespace deflate_table
}  // namespace hemstitch
