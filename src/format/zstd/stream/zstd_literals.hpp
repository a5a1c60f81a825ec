// Literals of a block of Zstandard at speed (RFC 8878, section 4.2): the four streams in turn, so that none waits for
// another.
//
// It accepts exactly what the reference restorer does (zstd_sections.hpp), but says of damage only that there is some.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

#include "format/zstd/restore/zstd_tables.hpp"

namespace hemstitch {

class ZstdLiteralsTable {
 public:
  void make(const ZstdHuffman& table);

  // Around `data`, kZstdReadBeyond bytes may be read. Returns false for damage.
  bool restore(std::span<const std::byte> data, bool four_streams, std::span<std::byte> to) const;

 private:
  // What the next `bits_` bits begin with: how many bits the symbol takes, in the lower byte, and the symbol.
  using Entry = std::uint16_t;

  using Streams = std::array<std::span<const std::byte>, 4>;

  template <unsigned Lookups>
  std::size_t restore_turns(const Streams& streams, std::size_t each, std::size_t count, std::byte* to,
                            std::array<std::int64_t, 4>& left_bits) const;
  bool restore_rest(std::span<const std::byte> stream, std::int64_t left_bits, std::span<std::byte> to) const;

  unsigned bits_ = 0;
  std::array<Entry, 1 << 12> entries_;
};

}  // namespace hemstitch
