// Turns blocks and their tokens into bits.
//
// Blocks follow each other without padding bits. An empty stored block that ended each chunk of 64 KB at a
// byte would cost 0.02 % of the output and save a device nothing, since sizes are known before anything is
// written.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "format/deflate/compress/codes/deflate_block.hpp"
#include "format/deflate/compress/codes/deflate_tokens.hpp"

namespace hemstitch {

// Packs bits into bytes, from the lowest on. Counts everything, but writes only what fits.
class DeflateBitWriter {
 public:
  explicit DeflateBitWriter(std::span<std::byte> output) : output_(output) {}

  // `count` is at most 32; `value` must have no higher bits.
  void put(std::uint32_t value, std::uint32_t count) {
    held_ |= std::uint64_t{value} << held_bits_;
    for (held_bits_ += count; held_bits_ >= 8; held_bits_ -= 8, held_ >>= 8)
      put_byte(static_cast<std::byte>(held_ & 0xFF));
  }
  void pad_to_byte() { put(0, (8 - held_bits_) % 8); }
  void put_bytes(std::span<const std::byte> bytes);

  // The number of full bytes.
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

// Writes `content` in the form that `block` gives: as tokens or unchanged. `last` sets the bit that ends the
// stream.
void put_deflate_block(const DeflateBlock& block, std::span<const DeflateToken> tokens,
                       std::span<const std::byte> content, bool last, DeflateBitWriter& writer);

// Writes `content` in stored blocks: as few as possible, all full except the last; one block if it is empty.
void put_deflate_stored(std::span<const std::byte> content, bool last, DeflateBitWriter& writer);

}  // namespace hemstitch
