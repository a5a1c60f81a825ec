// LZ4 blocks restored (contract: lz4_decode_reference.hpp, statuses included).
//
// Passes      parse    an invocation walks over the tokens that begin in 64 KB of a block's input, checks everything, and lists
//                      its sequences; run once for each 64 KB, so that no run takes long
//             trace    an invocation says for four bytes of the output where each comes from: a byte of the input or of the
//                      history, or an earlier byte of the output
//             resolve  an invocation follows up to 16 of these steps for four bytes; run as often as the longest chain of
//                      matches of matches could need
//             write    an invocation builds one word of the output
// Buffers     data_words (read) histories and blocks; blocks (read) 32 bytes a block; tiles (read) 4 bytes for 1024 bytes of
//             output; results (written) 16 bytes a block; sequences (written) 12 bytes for 3 bytes of input; sources
//             (written) 4 bytes a byte of output; output (written)
// Workgroup   parse: 1 invocation; others: 256, none
// Nothing is read outside a block and its history or written outside its room. After `parse` no input can go wrong: a
// source always lies before what it is the source of, so every chain ends at a byte of the input. A match that overlaps itself
// is a repetition of its first `offset` bytes, so runs make no chains.

#import device/webgpu/shared/workgroup.wgsl
#import device/webgpu/shared/bytes.wgsl

struct Parameters {
  block_count: u32,
  tile_count: u32,
  turn: u32,  // of parse
}

struct Block {
  begin: u32,           // byte of the data where the history begins
  history_bytes: u32,   // the compressed block begins behind them
  block_bytes: u32,     // compressed
  room_bytes: u32,      // what it may restore to
  first_sequence: u32,
  output_begin: u32,    // a whole word
  first_tile: u32,
  unused: u32,
}

struct Result {
  status: u32,
  restored_bytes: u32,
  sequence_count: u32,
  place: u32,  // where the next turn goes on, while the status is kUnfinished
}

struct Sequence {
  output: u32,    // where its literals go, from the block's output on
  literals: u32,  // byte of the data
  count: u32,     // of literals; the two bytes behind them are the offset
}

@group(0) @binding(0) var<uniform> parameters: Parameters;
@group(0) @binding(1) var<storage, read> data_words: array<u32>;
@group(0) @binding(2) var<storage, read> blocks: array<Block>;
@group(0) @binding(3) var<storage, read> tiles: array<u32>;
@group(0) @binding(4) var<storage, read_write> results: array<Result>;
@group(0) @binding(5) var<storage, read_write> sequences: array<Sequence>;
@group(0) @binding(6) var<storage, read_write> sources: array<atomic<u32>>;
@group(0) @binding(7) var<storage, read_write> output: array<u32>;

const kThreads = 256u;
const kTileBytes = 1024u;
const kHops = 16u;
const kMinMatchBytes = 4u;
const kInput = 0x80000000u;  // marks a source as a byte of the data

const kOk = 0u;
const kCorrupt = 1u;
const kTooSmall = 2u;
const kUnfinished = 3u;
const kTurnBytes = 65536u;

// A number that began in a token's nibble: its value, and the place behind it; or that the input ended.
struct Number {
  value: u32,
  place: u32,
  ended: bool,
}

fn read_number(nibble: u32, first: u32, end: u32) -> Number {
  var value = nibble;
  var place = first;
  if (nibble == 15u) {
    loop {
      if (place >= end) {
        return Number(0u, place, true);
      }
      let more = data_byte(place);
      place++;
      value += more;
      if (more != 255u) {
        break;
      }
    }
  }
  return Number(value, place, false);
}

fn failed(status: u32) -> Result {
  return Result(status, 0u, 0u, 0u);
}

fn parse_on(block: Block, before: Result, stop: u32) -> Result {
  let end = block.begin + block.history_bytes + block.block_bytes;
  var place = before.place;
  var written = before.restored_bytes;
  var count = before.sequence_count;
  // Each turn but the last takes three bytes of the input or more.
  while (place < stop) {
    if (place >= end) {
      return failed(kCorrupt);
    }
    let token = data_byte(place);
    let literals = read_number(token >> 4u, place + 1u, end);
    if (literals.ended || literals.value > end - literals.place) {
      return failed(kCorrupt);
    }
    if (literals.value > block.room_bytes - written) {
      return failed(kTooSmall);
    }
    sequences[block.first_sequence + count] = Sequence(written, literals.place, literals.value);
    count++;
    written += literals.value;
    place = literals.place + literals.value;
    if (place == end) {
      return Result(kOk, written, count, 0u);
    }
    if (end - place < 2u) {
      return failed(kCorrupt);
    }
    let offset = data_word(place) & 0xFFFFu;
    if (offset == 0u || offset > block.history_bytes + written) {
      return failed(kCorrupt);
    }
    let length = read_number(token & 15u, place + 2u, end);
    if (length.ended) {
      return failed(kCorrupt);
    }
    if (length.value + kMinMatchBytes > block.room_bytes - written) {
      return failed(kTooSmall);
    }
    written += length.value + kMinMatchBytes;
    place = length.place;
  }
  return Result(kUnfinished, written, count, place);
}

