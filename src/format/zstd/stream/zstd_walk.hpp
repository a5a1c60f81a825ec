// What the headers inside a block of Zstandard say, without decoding it: where its literals and sequences are, and
// which block described the tables that it uses. So blocks are decoded apart from each other.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <utility>
#include <vector>

#include "format/zstd/block/zstd_block_header.hpp"
#include "format/zstd/restore/zstd_dictionary.hpp"
#include "format/zstd/restore/zstd_sections.hpp"

namespace hemstitch {

// The bytes that describe a block's tables, for later blocks, and perhaps a few more: the start of the literals' data,
// or the section of sequences from the tables' modes on. It is known by its address.
using ZstdDescription = std::shared_ptr<const std::vector<std::byte>>;
// What described the tables that were used last; null: nothing yet.
struct ZstdOrigins {
  ZstdDescription literals;
  std::array<ZstdDescription, 3> codes;  // of literal counts, offsets, match lengths
};

// As if a block before the frame had described the dictionary's tables.
ZstdOrigins zstd_origins_of(const ZstdDictionary& dictionary);

struct ZstdWalkedBlock {
  ZstdBlockHeader header;
  std::span<const std::byte> data;
  bool damaged = false;  // as far as the headers show
  // For compressed blocks:
  ZstdLiteralsHeader literals;
  std::size_t sequences = 0;
  std::span<const std::byte> sequence_section;  // from the tables' modes on, if there are sequences
  // Of the tables that it uses, and that later blocks may.
  ZstdOrigins origins;
};

class ZstdWalk {
 public:
  // `before`: what described the tables that the first block may repeat.
  explicit ZstdWalk(std::size_t most_block_bytes, ZstdOrigins before = {})
      : most_block_bytes_(most_block_bytes), origins_(std::move(before)) {}

  // Blocks are given one after the other. `data` is all of the block's; where the header alone shows damage, it may be
  // empty.
  ZstdWalkedBlock walk(const ZstdBlockHeader& header, std::span<const std::byte> data);
  bool is_damaged(const ZstdBlockHeader& header) const {
    return header.type == ZstdBlockType::kReserved || header.size > most_block_bytes_ ||
           (header.type == ZstdBlockType::kCompressed && header.size == 0);
  }

 private:
  void walk_compressed(ZstdWalkedBlock& block);

  std::size_t most_block_bytes_;
  ZstdOrigins origins_;
};

// How a section of sequences gives the table of a kind of code.
inline ZstdTableMode zstd_table_mode(std::span<const std::byte> sequence_section, std::size_t kind) {
  return static_cast<ZstdTableMode>(static_cast<unsigned>(sequence_section[0]) >> (6 - 2 * kind) & 3);
}

// Reads the descriptions in a section of sequences, and returns what follows them. Calls make(kind, table) for each that
// is there. Throws ZstdDamage.
template <class Make>
std::span<const std::byte> read_zstd_descriptions(std::span<const std::byte> section, const Make& make) {
  std::span<const std::byte> rest = section.subspan(1);
  for (std::size_t kind = 0; kind < 3; ++kind) {
    std::optional<ZstdTable> table;
    const ZstdTableMode mode = zstd_table_mode(section, kind);
    if (mode == ZstdTableMode::kRepeat) continue;
    take_zstd_table(mode, *kZstdCodeKinds[kind], rest, table);
    make(kind, *table);
  }
  return rest;
}

// The tables themselves, as the reference restorer keeps them. Throws ZstdDamage.
ZstdKeptTables read_zstd_origins(const ZstdOrigins& origins);

}  // namespace hemstitch
