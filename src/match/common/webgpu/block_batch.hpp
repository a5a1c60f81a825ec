// A batch of blocks, as the shaders of the match, parse and encode stages take it.
//
// The bytes of all blocks are in one buffer, each block directly after its history. These regions do not
// overlap, so the index of a byte in the buffer is also the index of its position: records, links and
// decisions are arrays with one element for each byte of the buffer. Positions of a block are processed in
// tiles of 1024; a block has at least one tile.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "gpu/webgpu/recording.hpp"

namespace hemstitch::webgpu {

inline constexpr std::uint32_t kTilePositions = 1024;

// The same structure as in blocks.wgsl.
struct BlockRow {
  std::uint32_t begin = 0;          // byte of the data where the history begins
  std::uint32_t history_bytes = 0;  // the block begins after them
  std::uint32_t block_bytes = 0;
  std::uint32_t first_tile = 0;
  std::uint32_t tile_count = 0;
  std::uint32_t room_bytes = 0;      // the most that its encoded form may take
  std::uint32_t first_sequence = 0;  // where its list of sequences begins
  std::uint32_t number = 0;          // of the block in the batch

  std::uint32_t block_begin() const { return begin + history_bytes; }
};

// The rows of a batch, and for each tile the number of its block.
struct BlockTable {
  std::vector<BlockRow> rows;
  std::vector<std::uint32_t> tiles;
  std::uint32_t data_bytes = 0;      // of all blocks with their histories
  std::uint32_t sequence_count = 0;  // room for all lists
  std::uint32_t longest_bytes = 0;   // of one block with its history

  // Adds a block whose history begins at `begin`, at or after the end of the block before. `shortest_match`
  // limits how many sequences it can have.
  void add(std::uint32_t begin, std::uint32_t history_bytes, std::uint32_t block_bytes,
           std::uint32_t room_bytes, std::uint32_t shortest_match);
};

struct BlockBatch {
  BufferId data;   // bytes
  BufferId rows;   // a BlockRow for each block
  BufferId tiles;  // a block number for each tile
  std::uint32_t block_count = 0;
  std::uint32_t tile_count = 0;
  std::uint32_t longest_bytes = 0;  // of one block with its history

  // The same buffers with the blocks of `table`, which must fit.
  BlockBatch of(const BlockTable& table) const;
};

}  // namespace hemstitch::webgpu