@compute @workgroup_size(1)
fn parse(@builtin(workgroup_id) id: vec3u, @builtin(num_workgroups) size: vec3u) {
  let number = workgroup_number(id, size, parameters.block_count);
  if (number >= parameters.block_count) {
    return;
  }
  let block = blocks[number];
  let begin = block.begin + block.history_bytes;
  var state = Result(kUnfinished, 0u, 0u, begin);
  if (parameters.turn > 0u) {
    state = results[number];
  }
  if (state.status != kUnfinished) {
    return;
  }
  // The last turn goes on to the end, and past it: input that ends after a match is damaged.
  var stop = begin + (parameters.turn + 1u) * kTurnBytes;
  if (stop > begin + block.block_bytes) {
    stop = 0xFFFFFFFFu;
  }
  results[number] = parse_on(block, state, stop);
}

// The last sequence whose literals begin at or before `place` of the block's output.
fn sequence_at(first: u32, count: u32, place: u32) -> u32 {
  var low = first;
  var high = first + count;
  while (high - low > 1u) {
    let middle = (low + high) / 2u;
    if (sequences[middle].output <= place) {
      low = middle;
    } else {
      high = middle;
    }
  }
  return low;
}

fn source_of(block: Block, sequence: Sequence, place: u32) -> u32 {
  let in_sequence = place - sequence.output;
  if (in_sequence < sequence.count) {
    return kInput | (sequence.literals + in_sequence);
  }
  let offset = data_word(sequence.literals + sequence.count) & 0xFFFFu;
  let match_begin = sequence.output + sequence.count;
  let repeated = match_begin + (place - match_begin) % offset;
  if (repeated < offset) {
    // The history stands directly before the compressed block.
    return kInput | (block.begin + block.history_bytes + repeated - offset);
  }
  return block.output_begin + repeated - offset;
}

@compute @workgroup_size(kThreads)
fn trace(@builtin(workgroup_id) id: vec3u, @builtin(num_workgroups) size: vec3u,
         @builtin(local_invocation_index) thread: u32) {
  let tile = workgroup_number(id, size, parameters.tile_count);
  if (tile >= parameters.tile_count) {
    return;
  }
  let number = tiles[tile];
  let block = blocks[number];
  let result = results[number];
  let first = (tile - block.first_tile) * kTileBytes + thread * 4u;
  if (first >= result.restored_bytes) {
    return;
  }
  let stop = min(first + 4u, result.restored_bytes);
  let sequence_end = block.first_sequence + result.sequence_count;
  var index = sequence_at(block.first_sequence, result.sequence_count, first);
  for (var place = first; place < stop; place++) {
    while (index + 1u < sequence_end && sequences[index + 1u].output <= place) {
      index++;
    }
    atomicStore(&sources[block.output_begin + place], source_of(block, sequences[index], place));
  }
}

// Others may shorten their own chains meanwhile: what is found is then farther along the same chain.
fn followed(place: u32, hops: u32) -> u32 {
  var source = atomicLoad(&sources[place]);
  for (var hop = 0u; hop < hops && source < kInput; hop++) {
    source = atomicLoad(&sources[source]);
  }
  return source;
}

@compute @workgroup_size(kThreads)
fn resolve(@builtin(workgroup_id) id: vec3u, @builtin(num_workgroups) size: vec3u,
           @builtin(local_invocation_index) thread: u32) {
  let tile = workgroup_number(id, size, parameters.tile_count);
  if (tile >= parameters.tile_count) {
    return;
  }
  let number = tiles[tile];
  let block = blocks[number];
  let begin = (tile - block.first_tile) * kTileBytes;
  let end = min(begin + kTileBytes, results[number].restored_bytes);
  for (var place = begin + thread; place < end; place += kThreads) {
    let before = atomicLoad(&sources[block.output_begin + place]);
    if (before < kInput) {
      atomicStore(&sources[block.output_begin + place], followed(before, kHops));
    }
  }
}

@compute @workgroup_size(kThreads)
fn write(@builtin(workgroup_id) id: vec3u, @builtin(num_workgroups) size: vec3u,
         @builtin(local_invocation_index) thread: u32) {
  let tile = workgroup_number(id, size, parameters.tile_count);
  if (tile >= parameters.tile_count) {
    return;
  }
  let number = tiles[tile];
  let block = blocks[number];
  let first = (tile - block.first_tile) * kTileBytes + thread * 4u;
  let restored_bytes = results[number].restored_bytes;
  if (first >= restored_bytes) {
    return;
  }
  var value = 0u;
  for (var i = 0u; i < 4u && first + i < restored_bytes; i++) {
    // As a rule everything is resolved by now.
    let source = followed(block.output_begin + first + i, 0xFFFFFFFFu);
    value |= data_byte(source & ~kInput) << (8u * i);
  }
  output[(block.output_begin + first) / 4u] = value;
}
