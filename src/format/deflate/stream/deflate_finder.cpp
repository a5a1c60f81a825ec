#include "format/deflate/stream/deflate_finder.hpp"

#include <algorithm>
#include <array>

#include "core/bytes.hpp"
#include "format/deflate/stream/deflate_start.hpp"

namespace hemstitch {
namespace {

// For the next bits of step 1: how many of them to skip before a block may begin; 0 if it may begin here.
constexpr auto kBitsToPass = [] {
  constexpr std::uint32_t kCount = 1u << kDeflateStartBits;
  std::array<std::uint8_t, kCount> table{};
  for (std::uint32_t bits = 0; bits < kCount; ++bits) {
    unsigned pass = 0;
    // A block begins with the bits 0 0 1. Unseen bits may have any value; those of counts are taken as 0.
    const auto may = [&] {
      const std::uint32_t seen = bits >> pass;
      const unsigned left = kDeflateStartBits - pass;
      if (left >= 3) return may_begin_dynamic_block(seen);
      return left == 2 ? seen == 0 : (seen & 1) == 0;
    };
    while (pass < kDeflateStartBits && !may()) ++pass;
    table[bits] = static_cast<std::uint8_t>(pass);
  }
  return table;
}();

// The sum of the shares of four lengths of the code of code lengths.
constexpr auto kShares = [] {
  std::array<std::uint16_t, 1 << 12> table{};
  for (std::uint32_t lengths = 0; lengths < table.size(); ++lengths)
    for (unsigned i = 0; i < 4; ++i)
      table[lengths] = static_cast<std::uint16_t>(table[lengths] + precode_share(lengths >> 3 * i & 7));
  return table;
}();

// At least the next 57 bits.
std::uint64_t bits_at(const std::byte* bytes, std::uint64_t at_bits) {
  return load_le64(bytes + at_bits / 8) >> at_bits % 8;
}

std::uint64_t precode_lengths(const std::byte* bytes, std::uint64_t at_bits, std::uint32_t head) {
  const unsigned count = 4 + (head >> kDeflateStartBits & 15);
  return bits_at(bytes, at_bits + kDeflatePrecodeLengthsAt) & ((std::uint64_t{1} << 3 * count) - 1);
}

// Steps 2 and 3, for a position that passed step 1.
bool begins_dynamic_block(std::span<const std::byte> bytes, std::uint64_t at_bits, std::uint32_t head) {
  const std::uint64_t lengths = precode_lengths(bytes.data(), at_bits, head);
  std::uint32_t filled = 0;
  for (std::uint64_t left = lengths; left != 0; left >>= 12) filled += kShares[left & 0xFFF];
  if (filled != 128) return false;

  // The code of code lengths, looked up by the next seven bits: a symbol, and above it its bits.
  std::array<std::uint8_t, kDeflatePrecodeCount> symbol_bits{};
  for (unsigned i = 0; i < kDeflatePrecodeCount; ++i)
    symbol_bits[kDeflatePrecodeOrder[i]] = static_cast<std::uint8_t>(lengths >> 3 * i & 7);
  std::array<std::uint8_t, 1 << kDeflateMaxPrecodeBits> table;
  std::uint32_t code = 0;  // of seven bits, with its first bit highest
  for (unsigned length = 1; length <= kDeflateMaxPrecodeBits; ++length)
    for (std::uint32_t symbol = 0; symbol < kDeflatePrecodeCount; ++symbol) {
      if (symbol_bits[symbol] != length) continue;
      std::uint32_t reversed = 0;
      for (unsigned bit = 0; bit < length; ++bit)
        reversed |= (code >> (kDeflateMaxPrecodeBits - 1 - bit) & 1) << bit;
      for (std::uint32_t at = reversed; at < table.size(); at += 1u << length)
        table[at] = static_cast<std::uint8_t>(symbol | length << 5);
      code += 128u >> length;
    }

  DeflateCodeSums sums(kDeflateFirstLengthSymbol + (head >> 3 & 31), 1 + (head >> 8 & 31));
  std::uint64_t position =
      at_bits + kDeflatePrecodeLengthsAt + std::uint64_t{3} * (4 + (head >> kDeflateStartBits & 15));
  const std::uint64_t end_bits = bytes.size() * std::uint64_t{8};
  std::uint32_t last = UINT32_MAX;
  while (sums.left() != 0) {
    if (position >= end_bits) return false;
    const std::uint64_t next = bits_at(bytes.data(), position);
    const std::uint32_t entry = table[next & 127], symbol = entry & 31;
    const unsigned taken = entry >> 5;
    const auto more = [&](unsigned count) {
      return static_cast<std::uint32_t>(next >> taken & ((1u << count) - 1));
    };
    std::uint32_t times = 1;
    unsigned extra = 0;
    if (symbol == kDeflateRepeatLast) {
      if (last == UINT32_MAX) return false;
      times = 3 + more(extra = 2);
    } else if (symbol == kDeflateRepeatZero) {
      times = 3 + more(extra = 3);
      last = 0;
    } else if (symbol == kDeflateRepeatZeroLong) {
      times = 11 + more(extra = 7);
      last = 0;
    } else {
      last = symbol;
    }
    if (times > sums.left()) return false;
    sums.add(last, times);
    position += taken + extra;
  }
  return position <= end_bits && sums.fit();
}

// The size of the stored block whose two size fields are at this byte; nothing if they contradict each other.
std::optional<std::uint32_t> stored_bytes(std::span<const std::byte> bytes, std::uint64_t at) {
  if (at + 4 > bytes.size()) return std::nullopt;
  const std::uint32_t both = load_le32(bytes.data() + at);
  if (((both ^ both >> 16) & 0xFFFF) != 0xFFFF) return std::nullopt;
  return both & 0xFFFF;
}

// Whether the size fields of a stored block are at this byte, and another block, stored or dynamic, follows
// it.
bool begins_stored_block(std::span<const std::byte> bytes, std::uint64_t at) {
  const std::optional<std::uint32_t> size = stored_bytes(bytes, at);
  if (!size || *size < kDeflateLeastStoredStart || at == 0 ||
      (static_cast<unsigned>(bytes[at - 1]) & 0xE0) != 0)
    return false;
  const std::uint64_t behind = at + 4 + *size;
  if (behind >= bytes.size()) return false;
  const auto head = static_cast<std::uint32_t>(bits_at(bytes.data(), behind * 8));
  if ((head >> 1 & 3) == 0) return stored_bytes(bytes, behind + 1).has_value();
  return may_begin_dynamic_block(head & ~1u) && begins_dynamic_block(bytes, behind * 8, head);
}

}  // namespace

std::optional<std::uint64_t> find_deflate_start(std::span<const std::byte> bytes, std::uint64_t from_bits,
                                                std::uint64_t to_bits) {
  const std::uint64_t end_bits = std::min(to_bits, bytes.size() * std::uint64_t{8});
  std::uint64_t stored_at =
      (from_bits + 3 + 7) / 8;  // the next byte that is tested for the sizes of a stored block
  for (std::uint64_t at = from_bits; at < end_bits;) {
    for (; stored_at * 8 < at + 3 + 8 && stored_at * 8 - 3 < end_bits; ++stored_at)
      if (begins_stored_block(bytes, stored_at)) {
        // Only dynamic blocks that begin after the last tested position and before the stored block come
        // before it.
        for (; at < stored_at * 8 - 3; ++at) {
          const auto head = static_cast<std::uint32_t>(bits_at(bytes.data(), at));
          if (may_begin_dynamic_block(head) && begins_dynamic_block(bytes, at, head)) return at;
        }
        return stored_at * 8 - 3;
      }
    const auto head = static_cast<std::uint32_t>(bits_at(bytes.data(), at));
    const unsigned pass = kBitsToPass[head & ((1u << kDeflateStartBits) - 1)];
    if (pass == 0 && begins_dynamic_block(bytes, at, head)) return at;
    at += pass == 0 ? 1 : pass;
  }
  return std::nullopt;
}

std::uint64_t deflate_start_key(std::span<const std::byte> bytes, std::uint64_t at_bits) {
  const bool stored = at_bits / 8 < bytes.size() &&
                      (static_cast<std::uint32_t>(at_bits % 8 > 5 && at_bits / 8 + 1 < bytes.size()
                                                      ? (static_cast<unsigned>(bytes[at_bits / 8]) |
                                                         static_cast<unsigned>(bytes[at_bits / 8 + 1]) << 8)
                                                      : static_cast<unsigned>(bytes[at_bits / 8])) >>
                           at_bits % 8 &
                       7) == 0;
  return stored ? (at_bits + 3 + 7) / 8 * 16 + 1 : at_bits * 2;
}

}  // namespace hemstitch
