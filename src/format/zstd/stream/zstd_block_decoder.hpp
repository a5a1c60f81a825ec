// A block of Zstandard decoded by itself, as far as that is possible: its literals, and its sequences with the names of
// repeat offsets that earlier blocks left. Each thread has its own decoder.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

#include "format/zstd/stream/zstd_literals.hpp"
#include "format/zstd/stream/zstd_sequences.hpp"
#include "format/zstd/stream/zstd_walk.hpp"

namespace hemstitch {

struct ZstdDecodedBlock {
  bool damaged = false;
  std::size_t content_bytes = 0;
  // All of the content, or what sequences take and what follows them. kZstdReadBeyond bytes may be read behind it. A
  // block that repeats one byte has that one.
  std::span<const std::byte> literals;
  std::span<const ZstdShortSequence> sequences;
  ZstdOffsets offsets = ZstdOffsets::names();  // after the block, given those before
};

class ZstdBlockDecoder {
 public:
  // Around the block's data, kZstdReadBeyond bytes may be read. `literals` has room for block.literals.count and
  // kZstdReadBeyond bytes, `sequences` for kZstdSplitSequences more than block.sequences. All must stay as long as what
  // is returned is used.
  ZstdDecodedBlock decode(const ZstdWalkedBlock& block, std::size_t most_block_bytes, std::byte* literals,
                          ZstdShortSequence* sequences);

 private:
  bool decode_literals(const ZstdWalkedBlock& block, std::byte* to, std::span<const std::byte>& literals);
  std::span<const std::byte> set_sequence_tables(const ZstdWalkedBlock& block);

  // The tables at hand, and what described them.
  ZstdOrigins origins_;
  ZstdLiteralsTable literals_;
  std::array<ZstdSequenceTable, 3> codes_;
};

}  // namespace hemstitch
