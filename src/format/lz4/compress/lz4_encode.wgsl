// LZ4 blocks from sequences (contract: lz4_encode.hpp).
//
// Passes      size_sequences  an invocation adds up the bytes of its tile's sequences, and joins neighbours that are one match
//             place_tiles     an invocation adds up the tiles of its block; a block that takes more than its room gets no
//                             output. (Then scan.wgsl over `padded`: where each block's output begins)
//             write_words     an invocation builds one word of the output
// Buffers     data_words, blocks, tiles (read); entries (read, written) 16 bytes a tile; sequences (read) 8 bytes a sequence;
//             pieces (written, then read) 8 bytes a sequence: where in its tile's output it begins, and the length of its
//             match with those joined to it; sizes (written) 4 bytes a block; padded (written) the same in whole words;
//             begins (read) 4 bytes a block, and the total; output (written)
// Workgroup   256 invocations, none
// A word finds its block, tile and sequence by bisection. Most words are four literals, which is one unaligned load.

#import gpu/webgpu/shared/workgroup.wgsl
#import gpu/webgpu/shared/bytes.wgsl
#import match/common/webgpu/blocks.wgsl
#import match/common/webgpu/records.wgsl
#import parse/shared/sequences.wgsl

struct Parameters {
  tile_count: u32,
  block_count: u32,
  workgroup_count: u32,
}

struct Piece {
  begin: u32,         // from its tile's output_begin
  match_length: u32,  // of all that were joined; 0 for the last sequence, and for one that was joined to another
}

@group(0) @binding(0) var<uniform> parameters: Parameters;
@group(0) @binding(1) var<storage, read> data_words: array<u32>;
@group(0) @binding(2) var<storage, read> blocks: array<Block>;
@group(0) @binding(3) var<storage, read> tiles: array<u32>;
@group(0) @binding(4) var<storage, read_write> entries: array<Entry>;
@group(0) @binding(5) var<storage, read> sequences: array<Sequence>;
@group(0) @binding(6) var<storage, read_write> pieces: array<Piece>;
@group(0) @binding(7) var<storage, read_write> sizes: array<u32>;
@group(0) @binding(8) var<storage, read_write> padded: array<u32>;
@group(0) @binding(9) var<storage, read> begins: array<u32>;
@group(0) @binding(10) var<storage, read_write> output: array<u32>;

const kThreads = 256u;
const kNibbleMax = 15u;
const kMinMatchBytes = 4u;
const kTooLarge = 0xFFFFFFFFu;

// Bytes that follow the token because a value does not fit its nibble.
fn extension_bytes(value: u32) -> u32 {
  return select((value - kNibbleMax) / 255u + 1u, 0u, value < kNibbleMax);
}

fn sequence_bytes(literals: u32, match_length: u32) -> u32 {
  let bytes = 1u + extension_bytes(literals) + literals;
  return bytes + select(2u + extension_bytes(match_length - kMinMatchBytes), 0u, match_length == 0u);
}

// The literals of a sequence begin where the match before it ends.
fn literals_begin(index: u32, block: Block) -> u32 {
  if (index == block.first_sequence) {
    return block_begin(block);
  }
  let before = sequences[index - 1u];
  return before.place + record_length(before.record);
}

// True if a match continues the one before it, at the same offset.
fn is_joined(index: u32, block: Block) -> bool {
  let record = sequences[index].record;
  return record != 0u && index > block.first_sequence && sequences[index].place == literals_begin(index, block) &&
         record_offset(record) == record_offset(sequences[index - 1u].record);
}

@compute @workgroup_size(kThreads)
fn size_sequences(@builtin(workgroup_id) id: vec3u, @builtin(num_workgroups) size: vec3u,
                  @builtin(local_invocation_index) thread: u32) {
  let tile = workgroup_number(id, size, parameters.workgroup_count) * kThreads + thread;
  if (tile >= parameters.tile_count) {
    return;
  }
  let block = blocks[tiles[tile]];
  var begin = 0u;
  for (var i = entries[tile].sequence; i < entries[tile].sequence_end; i++) {
    let index = block.first_sequence + i;
    if (is_joined(index, block)) {
      pieces[index] = Piece(begin, 0u);
      continue;
    }
    var match_length = record_length(sequences[index].record);
    if (match_length != 0u) {
      // The last sequence of the block has no match, so the loop ends there.
      for (var next = index + 1u; is_joined(next, block); next++) {
        match_length += record_length(sequences[next].record);
      }
    }
    pieces[index] = Piece(begin, match_length);
    begin += sequence_bytes(sequences[index].place - literals_begin(index, block), match_length);
  }
  entries[tile].output_begin = begin;
}

