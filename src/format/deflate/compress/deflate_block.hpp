// How a DEFLATE block is written: the smallest of its three kinds, with the codes that it would have.
//
// Sizes are known before a bit is written, so a device can tell by a scan where each block begins. A stored block's size depends on where
// it begins, since its data starts on a byte; for the choice it counts as one that begins on a byte, 40 bits before
// at most 65535 bytes. On equal sizes a stored block wins, then one with the fixed codes.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "format/deflate/block/deflate_codes.hpp"
#include "format/deflate/block/deflate_stored.hpp"
#include "format/deflate/compress/deflate_tokens.hpp"

namespace hemstitch {

// The bit that says whether a block is the last, and its type.
inline constexpr std::uint32_t kDeflateBlockHeadBits = 3;
// Of a stored block that begins on a byte: the head, 5 bits that fill up the byte, its length and that inverted.
inline constexpr std::uint32_t kDeflateStoredHeadBits = 8 * kDeflateStoredHeaderBytes;

struct DeflateCodeLengths {
  std::array<std::uint8_t, kDeflateFixedLitlenCount> litlen = {};
  std::array<std::uint8_t, kDeflateFixedDistanceCount> distance = {};

  // Of the tokens with their extra bits, and of the end of the block.
  std::uint64_t token_bits(const DeflateHistogram& histogram) const;
};

struct DeflateBlock {
  DeflateBlockType type = DeflateBlockType::kStored;
  std::uint64_t bits = 0;      // as it counts for the choice
  DeflateCodeLengths lengths;  // the fixed codes', or the dynamic ones', also where a stored block is smaller
  DeflateHeader header;        // where the type is dynamic
};

const DeflateCodeLengths& deflate_fixed_lengths();

// Stored blocks that hold so many bytes; 0 for none.
constexpr std::uint64_t deflate_stored_block_count(std::uint64_t content_bytes) {
  return (content_bytes + kDeflateMostStoredBytes - 1) / kDeflateMostStoredBytes;
}

// `histogram` is that of tokens that stand for `content_bytes`.
DeflateBlock choose_deflate_block(const DeflateHistogram& histogram, std::uint64_t content_bytes);

}  // namespace hemstitch
