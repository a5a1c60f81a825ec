// Reads the header of a DEFLATE block (RFC 1951, sections 3.2.2 to 3.2.7) for all decoders on the processor,
// so all of them refuse the same headers.
//
// It refuses what zlib's inflate refuses, at the same bit. A set of code lengths is over-subscribed if it
// asks for more codes of these lengths than exist, and incomplete if some bits are not a code. The RFC
// forbids the first. zlib forbids both, with two exceptions: a single code of one bit, and no distance codes
// at all in blocks that have only literals.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

#include "core/bytes.hpp"
#include "format/deflate/block/deflate_symbols.hpp"

namespace hemstitch {

// Thrown if more bits are needed than there are.
struct DeflateInputEnds {};
// Thrown if the data is invalid; `what` is a string literal.
struct DeflateDamage {
  std::string_view what;
};

// Reads bits from the lowest of the first byte on.
class DeflateBits {
 public:
  DeflateBits(std::span<const std::byte> bytes, std::uint64_t position_bits)
      : bytes_(bytes), position_bits_(position_bits) {}

  // Takes at most 32 bits, the first one lowest. Throws DeflateInputEnds, and takes none then.
  std::uint32_t take(unsigned count) {
    const std::uint32_t value = peek(count);
    skip(count);
    return value;
  }
  // The same without taking them; missing bits are 0.
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
  // The same without exceptions: missing bits are 0, and ended() is true from then on.
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

// A canonical Huffman code: codes of the same length are consecutive, in the order of their symbols, and
// follow the shorter ones.
class DeflateCode {
 public:
  // Sets the lengths from a block's header, which must be valid. Symbols with length 0 have no code.
  void set(std::span<const std::uint8_t> lengths);

  // The next symbol. Throws DeflateInputEnds, and DeflateDamage with `what` if the bits are not a code.
  std::uint32_t decode(DeflateBits& bits, std::string_view what) const;

 private:
  std::array<std::uint16_t, kDeflateMaxCodeBits + 1> counts_{};  // of codes of each length
  std::array<std::uint16_t, kDeflateFixedLitlenCount> symbols_{};
  unsigned longest_bits_ = 0;
};

// A shorter stored block does not serve as a place to enter a stream (stream/deflate_finder.hpp).
inline constexpr std::uint32_t kDeflateLeastStoredStart = 4096;

struct DeflateBlockHeader {
  bool final = false;
  DeflateBlockType type = DeflateBlockType::kStored;
  std::uint32_t stored_bytes = 0;
  // Code lengths of a block that is not stored: those of the fixed codes, or as they were read.
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
// The same without exceptions, which a browser's modules cannot catch. If bits.ended(), more bits are needed;
// otherwise returns what is wrong, or nothing.
std::string_view read_deflate_block_header(DeflateBits& bits, DeflateBlockHeader& header);

// What DeflateDamage says about invalid literals and lengths, distances, and matches.
inline constexpr std::string_view kNoLitlenCode = "the bits here are not a code of a literal or a length";
inline constexpr std::string_view kNoDistanceCode = "the bits here are not a code of a distance";
inline constexpr std::string_view kDistanceTooFar = "a match begins before the content";

}  // namespace hemstitch
