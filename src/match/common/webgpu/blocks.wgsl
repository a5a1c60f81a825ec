// The blocks of a batch (match/common/webgpu/block_batch.hpp). The importing shader declares `blocks: array<Block>`, and `tiles:
// array<u32>` where it works tile by tile.

struct Block {
  begin: u32,           // byte of the data where the history begins
  history_bytes: u32,   // the block begins behind them
  block_bytes: u32,
  first_tile: u32,
  tile_count: u32,
  room_bytes: u32,      // what its encoded form may take
  first_sequence: u32,  // where its list of sequences begins
  number: u32,          // of the block in the batch
}

const kTilePositions = 1024u;

fn block_begin(block: Block) -> u32 {
  return block.begin + block.history_bytes;
}

fn block_end(block: Block) -> u32 {
  return block.begin + block.history_bytes + block.block_bytes;
}

// Where the positions of a tile begin and end, as bytes of the data.
fn tile_begin(block: Block, tile: u32) -> u32 {
  return block_begin(block) + (tile - block.first_tile) * kTilePositions;
}

fn tile_end(block: Block, tile: u32) -> u32 {
  return min(tile_begin(block, tile) + kTilePositions, block_end(block));
}
