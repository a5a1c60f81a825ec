// One chunk: its tokens, and the blocks that they become.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "core/match.hpp"
#include "format/deflate/compress/deflate_block.hpp"
#include "format/deflate/compress/deflate_tokens.hpp"
#include "format/deflate/deflate_levels.hpp"

namespace hemstitch {

// A part of a chunk that is one block.
struct DeflateChunkPart {
  DeflateBlock block;
  std::size_t token_begin = 0, token_end = 0;
  std::size_t content_begin = 0, content_end = 0;  // what the tokens stand for
};

struct DeflateChunk {
  std::vector<DeflateToken> tokens;
  std::vector<DeflateChunkPart> parts;
};

// The second candidate of each position of a chunk, from near_three's offsets: kDeflateNearMatchBytes long at most, and none that
// passes the chunk's end.
std::vector<MatchRecord> deflate_near_records(std::span<const std::byte> content,
                                              std::span<const std::uint16_t> near_offsets);

// Parses the chunk as often as the level says. `content` is not empty; `records` and `near_offsets` are the finders' for its positions,
// whose matches may point before it.
DeflateChunk make_deflate_chunk(std::span<const std::byte> content, std::span<const MatchRecord> records,
                                std::span<const std::uint16_t> near_offsets, const DeflateLevel& level);

// The cheapest way to cut tokens into blocks, by dynamic programming over the sums of their bits. A cut stands before the first token
// that begins at or behind a multiple of kDeflateSplitUnitBytes, none where that leaves less than a whole unit at the end. Of ways
// that cost the same, the one whose last block begins first, and so on for what is before that block.
std::vector<DeflateChunkPart> split_deflate_chunk(std::span<const DeflateToken> tokens,
                                                  std::size_t content_bytes);

}  // namespace hemstitch
