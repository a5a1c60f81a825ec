// What generators write with.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "choices.hpp"
#include "shapes.hpp"

namespace hemstitch::testing {

inline void put_le(Bytes& to, std::uint64_t value, std::size_t bytes) {
  for (std::size_t i = 0; i < bytes; ++i) to.push_back(static_cast<std::byte>(value >> 8 * i));
}

inline void append(Bytes& to, std::span<const std::byte> bytes) {
  to.insert(to.end(), bytes.begin(), bytes.end());
}

// From the lowest bit of each byte on.
class BitWriter {
 public:
  void put(std::uint64_t value, unsigned count) {
    for (unsigned i = 0; i < count; ++i, ++bits_) {
      if (bits_ % 8 == 0) bytes_.push_back(std::byte{0});
      bytes_.back() |= static_cast<std::byte>((value >> i & 1) << bits_ % 8);
    }
  }
  // For what is read from the end: the mark behind what was written last.
  Bytes with_mark() {
    put(1, 1);
    return bytes_;
  }
  const Bytes& bytes() const { return bytes_; }
  std::size_t bit_count() const { return bits_; }

 private:
  Bytes bytes_;
  std::size_t bits_ = 0;
};

// Lengths of `count` prefix codes that leave nothing over: one code of 0 bits is split, again and again. At most 2^most_bits.
inline std::vector<unsigned> random_code_lengths(Choices& choices, std::size_t count, unsigned most_bits) {
  const std::size_t style = choices.below(3);
  std::vector<unsigned> lengths{0};
  while (lengths.size() < count) {
    std::size_t at = choices.below(lengths.size());
    if (style == 0)
      at = static_cast<std::size_t>(std::min_element(lengths.begin(), lengths.end()) - lengths.begin());
    if (style == 1 && lengths.back() < most_bits) at = lengths.size() - 1;
    if (lengths[at] == most_bits) continue;
    lengths.push_back(++lengths[at]);
  }
  return lengths;
}

}  // namespace hemstitch::testing
