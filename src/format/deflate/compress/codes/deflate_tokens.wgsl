// Tokens of DEFLATE's chunks (contract: deflate_tokens.hpp), from the decision at every position and from where a walk along them
// enters each tile (parse/walk/walk.wgsl).
//
// Passes      mark     half a workgroup takes a tile: where tokens begin, as bits. Each lane finds where walks
//                      over its 32 positions leave them. One lane then steps from lane to lane, and each lane walks over its own
//                      positions again
//             count    a workgroup takes eight tiles: how often each symbol occurs among the tokens that begin there
// Buffers     data_words, chunks (read); chunk_tiles (read by mark) 4 bytes a tile: the number of its chunk; decisions (read) 4 bytes a
//             position; entries (read by mark) 16 bytes a tile; tokens (written by mark, read by count) 136 bytes a tile; histograms
//             (written by count) 10240 bytes a chunk: 320 counts for each eight tiles, those of the distances from 288 on
// Workgroup   13.5 KB in arrays. mark: 64 invocations, 8.6 KB: for each position of two tiles where its token ends and where the walk leaves its 32.
//             count: 256 invocations, 5 KB: four copies of the counts, so that neighbours seldom add to the same one

#import gpu/webgpu/shared/workgroup.wgsl
#import gpu/webgpu/shared/bytes.wgsl
#import match/common/webgpu/blocks.wgsl
#import match/common/webgpu/records.wgsl
#import parse/shared/sequences.wgsl
#import format/deflate/block/deflate_symbols.wgsl

struct Parameters {
  tile_count: u32,
  workgroup_count: u32,
}

@group(0) @binding(0) var<uniform> parameters: Parameters;
@group(0) @binding(1) var<storage, read> data_words: array<u32>;
@group(0) @binding(2) var<storage, read> chunks: array<Block>;
@group(0) @binding(3) var<storage, read> chunk_tiles: array<u32>;
@group(0) @binding(4) var<storage, read> decisions: array<u32>;
@group(0) @binding(5) var<storage, read> entries: array<Entry>;
@group(0) @binding(6) var<storage, read_write> tokens: array<TileTokens>;
@group(0) @binding(7) var<storage, read_write> histograms: array<u32>;

#import format/deflate/compress/deflate_parts.wgsl

const kLanes = 32u;
const kTilesAtOnce = 2u;
const kOwn = kTilePositions / kLanes;
const kRow = kOwn + 1u;  // a word more, so that lanes do not meet in one bank
const kNone = 0xFFFFFFFFu;

// For each position of a tile: lower half, where its token ends; upper half, where the walk from it leaves the lane's positions.
var<workgroup> sh_walks: array<u32, kTilesAtOnce * kLanes * kRow>;
var<workgroup> sh_entered: array<u32, kTilesAtOnce * kLanes>;

fn row_of(position: u32) -> u32 {
  return (position / kOwn) * kRow + position % kOwn;
}

@compute @workgroup_size(kTilesAtOnce * kLanes)
fn mark(@builtin(workgroup_id) id: vec3u, @builtin(num_workgroups) size: vec3u,
        @builtin(local_invocation_index) thread: u32) {
  let tile = workgroup_number(id, size, parameters.workgroup_count) * kTilesAtOnce + thread / kLanes;
  let lane = thread % kLanes;
  let base = (thread / kLanes) * kLanes * kRow;
  let is_there = tile < parameters.tile_count;
  var begin = 0u;
  var count = 0u;
  var entry = kNone;  // a position of the tile
  if (is_there) {
    let chunk = chunks[chunk_tiles[tile]];
    begin = tile_begin(chunk, tile);
    count = tile_end(chunk, tile) - begin;
    if (entries[tile].place != kNotEntered) {
      entry = entries[tile].place - begin;
    }
  }
  for (var position = lane; position < count; position += kLanes) {
    sh_walks[base + row_of(position)] = position + max(record_length(decisions[begin + position]), 1u);
  }
  sh_entered[thread] = kNone;
  workgroupBarrier();

  let own_begin = lane * kOwn;
  let own_end = min(own_begin + kOwn, count);
  for (var left = own_end; left > own_begin; left--) {
    let word = base + row_of(left - 1u);
    let next = sh_walks[word];
    var leaves = next;
    if (next < own_end) {
      leaves = sh_walks[base + row_of(next)] >> 16u;
    }
    sh_walks[word] = (leaves << 16u) | next;
  }
  workgroupBarrier();

  if (lane == 0u) {
    while (entry < count) {
      sh_entered[thread + entry / kOwn] = entry;
      entry = sh_walks[base + row_of(entry)] >> 16u;
    }
  }
  workgroupBarrier();

  var bits = 0u;
  var position = sh_entered[thread];
  while (position < own_end) {
    bits |= 1u << (position % kOwn);
    position = sh_walks[base + row_of(position)] & 0xFFFFu;
  }
  if (is_there) {
    tokens[tile].starts[lane] = bits;
  }
}

const kThreads = 256u;
const kCopies = 4u;

var<workgroup> sh_counts: array<atomic<u32>, kCopies * kCodeCount>;

fn count_symbol(thread: u32, symbol: u32) {
  atomicAdd(&sh_counts[(thread % kCopies) * kCodeCount + symbol], 1u);
}

@compute @workgroup_size(kThreads)
fn count(@builtin(workgroup_id) id: vec3u, @builtin(num_workgroups) size: vec3u,
         @builtin(local_invocation_index) thread: u32) {
  let number = workgroup_number(id, size, parameters.workgroup_count);
  if (number >= parameters.workgroup_count) {
    return;
  }
  let chunk = chunks[number / kChunkUnits];
  let first_tile = (number % kChunkUnits) * kUnitTiles;
  for (var i = thread; i < kCopies * kCodeCount; i += kThreads) {
    atomicStore(&sh_counts[i], 0u);
  }
  workgroupBarrier();
  let last_tile = min(first_tile + kUnitTiles, chunk.tile_count);
  for (var in_chunk = first_tile; in_chunk < last_tile; in_chunk++) {
    let tile = chunk.first_tile + in_chunk;
    let begin = tile_begin(chunk, tile);
    for (var position = thread; position < tile_end(chunk, tile) - begin; position += kThreads) {
      if (((tokens[tile].starts[position / 32u] >> (position % 32u)) & 1u) == 0u) {
        continue;
      }
      let decision = decisions[begin + position];
      if (decision == 0u) {
        count_symbol(thread, data_byte(begin + position));
      } else {
        count_symbol(thread, length_symbol(record_length(decision)));
        count_symbol(thread, kDistanceCodes + distance_symbol(record_offset(decision)));
      }
    }
  }
  workgroupBarrier();
  for (var i = thread; i < kCodeCount; i += kThreads) {
    var sum = 0u;
    for (var copy = 0u; copy < kCopies; copy++) {
      sum += atomicLoad(&sh_counts[copy * kCodeCount + i]);
    }
    histograms[number * kCodeCount + i] = sum;
  }
}
