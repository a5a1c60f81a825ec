// walk: from the decision at every position to the list of sequences that begins at a block's first byte.
//
// Passes      find_exits  32 lanes take a tile, two tiles a workgroup: from each position, where a walk leaves the tile and how
//                         many matches it takes on the way
//             chain       an invocation walks over a block from tile to tile: where each is entered, and with which sequence
//             emit        32 lanes take a tile: where it is entered they write the sequences
// Buffers     blocks, tiles (read); decisions (read by find_exits and emit) 4 bytes a position; exits (written, then read by chain)
//             4 bytes a position; entries (written by chain, read by emit) 16 bytes a tile; counts (written by chain) 4 bytes
//             a block; sequences (written by emit) 8 bytes a sequence: where its match begins, as byte of the data, and the
//             match. The last one of a block begins at its end, with no match. `sequences` may be the memory of `exits`.
// Workgroup   find_exits: 64 invocations, chain: 64, emit: 32; 8.5 KB: find_exits has a word for each position of two tiles, emit
//             two words for each position of one, and how each lane's part is entered; chain has none
// A lane goes backwards over 32 positions of the tile alone, so that 32 steps say where a walk leaves each part; then the parts are
// put together from the last to the first (find_exits), or entered one after the other (emit).
// Literals are what lies between a match and the one before it. Nothing is lost against one walk over the whole block.

#import device/webgpu/shared/workgroup.wgsl
#import device/webgpu/shared/blocks.wgsl
#import device/webgpu/shared/records.wgsl

struct Parameters {
  tile_count: u32,
  block_count: u32,
  workgroup_count: u32,
}

#import parse/shared/sequences.wgsl

@group(0) @binding(0) var<uniform> parameters: Parameters;
@group(0) @binding(1) var<storage, read> blocks: array<Block>;
@group(0) @binding(2) var<storage, read> tiles: array<u32>;
@group(0) @binding(3) var<storage, read> decisions: array<u32>;
@group(0) @binding(4) var<storage, read_write> exits: array<u32>;
@group(0) @binding(5) var<storage, read_write> entries: array<Entry>;
@group(0) @binding(6) var<storage, read_write> counts: array<u32>;
@group(0) @binding(7) var<storage, read_write> sequences: array<Sequence>;

const kThreads = 64u;
const kLanes = 32u;
const kPart = kTilePositions / kLanes;  // positions that a lane goes over
const kRow = kPart + 1u;                // along a part and across parts, neighbouring lanes use different banks
const kTileWords = kLanes * kRow;

// A walk on its way through a tile: upper half where it is, lower half how many matches it took, with a bit that says that
// it is in the tile still: it is at that position of the tile then, else so far behind the tile's end, at most 65534.
const kInside = 0x8000u;
const kMatches = 0x7FFFu;

fn step_from(position: u32, length: u32, end: u32) -> u32 {
  let next = position + max(length, 1u);
  let taken = select(0u, 1u, length > 0u);
  return select(((next - end) << 16u) | taken, (next << 16u) | kInside | taken, next < end);
}

fn follow(walk: u32, further: u32) -> u32 {
  return further + (walk & kMatches);
}

// Where a position of a tile stands in workgroup memory.
fn word_of(position: u32) -> u32 {
  return (position / kPart) * kRow + position % kPart;
}

// Of two tiles; or of one, and behind them its decisions.
var<workgroup> sh_walks: array<u32, 2u * kTileWords>;

@compute @workgroup_size(kThreads)
fn find_exits(@builtin(workgroup_id) id: vec3u, @builtin(num_workgroups) size: vec3u,
              @builtin(local_invocation_index) thread: u32) {
  let lane = thread % kLanes;
  let first_word = (thread / kLanes) * kTileWords;
  let tile = workgroup_number(id, size, parameters.workgroup_count) * 2u + thread / kLanes;
  var begin = 0u;
  var count = 0u;
  if (tile < parameters.tile_count) {
    let block = blocks[tiles[tile]];
    begin = tile_begin(block, tile);
    count = tile_end(block, tile) - begin;
  }
  for (var position = lane; position < count; position += kLanes) {
    sh_walks[first_word + word_of(position)] =
        step_from(position, record_length(decisions[begin + position]), count);
  }
  workgroupBarrier();
  // Through the lane's own part.
  let part_end = min((lane + 1u) * kPart, count);
  for (var left = part_end; left > lane * kPart; left--) {
    let word = first_word + word_of(left - 1u);
    let walk = sh_walks[word];
    if ((walk & kInside) != 0u && (walk >> 16u) < part_end) {
      sh_walks[word] = follow(walk, sh_walks[first_word + word_of(walk >> 16u)]);
    }
  }
  workgroupBarrier();
  // Where a walk goes on in a later part, that part is finished.
  for (var part = kLanes; part > 0u; part--) {
    let position = (part - 1u) * kPart + lane;
    if (position < count) {
      let word = first_word + word_of(position);
      var walk = sh_walks[word];
      if ((walk & kInside) != 0u) {
        walk = follow(walk, sh_walks[first_word + word_of(walk >> 16u)]);
        sh_walks[word] = walk;
      }
      exits[begin + position] = walk;
    }
    workgroupBarrier();
  }
}

