// walk: from the decision at every position to the list of sequences that begins at a block's first byte.
//
// Passes      find_exits  a workgroup takes a tile: from each position, where a walk leaves the tile and how many matches it takes
//                         on the way
//             chain       an invocation walks over a block from tile to tile: where each is entered, and with which sequence
//             emit        an invocation walks through its tile from where it is entered, and writes the sequences
// Buffers     blocks, tiles (read); decisions (read by find_exits and emit) 4 bytes a position; exits (written, then read by chain)
//             4 bytes a position; entries (written by chain, read by emit) 16 bytes a tile; counts (written by chain) 4 bytes
//             a block; sequences (written by emit) 8 bytes a sequence: where its match begins, as byte of the data, and the
//             match. The last one of a block begins at its end, with no match. `sequences` may be the memory of `exits`.
// Workgroup   find_exits: 256 invocations, 4 KB: a word for each position of the tile. chain, emit: 64, none
// An invocation first walks over four positions. Then each walk is joined with the one that begins where it ends, again and again:
// each time it at least doubles. 8 times are enough for the 256 fours of a tile. Literals are the bytes between a match and the one
// before it. The result is that of one walk over the whole block.

#import gpu/webgpu/shared/workgroup.wgsl
#import match/common/webgpu/blocks.wgsl
#import match/common/webgpu/records.wgsl

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
const kTileThreads = 256u;
const kOwn = kTilePositions / kTileThreads;  // positions of an invocation
const kDoublings = 8u;

// A walk's state in a tile. Upper half: where it is. Lower half: how many matches it took, and a bit that says that it is still in
// the tile. With this bit the place is a position of the tile; else it is the distance after the tile's end, at most 65534.
const kInside = 0x8000u;
const kMatches = 0x7FFFu;

fn is_inside(walk: u32) -> bool {
  return (walk & kInside) != 0u;
}

fn step_from(position: u32, length: u32, end: u32) -> u32 {
  let next = position + max(length, 1u);
  let taken = select(0u, 1u, length > 0u);
  return select(((next - end) << 16u) | taken, (next << 16u) | kInside | taken, next < end);
}

fn follow(walk: u32, further: u32) -> u32 {
  return further + (walk & kMatches);
}

var<workgroup> sh_walks: array<atomic<u32>, kTilePositions>;

@compute @workgroup_size(kTileThreads)
fn find_exits(@builtin(workgroup_id) id: vec3u, @builtin(num_workgroups) size: vec3u,
              @builtin(local_invocation_index) thread: u32) {
  let tile = workgroup_number(id, size, parameters.workgroup_count);
  if (tile >= parameters.tile_count) {
    return;
  }
  let block = blocks[tiles[tile]];
  let begin = tile_begin(block, tile);
  let count = tile_end(block, tile) - begin;
  for (var position = thread; position < count; position += kTileThreads) {
    atomicStore(&sh_walks[position], step_from(position, record_length(decisions[begin + position]), count));
  }
  workgroupBarrier();
  let own_end = min((thread + 1u) * kOwn, count);
  for (var left = own_end; left > thread * kOwn; left--) {
    let walk = atomicLoad(&sh_walks[left - 1u]);
    if (is_inside(walk) && (walk >> 16u) < own_end) {
      atomicStore(&sh_walks[left - 1u], follow(walk, atomicLoad(&sh_walks[walk >> 16u])));
    }
  }
  // Others may follow their own walks meanwhile: then a place farther along the same walk is read.
  for (var turn = 0u; turn < kDoublings; turn++) {
    workgroupBarrier();
    for (var position = thread; position < count; position += kTileThreads) {
      let walk = atomicLoad(&sh_walks[position]);
      if (is_inside(walk)) {
        atomicStore(&sh_walks[position], follow(walk, atomicLoad(&sh_walks[walk >> 16u])));
      }
    }
  }
  for (var position = thread; position < count; position += kTileThreads) {
    exits[begin + position] = atomicLoad(&sh_walks[position]);
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
    // An empty block's tile is entered too: its last literals, of which there are none, are a sequence.
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

@compute @workgroup_size(kThreads)
fn emit(@builtin(workgroup_id) id: vec3u, @builtin(num_workgroups) size: vec3u,
        @builtin(local_invocation_index) thread: u32) {
  let tile = workgroup_number(id, size, parameters.workgroup_count) * kThreads + thread;
  if (tile >= parameters.tile_count) {
    return;
  }
  let block = blocks[tiles[tile]];
  let entry = entries[tile];
  if (entry.place == kNotEntered) {
    return;
  }
  var place = entry.place;
  var index = block.first_sequence + entry.sequence;
  let end = tile_end(block, tile);
  while (place < end) {
    let record = decisions[place];
    if (record == 0u) {
      place++;
    } else {
      sequences[index] = Sequence(place, record);
      index++;
      place += record_length(record);
    }
  }
  if (place == block_end(block)) {
    sequences[index] = Sequence(place, 0u);
  }
}
