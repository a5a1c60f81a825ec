// The chains of equal hashes that hash_chain and near_three walk, built through WebGPU.
//
// links[p] is the distance from p to the nearest earlier position of the block or its history with the same
// hash (match/common/hash_word.hpp), or 0 if there is none within `most_distance`. Positions with fewer bytes
// left than a hash covers have no hash: their link is 0, and nothing links to them.
//
// A workgroup builds the links of a block or, if long blocks should occupy many workgroups, of a piece of
// one. Then it also goes through the part of the block within the distance before the piece. The links are
// the same.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "match/common/webgpu/block_batch.hpp"

namespace hemstitch::webgpu {

struct LinkParameters {
  unsigned hash_bits = 0;
  std::uint32_t most_distance = 0;
  std::uint32_t hashed_bytes = 4;  // 3 to 8
  // Instead, the width of each block is in a word after all heads, from first_link_width() on; not with
  // pieces.
  bool widths_in_heads = false;
};

// The same structure as in links.wgsl. Positions count from the first byte of the block's history.
struct LinkPiece {
  std::uint32_t block = 0;       // its number
  std::uint32_t first_seen = 0;  // positions from here on may be linked to
  std::uint32_t first = 0;       // links are built from here
  std::uint32_t end = 0;         // up to here
};

// Adds the pieces of a block.
void add_link_pieces(const BlockRow& block, std::uint32_t most_distance, std::vector<LinkPiece>& pieces);
// How many pieces add_link_pieces() adds for this much data.
std::uint32_t link_piece_count(std::uint64_t data_bytes);

// All pieces of a batch, in device memory.
struct LinkPieces {
  BufferId pieces;  // LinkPiece each
  std::uint32_t count = 0;
};

// The heads of all blocks, or of all pieces, followed by a word for each.
constexpr std::uint64_t link_heads_bytes(std::uint64_t count, unsigned hash_bits) {
  return ((count << hash_bits) + count) * sizeof(std::uint32_t);
}
// The first of these words.
constexpr std::uint32_t first_link_width(std::uint32_t block_count, unsigned hash_bits) {
  return block_count << hash_bits;
}

// `links`: 4 bytes for each byte of the data; `heads`: link_heads_bytes(). `pieces`: those of all blocks of
// the batch, made for at least this distance.
void record_links(Recording& recording, const BlockBatch& batch, BufferId heads, BufferId links,
                  const LinkParameters& parameters, const std::optional<LinkPieces>& pieces = {});

}  // namespace hemstitch::webgpu
