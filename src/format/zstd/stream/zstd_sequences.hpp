// Sequences of a block of Zstandard at speed (RFC 8878, sections 3.1.1.3.2 and 3.1.1.5), without the content before the
// block: an offset that repeats one of an earlier block stays a name of it.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

#include "format/zstd/block/zstd_symbols.hpp"
#include "format/zstd/restore/zstd_tables.hpp"

namespace hemstitch {

// Longer literals and matches are split, so that a sequence takes 8 bytes.
struct ZstdShortSequence {
  std::uint32_t offset = 0;
  std::uint16_t literals = 0, match = 0;
};
// A sequence takes 3 bytes of content at least. Those that are split are fewer than 4 in a block of 128 KB.
inline constexpr std::size_t kZstdMostSequences = kZstdMostBlockBytes / 3 + 1;
inline constexpr std::size_t kZstdSplitSequences = 4;

// The last three offsets, known or not: a repeat offset of the block's beginning, less a number, is a name. Names are
// larger than any offset.
struct ZstdOffsets {
  static constexpr std::uint32_t kFirstName = 0xC0000000;
  static constexpr std::uint32_t kNameStep = 0x10000000;

  std::array<std::uint32_t, kZstdRepeatCount> offsets{1, 4, 8};

  static ZstdOffsets names() {
    ZstdOffsets names;
    for (unsigned i = 0; i < kZstdRepeatCount; ++i) names.offsets[i] = kFirstName + (i + 1) * kNameStep - 1;
    return names;
  }
  // What a name stands for, given the offsets at the block's beginning; 0 or less is no offset.
  std::int64_t resolved(std::uint32_t offset) const {
    if (offset < kFirstName) return offset;
    const std::uint32_t i = (offset - kFirstName) / kNameStep;
    if (i >= kZstdRepeatCount) return 0;
    return std::int64_t{offsets[i]} - (kFirstName + (i + 1) * kNameStep - 1 - offset);
  }
};

struct ZstdSequenceTable {
  // The number that the cell's symbol begins with, and how many bits are added; the next state likewise.
  struct Cell {
    std::uint32_t base;
    std::uint16_t next;
    std::uint8_t extra_bits, state_bits;
  };
  unsigned log = 0;
  std::array<Cell, 512> cells;
};
enum class ZstdSequencePart : unsigned { kLiterals, kOffset, kMatch };
void make_zstd_sequence_table(const ZstdTable& from, ZstdSequencePart part, ZstdSequenceTable& table);

struct ZstdSequencesRead {
  bool right = false;                       // false: damage
  std::size_t count = 0;                    // with those that are split
  std::uint64_t literals = 0, matches = 0;  // bytes of all
};
// `count` sequences, kZstdMostSequences at most; `to` has room for kZstdSplitSequences more. kZstdReadBeyond bytes around
// `stream` may be read. `offsets` become those after the block.
ZstdSequencesRead read_zstd_sequences(std::span<const std::byte> stream, std::size_t count,
                                      const std::array<ZstdSequenceTable, 3>& tables, ZstdOffsets& offsets,
                                      ZstdShortSequence* to);

}  // namespace hemstitch
