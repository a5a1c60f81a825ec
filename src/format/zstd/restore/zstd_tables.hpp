// The decoding tables of Zstandard: FSE (RFC 8878, section 4.1) and Huffman (4.2).
//
// Both are refused unless they are complete, so that no bits lead outside of a table.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "format/zstd/block/zstd_symbols.hpp"

namespace hemstitch {

// A state of FSE is the number of a cell. The next one is the cell's base, plus as many bits as it says.
struct ZstdCell {
  std::uint8_t symbol = 0, bits = 0;
  std::uint16_t base = 0;
};
struct ZstdTable {
  unsigned log = 0;
  std::vector<ZstdCell> cells;  // 2^log
};

// From probabilities to cells. A probability of -1 means less than 1.
ZstdTable make_zstd_table(std::span<const std::int8_t> probabilities, unsigned log);
ZstdTable make_zstd_table(std::span<const std::int16_t> probabilities, unsigned log);
// The table of a single symbol, which takes no bits.
ZstdTable make_zstd_rle_table(std::uint8_t symbol);

// These two read a description at the start of `bytes`, and set `used_bytes` to its size. They throw
// ZstdDamage.
ZstdTable read_zstd_table(std::span<const std::byte> bytes, unsigned most_log, unsigned most_symbol,
                          std::size_t& used_bytes);

// What the next `most_bits` bits begin with.
struct ZstdHuffman {
  struct Entry {
    std::uint8_t symbol = 0, bits = 0;
  };
  unsigned most_bits = 0;
  std::vector<Entry> entries;  // 2^most_bits
};
ZstdHuffman read_zstd_huffman(std::span<const std::byte> bytes, std::size_t& used_bytes);

}  // namespace hemstitch