@compute @workgroup_size(kThreads)
fn chain(@builtin(workgroup_id) id: vec3u, @builtin(num_workgroups) size: vec3u,
         @builtin(local_invocation_index) thread: u32) {
  let number = workgroup_number(id, size, parameters.workgroup_count) * kThreads + thread;
  if (number >= parameters.block_count) {
    return;
  }
  let block = blocks[number];
  var place = block_begin(block);
  var sequence = 0u;
  for (var i = 0u; i < block.tile_count; i++) {
    let tile = block.first_tile + i;
    let end = tile_end(block, tile);
    // An empty block's tile is entered as well: its last literals, none, are a sequence.
    if (place >= end && block.block_bytes > 0u) {
      entries[tile] = Entry(kNotEntered, sequence, sequence, 0u);
      continue;
    }
    let entered = place;
    let first = sequence;
    if (place < end) {
      let behind = exits[place];
      sequence += behind & 0xFFFFu;
      place = end + (behind >> 16u);
    }
    entries[tile] = Entry(entered, first, sequence, 0u);
  }
  // The last literals belong to the last tile, whether it is entered or not.
  entries[block.first_tile + block.tile_count - 1u].sequence_end = sequence + 1u;
  counts[number] = sequence + 1u;
}

var<workgroup> sh_entered: array<u32, kLanes>;    // position of the tile at which a walk enters a part, or kNotEntered
var<workgroup> sh_sequences: array<u32, kLanes>;  // matches taken before

@compute @workgroup_size(kLanes)
fn emit(@builtin(workgroup_id) id: vec3u, @builtin(num_workgroups) size: vec3u,
        @builtin(local_invocation_index) lane: u32) {
  let tile = workgroup_number(id, size, parameters.workgroup_count);
  var begin = 0u;
  var count = 0u;
  var last = 0u;
  var first_sequence = 0u;
  var entry = Entry(kNotEntered, 0u, 0u, 0u);
  if (tile < parameters.tile_count) {
    let block = blocks[tiles[tile]];
    begin = tile_begin(block, tile);
    count = tile_end(block, tile) - begin;
    last = block_end(block);
    first_sequence = block.first_sequence;
    entry = entries[tile];
  }
  if (entry.place == kNotEntered) {
    count = 0u;
  }
  for (var position = lane; position < count; position += kLanes) {
    let decision = decisions[begin + position];
    sh_walks[kTileWords + word_of(position)] = decision;
    sh_walks[word_of(position)] = step_from(position, record_length(decision), count);
  }
  sh_entered[lane] = kNotEntered;
  workgroupBarrier();
  let part_end = min((lane + 1u) * kPart, count);
  for (var left = part_end; left > lane * kPart; left--) {
    let walk = sh_walks[word_of(left - 1u)];
    if ((walk & kInside) != 0u && (walk >> 16u) < part_end) {
      sh_walks[word_of(left - 1u)] = follow(walk, sh_walks[word_of(walk >> 16u)]);
    }
  }
  workgroupBarrier();
  if (lane == 0u && entry.place != kNotEntered) {
    var walk = ((entry.place - begin) << 16u) | kInside;
    if (entry.place - begin >= count) {
      walk = (entry.place - begin - count) << 16u;
    }
    while ((walk & kInside) != 0u) {
      let position = walk >> 16u;
      sh_entered[position / kPart] = position;
      sh_sequences[position / kPart] = walk & kMatches;
      walk = follow(walk, sh_walks[word_of(position)]);
    }
    // The last literals of the block.
    if (begin + count + (walk >> 16u) == last) {
      sequences[first_sequence + entry.sequence + (walk & kMatches)] = Sequence(last, 0u);
    }
  }
  workgroupBarrier();
  if (sh_entered[lane] != kNotEntered) {
    var index = first_sequence + entry.sequence + sh_sequences[lane];
    for (var position = sh_entered[lane]; position < part_end;) {
      let decision = sh_walks[kTileWords + word_of(position)];
      if (decision != 0u) {
        sequences[index] = Sequence(begin + position, decision);
        index++;
      }
      position += max(record_length(decision), 1u);
    }
  }
}
