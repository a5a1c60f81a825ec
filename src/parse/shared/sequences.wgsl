// Sequences in memory, and how a walk enters each tile.

struct Entry {
  place: u32,         // byte of the data at which the walk enters the tile; kNotEntered where a match passes over it
  sequence: u32,      // of the block, that the tile's first match is
  sequence_end: u32,  // and the one after its last
  output_begin: u32,  // an encoder's: where in the encoded block the tile's sequences begin
}

const kNotEntered = 0xFFFFFFFFu;

struct Sequence {
  place: u32,   // byte of the data at which its match begins; the block's end for the last sequence
  record: u32,  // 0 for the last sequence
}
