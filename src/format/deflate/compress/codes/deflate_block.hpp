// How a DEFLATE block is written: as the smallest of its three kinds, with the codes for it.
//
// Sizes are known before a bit is written, so a device finds by a scan where each block begins. The size of a
// stored block depends on where it begins, since its data starts at a byte. For the choice, it counts as if
// it began at a byte: 40 bits before at most 65535 bytes. On equal sizes a stored block wins, then one with
// the fixed codes.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "format/deflate/block/deflate_codes.hpp"
#include "format/deflate/block/deflate_stored.hpp"
#include "format/deflate/compress/codes/deflate_tokens.hpp"

namespace hemstitch {

// The bit that marks the last block, and the type.
inline constexpr std::uint32_t kDeflateBlockHeadBits = 3;
// For a stored block that begins at a byte: the head, 5 bits that fill the byte, its length and the inverted
// length.
inline constexpr std::uint32_t kDeflateStoredHeadBits = 8 * kDeflateStoredHeaderBytes;

struct DeflateCodeLengths {
  std::array<std::uint8_t, kDeflateFixedLitlenCount> litlen = {};
  std::array<std::uint8_t, kDeflateFixedDistanceCount> distance = {};

  // The size of the tokens with their extra bits, and of the end of the block.
  std::uint64_t token_bits(const DeflateHistogram& histogram) const;
};

struct DeflateBlock {
  DeflateBlockType type = DeflateBlockType::kStored;
  std::uint64_t bits = 0;      // as counted for the choice
  DeflateCodeLengths lengths;  // of the fixed or the dynamic codes, even if a stored block is smaller
  DeflateHeader header;        // if the type is dynamic
};

const DeflateCodeLengths& deflate_fixed_lengths();

// How many stored blocks hold this many bytes; 0 for none.
constexpr std::uint64_t deflate_stored_block_count(std::uint64_t content_bytes) {
  return (content_bytes + kDeflateMostStoredBytes - 1) / kDeflateMostStoredBytes;
}

// `histogram` counts tokens that stand for `content_bytes`.
DeflateBlock choose_deflate_block(const DeflateHistogram& histogram, std::uint64_t content_bytes);

}  // namespace hemstitch
