// What stands before a DEFLATE block's tokens (RFC 1951, sections 3.2.2 to 3.2.7), read once for every decoder on the processor: so
// what is refused here is refused by all of them.
//
// What is refused is what zlib's inflate refuses, at the same bit. A set of code lengths is over-subscribed where more codes of these
// lengths are asked for than there are, and incomplete where some bits are no code. The RFC forbids the first; zlib forbids both, but for
// a single code of one bit, whose other half is no code, and for no code of a distance at all, in blocks of literals alone.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

#include "core/bytes.hpp"
#include "format/deflate/block/deflate_symbols.hpp"

namespace hemstitch {

// Thrown where more bits are wanted than there are.
struct DeflateInputEnds {};
// Thrown where what is read is no DEFLATE; `what` is a literal.
struct DeflateDamage {
  std::string_view what;
};

// Bits from the lowest of the first byte on.
class DeflateBits {
 public:
  DeflateBits(std::span<const std::byte> bytes, std::uint64_t position_bits)
      : bytes_(bytes), position_bits_(position_bits) {}

  // At most 32, the first one lowest. Throws DeflateInputEnds, and takes none then.
  std::uint32_t take(unsigned count) {
    const std::uint32_t value = peek(count);
    skip(count);
    return value;
  }
  // The same without taking them; what there is not is 0.
  std::uint32_t peek(unsigned count) const {
    std::uint64_t word = 0;
    const std::size_t at = static_cast<std::size_t>(position_bits_ / 8);
    if (bytes_.size() - at >= sizeof word)
      word = load_le64(bytes_.data() + at);
    else
      for (std::size_t i = at; i < bytes_.size(); ++i)
        word |= static_cast<std::uint64_t>(bytes_[i]) << 8 * (i - at);
    return static_cast<std::uint32_t>(word >> position_bits_ % 8 & ((std::uint64_t{1} << count) - 1));
  }
  // Throws DeflateInputEnds, and takes none then.
  void skip(unsigned count) {
    if (position_bits_ + count > bytes_.size() * std::uint64_t{8}) throw DeflateInputEnds{};
    position_bits_ += count;
  }
  // The same without exceptions: what there is not is 0, and ended() from then on.
  std::uint32_t take_if_there(unsigned count) {
    const std::uint32_t value = peek(count);
    return skip_if_there(count) ? value : 0;
  }
  bool skip_if_there(unsigned count) {
    ended_ = ended_ || position_bits_ + count > bytes_.size() * std::uint64_t{8};
    if (!ended_) position_bits_ += count;
    return !ended_;
  }
  bool ended() const { return ended_; }
  void skip_to_byte() { position_bits_ = (position_bits_ + 7) / 8 * 8; }
  std::uint64_t position_bits() const { return position_bits_; }

 private:
  std::span<const std::byte> bytes_;
  std::uint64_t position_bits_;
  bool ended_ = false;
};

// A canonical Huffman code: codes of the same length are neighbours in the order of their symbols, and behind the shorter ones.
class DeflateCode {
 public:
  // Those of a block's header, which fit. Symbols with a length of 0 have no code.
  void set(std::span<const std::uint8_t> lengths);

  // The next symbol; nothing is returned that has no code. Throws DeflateInputEnds, and DeflateDamage of `what`.
  std::uint32_t decode(DeflateBits& bits, std::string_view what) const;

 private:
  std::array<std::uint16_t, kDeflateMaxCodeBits + 1> counts_{};  // of codes of each length
  std::array<std::uint16_t, kDeflateFixedLitlenCount> symbols_{};
  unsigned longest_bits_ = 0;
};

// A stored block that is shorter is none to enter a stream by (stream/deflate_finder.hpp).
inline constexpr std::uint32_t kDeflateLeastStoredStart = 4096;

struct DeflateBlockHeader {
  bool final = false;
  DeflateBlockType type = DeflateBlockType::kStored;
  std::uint32_t stored_bytes = 0;
  // Code lengths of blocks that are not stored: those of the fixed codes, or as they were read.
  std::array<std::uint8_t, kDeflateFixedLitlenCount> litlen_bits{};
  std::array<std::uint8_t, kDeflateFixedDistanceCount> distance_bits{};
  std::uint32_t litlen_count = 0, distance_count = 0;

  std::span<const std::uint8_t> litlen_lengths() const { return std::span(litlen_bits).first(litlen_count); }
  std::span<const std::uint8_t> distance_lengths() const {
    return std::span(distance_bits).first(distance_count);
  }
};

// Throws DeflateInputEnds and DeflateDamage.
DeflateBlockHeader read_deflate_block_header(DeflateBits& bits);
// The same without exceptions, which a browser's modules cannot catch: where bits.ended() more bits are wanted; otherwise returns what is wrong, or
// nothing.
std::string_view read_deflate_block_header(DeflateBits& bits, DeflateBlockHeader& header);

// Literals and lengths, and distances: where they say that something is none, DeflateDamage says this.
inline constexpr std::string_view kNoLitlenCode = "the bits here are not a code of a literal or a length";
inline constexpr std::string_view kNoDistanceCode = "the bits here are not a code of a distance";
inline constexpr std::string_view kDistanceTooFar = "a match begins before the content";

}  // namespace hemstitch
