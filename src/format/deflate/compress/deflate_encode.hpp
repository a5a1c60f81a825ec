// From blocks and their tokens to bits.
//
// Blocks follow one another to the bit: the empty stored block that would end each chunk of 64 KB on a byte costs 0.02 % of the
// output and saves a device nothing, since sizes are known before anything is written.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "format/deflate/compress/deflate_block.hpp"
#include "format/deflate/compress/deflate_tokens.hpp"

namespace hemstitch {

// Packs bits into bytes, from the lowest on. What does not fit is counted, and not written.
class DeflateBitWriter {
 public:
  explicit DeflateBitWriter(std::span<std::byte> output) : output_(output) {}

  // `count` is at most 32; `value` has no higher bits.
  void put(std::uint32_t value, std::uint32_t count) {
    held_ |= std::uint64_t{value} << held_bits_;
    for (held_bits_ += count; held_bits_ >= 8; held_bits_ -= 8, held_ >>= 8)
      put_byte(static_cast<std::byte>(held_ & 0xFF));
  }
  void pad_to_byte() { put(0, (8 - held_bits_) % 8); }
  void put_bytes(std::span<const std::byte> bytes);

  // Bytes that are full.
  std::size_t bytes() const { return bytes_; }
  bool fits() const { return bytes_ <= output_.size(); }

 private:
  void put_byte(std::byte byte) {
    if (bytes_ < output_.size()) output_[bytes_] = byte;
    ++bytes_;
  }

  std::span<std::byte> output_;
  std::size_t bytes_ = 0;
  std::uint64_t held_ = 0;
  std::uint32_t held_bits_ = 0;  // below 8 between calls
};

// Writes `content` as `block` says: as its tokens or as it is. `last` sets the bit that ends the stream.
void put_deflate_block(const DeflateBlock& block, std::span<const DeflateToken> tokens,
                       std::span<const std::byte> content, bool last, DeflateBitWriter& writer);

// Stored blocks that hold `content`: as few as can be, all but the last one full; one where it is empty.
void put_deflate_stored(std::span<const std::byte> content, bool last, DeflateBitWriter& writer);

}  // namespace hemstitch