@compute @workgroup_size(kThreads)
fn place_tiles(@builtin(workgroup_id) id: vec3u, @builtin(num_workgroups) size: vec3u,
               @builtin(local_invocation_index) thread: u32) {
  let number = workgroup_number(id, size, parameters.workgroup_count) * kThreads + thread;
  if (number >= parameters.block_count) {
    return;
  }
  let block = blocks[number];
  var total = 0u;
  for (var tile = block.first_tile; tile < block.first_tile + block.tile_count; tile++) {
    let bytes = entries[tile].output_begin;
    entries[tile].output_begin = total;
    total += bytes;
  }
  let fits = total <= block.room_bytes;
  sizes[number] = select(kTooLarge, total, fits);
  padded[number] = select(0u, (total + 3u) & ~3u, fits);
}

// The last block whose output begins at or before `place`.
fn block_at(place: u32) -> u32 {
  var low = 0u;
  var high = parameters.block_count;
  while (high - low > 1u) {
    let middle = (low + high) / 2u;
    if (begins[middle] <= place) {
      low = middle;
    } else {
      high = middle;
    }
  }
  return low;
}

// The last tile of the block, and of its sequences the last one, whose output begins at or before `place` of the block's
// output. A sequence without output begins where the next one does, so it is never the last.
fn tile_at(block: Block, place: u32) -> u32 {
  var low = block.first_tile;
  var high = block.first_tile + block.tile_count;
  while (high - low > 1u) {
    let middle = (low + high) / 2u;
    if (entries[middle].output_begin <= place) {
      low = middle;
    } else {
      high = middle;
    }
  }
  return low;
}

fn sequence_at(block: Block, entry: Entry, place: u32) -> u32 {
  var low = block.first_sequence + entry.sequence;
  var high = block.first_sequence + entry.sequence_end;
  while (high - low > 1u) {
    let middle = (low + high) / 2u;
    if (entry.output_begin + pieces[middle].begin <= place) {
      low = middle;
    } else {
      high = middle;
    }
  }
  return low;
}

// A sequence that is being written, with where its parts begin, from the block's output on.
struct Layout {
  begin: u32,          // token
  literals: u32,       // after the extension of their count
  offset: u32,         // after the literals
  end: u32,
  source: u32,         // byte of the data that the first literal is
  match_length: u32,
  match_offset: u32,
}

fn layout_at(block: Block, place: u32) -> Layout {
  let entry = entries[tile_at(block, place)];
  let index = sequence_at(block, entry, place);
  let source = literals_begin(index, block);
  let count = sequences[index].place - source;
  let begin = entry.output_begin + pieces[index].begin;
  let match_length = pieces[index].match_length;
  let literals = begin + 1u + extension_bytes(count);
  return Layout(begin, literals, literals + count, begin + sequence_bytes(count, match_length), source, match_length,
                record_offset(sequences[index].record));
}

// Byte `index` of the `count` extension bytes of `value`.
fn extension_byte(value: u32, index: u32, count: u32) -> u32 {
  return select(255u, (value - kNibbleMax) % 255u, index + 1u == count);
}

fn layout_byte(parts: Layout, place: u32) -> u32 {
  let count = parts.offset - parts.literals;
  let length_code = select(parts.match_length - kMinMatchBytes, 0u, parts.match_length == 0u);
  if (place == parts.begin) {
    return (min(count, kNibbleMax) << 4u) | min(length_code, kNibbleMax);
  }
  if (place < parts.literals) {
    return extension_byte(count, place - parts.begin - 1u, parts.literals - parts.begin - 1u);
  }
  if (place < parts.offset) {
    return data_byte(parts.source + place - parts.literals);
  }
  let behind = place - parts.offset;
  if (behind < 2u) {
    return (parts.match_offset >> (8u * behind)) & 0xFFu;
  }
  return extension_byte(length_code, behind - 2u, parts.end - parts.offset - 2u);
}

@compute @workgroup_size(kThreads)
fn write_words(@builtin(workgroup_id) id: vec3u, @builtin(num_workgroups) size: vec3u,
               @builtin(local_invocation_index) thread: u32) {
  let word = workgroup_number(id, size, parameters.workgroup_count) * kThreads + thread;
  if (word >= begins[parameters.block_count] / 4u) {
    return;
  }
  let number = block_at(word * 4u);
  let block = blocks[number];
  let first = word * 4u - begins[number];
  let stop = min(first + 4u, sizes[number]);
  var parts = layout_at(block, first);
  if (first >= parts.literals && first + 4u <= parts.offset) {
    output[word] = data_word(parts.source + first - parts.literals);
    return;
  }
  var value = 0u;
  for (var place = first; place < stop; place++) {
    if (place == parts.end) {
      parts = layout_at(block, place);
    }
    value |= layout_byte(parts, place) << (8u * (place - first));
  }
  output[word] = value;
}
