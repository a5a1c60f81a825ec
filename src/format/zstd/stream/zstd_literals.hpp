// Literals of a block of Zstandard at speed (RFC 8878, section 4.2): the four streams in turn, two symbols a look-up.
//
// It accepts exactly what the reference restorer does (zstd_sections.hpp), but says of damage only that there is some.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

#include "format/zstd/restore/zstd_tables.hpp"

namespace hemstitch {

// What the next `bits` bits begin with: a symbol, or two of them where both are in these bits.
class ZstdLiteralsTable {
 public:
  void make(const ZstdHuffman& table, bool pairs);

  // `to` has kZstdReadBeyond bytes of room behind, and so much may be read around `data`. Returns false for damage.
  bool restore(std::span<const std::byte> data, bool four_streams, std::span<std::byte> to) const;

 private:
  // From the lowest bit on: 8 bits say how many bits the symbols take, 8 how many symbols there are; then the symbols.
  using Entry = std::uint32_t;
  struct Stream;

  template <std::size_t Count>
  bool restore_streams(std::array<Stream, Count>& streams) const;

  unsigned bits_ = 0;
  std::array<Entry, 1 << 12> entries_;
  std::array<ZstdHuffman::Entry, 1 << 12> singles_;
};

}  // namespace hemstitch
