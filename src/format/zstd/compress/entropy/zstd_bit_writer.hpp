// Bits from the lowest of each byte on: descriptions of tables (RFC 8878, section 4.1.1), and streams that are read from their end
// (4.1), of which what is written last is read first.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace hemstitch {

class ZstdBitWriter {
 public:
  // Appends to `to`, which must outlive it.
  explicit ZstdBitWriter(std::vector<std::byte>& to) : to_(to) {}

  // At most 32, of which only these are set in `value`.
  void put(std::uint32_t value, unsigned count) {
    word_ |= std::uint64_t{value} << bits_;
    bits_ += count;
    for (; bits_ >= 8; bits_ -= 8, word_ >>= 8) to_.push_back(static_cast<std::byte>(word_));
  }
  // Fills the last byte with zeros.
  void end() {
    if (bits_ > 0) to_.push_back(static_cast<std::byte>(word_));
    word_ = bits_ = 0;
  }
  // Ends a stream that is read from its end, with the bit that marks it.
  void end_backward() {
    put(1, 1);
    end();
  }

 private:
  std::vector<std::byte>& to_;
  std::uint64_t word_ = 0;
  unsigned bits_ = 0;
};

}  // namespace hemstitch
