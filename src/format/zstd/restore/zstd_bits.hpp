// Zstandard's two directions of bits, and how damage is reported.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

namespace hemstitch {

// Thrown if data is invalid; `rule` is a string literal that says which rule of the format it breaks.
struct ZstdDamage {
  std::string_view rule;
};

inline void require_zstd(bool holds, std::string_view rule) {
  if (!holds) throw ZstdDamage{rule};
}

// Up to eight bytes, the first one lowest.
inline std::uint64_t zstd_number(std::span<const std::byte> bytes) {
  std::uint64_t value = 0;
  for (std::size_t i = 0; i < bytes.size(); ++i) value |= static_cast<std::uint64_t>(bytes[i]) << (8 * i);
  return value;
}

// Bits of a description that is read forwards, the lowest of each byte first (4.1.1). Zeros follow its end;
// used_bytes() then says that too many were taken.
class ZstdForwardBits {
 public:
  explicit ZstdForwardBits(std::span<const std::byte> bytes) : bytes_(bytes) {}

  // At most 32.
  std::uint32_t peek(unsigned count) const {
    const std::size_t at = bit_ / 8;
    const auto here = at < bytes_.size() ? bytes_.subspan(at) : std::span<const std::byte>();
    const std::uint64_t word = zstd_number(here.first(here.size() < 8 ? here.size() : 8));
    return static_cast<std::uint32_t>(word >> bit_ % 8 & ((std::uint64_t{1} << count) - 1));
  }
  void skip(unsigned count) { bit_ += count; }
  std::uint32_t take(unsigned count) {
    const std::uint32_t value = peek(count);
    skip(count);
    return value;
  }
  std::size_t used_bytes() const { return (bit_ + 7) / 8; }

 private:
  std::span<const std::byte> bytes_;
  std::size_t bit_ = 0;
};

// Bits of a stream that is read from its end: the highest set bit of its last byte marks the end, and is not
// part of it (4.1). Zeros stand before the first byte; left() is negative once they were taken.
class ZstdBackwardBits {
 public:
  // Throws ZstdDamage if there is no mark.
  explicit ZstdBackwardBits(std::span<const std::byte> bytes) : bytes_(bytes) {
    require_zstd(!bytes.empty() && bytes.back() != std::byte{0},
                 "a stream of bits has no mark at its end (4.1)");
    left_ = static_cast<std::int64_t>(8 * bytes.size()) -
            std::countl_zero(static_cast<std::uint8_t>(bytes.back())) - 1;
  }

  // At most 32.
  std::uint32_t peek(unsigned count) const {
    const std::int64_t low = left_ - count;
    if (left_ <= 0) return 0;
    const std::uint64_t mask = (std::uint64_t{1} << count) - 1;
    const std::size_t at = low < 0 ? 0 : static_cast<std::size_t>(low) / 8;
    const auto here = bytes_.subspan(at);
    const std::uint64_t word = zstd_number(here.first(here.size() < 8 ? here.size() : 8));
    return static_cast<std::uint32_t>((low < 0 ? word << -low : word >> low % 8) & mask);
  }
  void skip(unsigned count) { left_ -= count; }
  std::uint32_t take(unsigned count) {
    const std::uint32_t value = peek(count);
    skip(count);
    return value;
  }
  std::int64_t left() const { return left_; }

 private:
  std::span<const std::byte> bytes_;
  std::int64_t left_ = 0;
};

}  // namespace hemstitch
