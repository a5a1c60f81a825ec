// One chunk: its tokens, and the blocks made of them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "core/match.hpp"
#include "format/deflate/compress/codes/deflate_block.hpp"
#include "format/deflate/compress/codes/deflate_tokens.hpp"
#include "format/deflate/deflate_levels.hpp"

namespace hemstitch {

// A part of a chunk that is written as one block.
struct DeflateChunkPart {
  DeflateBlock block;
  std::size_t token_begin = 0, token_end = 0;
  std::size_t content_begin = 0, content_end = 0;  // of the tokens
};

struct DeflateChunk {
  std::vector<DeflateToken> tokens;
  std::vector<DeflateChunkPart> parts;
};

// The second candidate of each position of a chunk, from near_three's offsets: at most kDeflateNearMatchBytes
// long, and never beyond the chunk's end.
std::vector<MatchRecord> deflate_near_records(std::span<const std::byte> content,
                                              std::span<const std::uint16_t> near_offsets);

// Parses the chunk as often as the level says. `content` must not be empty. `records` and `near_offsets` are
// the finders' results for its positions; matches may refer to content before the chunk.
DeflateChunk make_deflate_chunk(std::span<const std::byte> content, std::span<const MatchRecord> records,
                                std::span<const std::uint16_t> near_offsets, const DeflateLevel& level);

// Finds the cheapest way to cut tokens into blocks, by dynamic programming over the sums of their bits. A cut
// is before the first token that begins at or after a multiple of kDeflateSplitUnitBytes; there is none if
// less than a whole unit would remain at the end. Among equally cheap ways, the one whose last block begins
// first wins, and so on for the part before that block.
std::vector<DeflateChunkPart> split_deflate_chunk(std::span<const DeflateToken> tokens,
                                                  std::size_t content_bytes);

}  // namespace hemstitch
