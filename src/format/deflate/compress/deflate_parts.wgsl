// What the encoder's shaders know of chunks (deflate_chunk.hpp). A chunk is a row of blocks.wgsl, of 64 tiles at most; eight tiles are a
// unit, before which level 12 may cut it, and a part is what one block of RFC 1951 holds. Tokens belong to the tile in which they begin, so
// a part is a row of whole tiles. Needs blocks.wgsl.

const kChunkTiles = 64u;
const kUnitTiles = 8u;
const kUnitBytes = kUnitTiles * kTilePositions;
const kChunkUnits = 8u;

// Codes of a part: those of the literals and lengths, then those of the distances.
const kDistanceCodes = 288u;
const kCodeCount = 320u;
const kHeaderWords = 80u;

// How a part is written, by its number in the block's head.
const kStored = 0u;
const kFixed = 1u;
const kDynamic = 2u;

struct Part {
  kind: u32,
  bits: u32,           // as it counts for the choice
  header_bits: u32,    // of a dynamic one, behind the three bits of its head; 0 of others
  unit_begin: u32,     // of the chunk
  unit_end: u32,
  content_begin: u32,  // positions of the chunk: what the tokens stand for
  content_end: u32,
  begin_bit: u32,      // in the output of its block of the frame; kNoPlace where that has no output
  block: u32,          // its number in the batch
  ends_block: u32,     // 1 for the last one
  codes: array<u32, kCodeCount>,      // bits as they are packed, and their number from bit 16 on; 0: no code
  header: array<u32, kHeaderWords>,
}
const kNoPlace = 0xFFFFFFFFu;

// The tokens that begin in a tile.
struct TileTokens {
  bits: u32,  // with the codes of its part
  part: u32,
  starts: array<u32, kTilePositions / 32u>,  // positions at which they begin, as bits
}

// The rest after the last whole unit belongs to that unit.
fn unit_count(bytes: u32) -> u32 {
  return max(bytes / kUnitBytes, 1u);
}
