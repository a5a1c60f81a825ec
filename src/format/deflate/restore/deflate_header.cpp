#include "format/deflate/restore/deflate_header.hpp"

#include <algorithm>

namespace hemstitch {
namespace {

constexpr std::string_view kBadPrecode = "the code of the code lengths is over-subscribed or incomplete";

std::uint8_t reversed_of_7(std::uint32_t code) {
  std::uint32_t reversed = 0;
  for (unsigned bit = 0; bit < kDeflateMaxPrecodeBits; ++bit)
    reversed |= (code >> bit & 1) << (kDeflateMaxPrecodeBits - 1 - bit);
  return static_cast<std::uint8_t>(reversed);
}

std::string_view read_stored_header(DeflateBits& bits, DeflateBlockHeader& header) {
  bits.skip_to_byte();
  const std::uint32_t both = bits.take_if_there(32);
  header.stored_bytes = both & 0xFFFF;
  if (header.stored_bytes != (~both >> 16)) return "the two sizes of a stored block contradict each other";
  return {};
}

void set_fixed_codes(DeflateBlockHeader& header) {
  header.litlen_count = kDeflateFixedLitlenCount;
  header.distance_count = kDeflateFixedDistanceCount;
  for (std::uint32_t symbol = 0; symbol < kDeflateFixedLitlenCount; ++symbol)
    header.litlen_bits[symbol] = static_cast<std::uint8_t>(deflate_fixed_litlen_bits(symbol));
  header.distance_bits.fill(kDeflateFixedDistanceBits);
}

// The code of the code lengths, with at most seven bits, looked up by the next seven bits.
struct Precode {
  std::array<std::uint8_t, 1 << kDeflateMaxPrecodeBits> symbols{};
  std::array<std::uint8_t, 1 << kDeflateMaxPrecodeBits> bits{};
};

std::string_view read_precode(DeflateBits& bits, unsigned count, Precode& precode) {
  std::array<std::uint8_t, kDeflatePrecodeCount> lengths{};
  for (unsigned i = 0; i < count; ++i)
    lengths[kDeflatePrecodeOrder[i]] = static_cast<std::uint8_t>(bits.take_if_there(3));
  constexpr std::uint32_t kCodes = 1 << kDeflateMaxPrecodeBits;
  std::uint32_t filled = 0;  // how many entries, in the order of their seven bits
  for (unsigned length = 1; length <= kDeflateMaxPrecodeBits; ++length)
    for (std::uint32_t symbol = 0; symbol < kDeflatePrecodeCount; ++symbol) {
      if (lengths[symbol] != length) continue;
      const std::uint32_t beyond = filled + (kCodes >> length);
      if (beyond > kCodes) return kBadPrecode;
      for (; filled < beyond; ++filled) {
        const std::uint8_t at = reversed_of_7(filled);
        precode.symbols[at] = static_cast<std::uint8_t>(symbol);
        precode.bits[at] = static_cast<std::uint8_t>(length);
      }
    }
  // If no code length has a code, zlib takes one bit for each, and later finds no end of the block.
  if (filled == 0) precode.bits.fill(1);
  if (filled != 0 && filled != kCodes) return kBadPrecode;
  return {};
}

// Reads both sets in one pass, since a run may continue from one to the other.
std::string_view read_lengths(DeflateBits& bits, const Precode& precode, std::span<std::uint8_t> lengths) {
  for (std::size_t at = 0; at < lengths.size();) {
    const std::uint32_t next = bits.peek(kDeflateMaxPrecodeBits);
    bits.skip_if_there(precode.bits[next]);
    const std::uint32_t symbol = precode.symbols[next];
    if (symbol < kDeflateRepeatLast) {
      lengths[at++] = static_cast<std::uint8_t>(symbol);
      continue;
    }
    const std::uint32_t times = symbol == kDeflateRepeatLast   ? 3 + bits.take_if_there(2)
                                : symbol == kDeflateRepeatZero ? 3 + bits.take_if_there(3)
                                                               : 11 + bits.take_if_there(7);
    if (symbol == kDeflateRepeatLast && at == 0) return "the first code length repeats an earlier one";
    if (times > lengths.size() - at) return "there are more code lengths than codes";
    const std::uint8_t value = symbol == kDeflateRepeatLast ? lengths[at - 1] : std::uint8_t{0};
    std::fill_n(lengths.begin() + static_cast<std::ptrdiff_t>(at), times, value);
    at += times;
  }
  return {};
}

// Whether the code is complete, has a single codeword of one bit, or is empty.
bool fits(std::span<const std::uint8_t> lengths) {
  std::array<std::uint32_t, kDeflateMaxCodeBits + 1> counts{};
  for (const std::uint8_t length : lengths) ++counts[length];
  const std::size_t codes = lengths.size() - counts[0];
  if (codes == 0 || (codes == 1 && counts[1] == 1)) return true;
  std::uint32_t filled = 0;  // how many codewords of the greatest length
  for (unsigned bits = 1; bits <= kDeflateMaxCodeBits; ++bits)
    filled += counts[bits] << (kDeflateMaxCodeBits - bits);
  return filled == 1u << kDeflateMaxCodeBits;
}

std::string_view read_dynamic_codes(DeflateBits& bits, DeflateBlockHeader& header) {
  const std::uint32_t counts = bits.take_if_there(14);
  header.litlen_count = kDeflateFirstLengthSymbol + (counts & 31);
  header.distance_count = 1 + (counts >> 5 & 31);
  if (header.litlen_count > kDeflateLitlenCount || header.distance_count > kDeflateDistanceCount)
    return "a block has codes for more lengths or distances than exist";
  Precode precode;
  if (const auto damage = read_precode(bits, 4 + (counts >> 10), precode); !damage.empty() || bits.ended())
    return damage;

  std::array<std::uint8_t, kDeflateLitlenCount + kDeflateDistanceCount> both{};
  const std::span<std::uint8_t> lengths = std::span(both).first(header.litlen_count + header.distance_count);
  if (const auto damage = read_lengths(bits, precode, lengths); !damage.empty() || bits.ended())
    return damage;
  const auto distances = lengths.begin() + static_cast<std::ptrdiff_t>(header.litlen_count);
  std::copy(lengths.begin(), distances, header.litlen_bits.begin());
  std::copy(distances, lengths.end(), header.distance_bits.begin());

  if (header.litlen_bits[kDeflateEndOfBlock] == 0) return "the end of a block has no code";
  if (!fits(header.litlen_lengths()))
    return "the code of literals and lengths is over-subscribed or incomplete";
  if (!fits(header.distance_lengths())) return "the code of distances is over-subscribed or incomplete";
  return {};
}

}  // namespace

void DeflateCode::set(std::span<const std::uint8_t> lengths) {
  counts_.fill(0);
  for (const std::uint8_t length : lengths) ++counts_[length];
  counts_[0] = 0;
  longest_bits_ = kDeflateMaxCodeBits;
  while (longest_bits_ > 0 && counts_[longest_bits_] == 0) --longest_bits_;
  std::array<std::uint16_t, kDeflateMaxCodeBits + 1> next{};  // where the next symbol of each length goes
  for (unsigned bits = 1; bits <= kDeflateMaxCodeBits; ++bits)
    next[bits] = static_cast<std::uint16_t>(next[bits - 1] + counts_[bits - 1]);
  for (std::size_t symbol = 0; symbol < lengths.size(); ++symbol)
    if (lengths[symbol] != 0) symbols_[next[lengths[symbol]]++] = static_cast<std::uint16_t>(symbol);
}

std::uint32_t DeflateCode::decode(DeflateBits& bits, std::string_view what) const {
  // Among the codes with as many bits as were read so far: the first one, and the place of its symbol.
  std::uint32_t code = 0, first = 0, index = 0;
  for (unsigned length = 1;; ++length) {
    code |= bits.take(1);
    const std::uint32_t count = counts_[length];
    if (code - first < count) return symbols_[index + code - first];
    if (length >= longest_bits_) throw DeflateDamage{what};
    index += count;
    first = (first + count) << 1;
    code <<= 1;
  }
}

std::string_view read_deflate_block_header(DeflateBits& bits, DeflateBlockHeader& header) {
  const std::uint32_t head = bits.take_if_there(3);
  header.final = (head & 1) != 0;
  header.type = static_cast<DeflateBlockType>(head >> 1);
  switch (header.type) {
    case DeflateBlockType::kStored:
      return read_stored_header(bits, header);
    case DeflateBlockType::kFixed:
      set_fixed_codes(header);
      return {};
    case DeflateBlockType::kDynamic:
      return read_dynamic_codes(bits, header);
    case DeflateBlockType::kReserved:
      break;
  }
  return "a block has the reserved type";
}

DeflateBlockHeader read_deflate_block_header(DeflateBits& bits) {
  DeflateBlockHeader header;
  const std::string_view damage = read_deflate_block_header(bits, header);
  if (bits.ended()) throw DeflateInputEnds{};
  if (!damage.empty()) throw DeflateDamage{damage};
  return header;
}

}  // namespace hemstitch
