// stitch: from capped matches to final records (contract: stitch.hpp).
//
// Passes      extend    the last of a row of positions with the same capped offset compares on, to its true length or to the
//                       end of another row with that offset, which it then points to
//             follow    those pointers are followed, 16 at a time; run four times
//             inherit   the others of the row take theirs from it: one byte more for each position before it
//             backward  each position tries the offsets of the next `reach` ones
//             forward   the tail of a match is a match: a running maximum of where matches end
// Buffers     data_words, blocks, tiles (read); records in `source` (read) and `result` (written), which the passes use in
//             turn, 4 bytes a position each; `shared_result` (read, written) is `result` in follow, 4 bytes a position;
//             marks (written, then read) 4 bytes a tile
// Workgroup   256 invocations, 1.1 KB: the best of each for forward (1 KB), and the row ends of the tile as bits
// A row is extended from its end, not its beginning: at its end a match is hardly longer than the cap, so usually nothing is left
// to compare. Where nearer matches cut rows again and again (periods such as 31), pointers from row to row keep the work linear:
// each stretch is compared once for an offset. Tiles pass on what crosses them through `marks`: lengths end at 65535, so 64 tiles
// back or ahead are enough, and no tile waits for another one.

#import gpu/webgpu/shared/workgroup.wgsl
#import gpu/webgpu/shared/bytes.wgsl
#import match/common/webgpu/blocks.wgsl
#import match/common/webgpu/records.wgsl
#import match/common/webgpu/common_length.wgsl

struct Parameters {
  tile_count: u32,
  cap_bytes: u32,
  reach: u32,  // at most 16
}

@group(0) @binding(0) var<uniform> parameters: Parameters;
@group(0) @binding(1) var<storage, read> data_words: array<u32>;
@group(0) @binding(2) var<storage, read> blocks: array<Block>;
@group(0) @binding(3) var<storage, read> tiles: array<u32>;
@group(0) @binding(4) var<storage, read> source: array<u32>;
@group(0) @binding(5) var<storage, read_write> result: array<u32>;
@group(0) @binding(5) var<storage, read_write> shared_result: array<atomic<u32>>;  // the same, as follow needs it
@group(0) @binding(6) var<storage, read_write> marks: array<u32>;

const kThreads = 256u;
const kReachTiles = 64u;
const kNone = 0xFFFFFFFFu;
const kHops = 16u;
// In a tile's mark, beside its first row end: some row end of the tile points to another one.
const kPoints = 0x80000000u;

var<workgroup> sh_mark: atomic<u32>;
var<workgroup> sh_points: atomic<u32>;
var<workgroup> sh_ends: array<atomic<u32>, kTilePositions / 32u>;  // inherit: which positions of the tile end a row, as bits
var<workgroup> sh_best: array<u32, kThreads>;                      // forward

fn is_capped(record: u32) -> bool {
  return record_length(record) >= parameters.cap_bytes;
}

// True for a capped position that is not followed by one with the same offset.
fn ends_row(place: u32, end: u32) -> bool {
  let record = source[place];
  if (!is_capped(record)) {
    return false;
  }
  if (place + 1u >= end) {
    return true;
  }
  let next = source[place + 1u];
  return !is_capped(next) || record_offset(next) != record_offset(record);
}

// A row end that points to another one, `distance` bytes on: a record without an offset.
fn pointer_to(distance: u32) -> u32 {
  return distance;
}

fn is_pointer(record: u32) -> bool {
  return record != 0u && record_offset(record) == 0u;
}

// The record of a row end, or a pointer. Only newly compared bytes are searched for another row end.
fn extended(place: u32, end: u32) -> u32 {
  let record = source[place];
  let offset = record_offset(record);
  let limit = min(end - place, kMaxRecordLength);
  var length = record_length(record);
  while (length < limit) {
    // All that the turn needs is loaded at once.
    let next = place + length;
    let last = end - 1u;
    let difference = data_word(next) ^ data_word(next - offset);
    let records = vec4u(source[min(next + 1u, last)], source[min(next + 2u, last)], source[min(next + 3u, last)],
                        source[min(next + 4u, last)]);
    if (difference != 0u) {
      return pack_match(offset, min(length + countTrailingZeros(difference) / 8u, limit));
    }
    if (any((records >> vec4u(16u)) == vec4u(offset))) {
      for (var i = 1u; i <= 4u && length + i < limit; i++) {
        let other = next + i;
        if (record_offset(source[other]) == offset && ends_row(other, end)) {
          return pointer_to(length + i);
        }
      }
    }
    length += 4u;
  }
  return pack_match(offset, limit);
}

// Marks: the first position of the tile that ends a row, and whether any of them points.
@compute @workgroup_size(kThreads)
fn extend(@builtin(workgroup_id) id: vec3u, @builtin(num_workgroups) size: vec3u,
          @builtin(local_invocation_index) thread: u32) {
  let tile = workgroup_number(id, size, parameters.tile_count);
  if (tile >= parameters.tile_count) {
    return;
  }
  let block = blocks[tiles[tile]];
  let end = block_end(block);
  if (thread == 0u) {
    atomicStore(&sh_mark, kNone);
    atomicStore(&sh_points, 0u);
  }
  workgroupBarrier();
  for (var place = tile_begin(block, tile) + thread; place < tile_end(block, tile); place += kThreads) {
    var record = source[place];
    if (ends_row(place, end)) {
      record = extended(place, end);
      atomicMin(&sh_mark, place);
      if (is_pointer(record)) {
        atomicStore(&sh_points, kPoints);
      }
    }
    result[place] = record;
  }
  workgroupBarrier();
  if (thread == 0u) {
    marks[tile] = atomicLoad(&sh_mark) | atomicLoad(&sh_points);
  }
}

// Others may follow their own pointers meanwhile: then a pointer farther on, or a record, is read.
@compute @workgroup_size(kThreads)
fn follow(@builtin(workgroup_id) id: vec3u, @builtin(num_workgroups) size: vec3u,
          @builtin(local_invocation_index) thread: u32) {
  let tile = workgroup_number(id, size, parameters.tile_count);
  if (tile >= parameters.tile_count || marks[tile] == kNone || (marks[tile] & kPoints) == 0u) {
    return;
  }
  let block = blocks[tiles[tile]];
  for (var place = tile_begin(block, tile) + thread; place < tile_end(block, tile); place += kThreads) {
    var record = atomicLoad(&shared_result[place]);
    if (!is_pointer(record)) {
      continue;
    }
    var distance = 0u;
    for (var hop = 0u; hop < kHops && is_pointer(record) && distance < kMaxRecordLength; hop++) {
      distance += record_length(record);
      record = atomicLoad(&shared_result[place + distance]);
    }
    if (distance >= kMaxRecordLength) {
      record = pack_match(record_offset(source[place]), kMaxRecordLength);
    } else if (is_pointer(record)) {
      record = pointer_to(distance);
    } else {
      record = pack_match(record_offset(record), record_length(record) + distance);
    }
    atomicStore(&shared_result[place], record);
  }
}

// The first position after this tile that ends a row: the row that leaves the tile ends there. kNone if it is too far away to
// matter.
fn row_end_behind(block: Block, tile: u32) -> u32 {
  let stop = min(tile + kReachTiles + 2u, block.first_tile + block.tile_count);
  for (var behind = tile + 1u; behind < stop; behind++) {
    if (marks[behind] != kNone) {
      return marks[behind] & ~kPoints;
    }
  }
  return kNone;
}

// `source` has the records before extend, `result` those after it.
@compute @workgroup_size(kThreads)
fn inherit(@builtin(workgroup_id) id: vec3u, @builtin(num_workgroups) size: vec3u,
           @builtin(local_invocation_index) thread: u32) {
  let tile = workgroup_number(id, size, parameters.tile_count);
  if (tile >= parameters.tile_count) {
    return;
  }
  let block = blocks[tiles[tile]];
  let end = block_end(block);
  let begin = tile_begin(block, tile);
  if (thread < kTilePositions / 32u) {
    atomicStore(&sh_ends[thread], 0u);
  }
  workgroupBarrier();
  for (var place = begin + thread; place < tile_end(block, tile); place += kThreads) {
    if (ends_row(place, end)) {
      atomicOr(&sh_ends[(place - begin) / 32u], 1u << ((place - begin) % 32u));
    }
  }
  workgroupBarrier();
  if (thread == 0u) {
    let last = tile_end(block, tile);
    var behind = kNone;
    if (last > begin && is_capped(source[last - 1u]) && !ends_row(last - 1u, end)) {
      behind = row_end_behind(block, tile);
    }
    atomicStore(&sh_mark, behind);
  }
  workgroupBarrier();
  for (var place = begin + thread; place < tile_end(block, tile); place += kThreads) {
    let record = source[place];
    let in_tile = place - begin;
    let bits = atomicLoad(&sh_ends[in_tile / 32u]) >> (in_tile % 32u);
    if (!is_capped(record) || (bits & 1u) != 0u) {
      continue;
    }
    var row_end = kNone;
    if (bits != 0u) {
      row_end = place + firstTrailingBit(bits);
    } else {
      for (var word = in_tile / 32u + 1u; word < kTilePositions / 32u && row_end == kNone; word++) {
        let word_bits = atomicLoad(&sh_ends[word]);
        if (word_bits != 0u) {
          row_end = begin + word * 32u + firstTrailingBit(word_bits);
        }
      }
      if (row_end == kNone) {
        row_end = atomicLoad(&sh_mark);
      }
    }
    var length = kMaxRecordLength;
    if (row_end != kNone) {
      length = record_length(result[row_end]) + (row_end - place);
    }
    result[place] = pack_match(record_offset(record), length);
  }
}

// Marks: where the farthest match of the tile ends, from the tile's begin (upper bits), and the position that has it (lower
// 10 bits); of equals the last position.
@compute @workgroup_size(kThreads)
fn backward(@builtin(workgroup_id) id: vec3u, @builtin(num_workgroups) size: vec3u,
            @builtin(local_invocation_index) thread: u32) {
  let tile = workgroup_number(id, size, parameters.tile_count);
  if (tile >= parameters.tile_count) {
    return;
  }
  let block = blocks[tiles[tile]];
  let end = block_end(block);
  let begin = tile_begin(block, tile);
  if (thread == 0u) {
    atomicStore(&sh_mark, 0u);
  }
  workgroupBarrier();
  for (var place = begin + thread; place < tile_end(block, tile); place += kThreads) {
    var best = source[place];
    let here = data_word(place);
    for (var ahead = 1u; ahead <= parameters.reach && place + ahead < end; ahead++) {
      let record = source[place + ahead];
      let offset = record_offset(record);
      let borrowed = pack_match(offset, record_length(record) + ahead);
      if (offset == 0u || offset > place - block.begin || match_rank(borrowed) <= match_rank(best)) {
        continue;
      }
      var difference = data_word(place - offset) ^ here;
      if (ahead < 4u) {
        difference <<= 32u - 8u * ahead;
      }
      for (var known = 4u; known < ahead && difference == 0u; known += 4u) {
        difference = data_word(place + known - offset) ^ data_word(place + known);
        if (ahead - known < 4u) {
          difference <<= 32u - 8u * (ahead - known);
        }
      }
      if (difference == 0u) {
        best = borrowed;
      }
    }
    result[place] = best;
    atomicMax(&sh_mark, ((place - begin + record_length(best)) << 10u) | (place - begin));
  }
  workgroupBarrier();
  if (thread == 0u) {
    marks[tile] = atomicLoad(&sh_mark);
  }
}

@compute @workgroup_size(kThreads)
fn forward(@builtin(workgroup_id) id: vec3u, @builtin(num_workgroups) size: vec3u,
           @builtin(local_invocation_index) thread: u32) {
  let tile = workgroup_number(id, size, parameters.tile_count);
  if (tile >= parameters.tile_count) {
    return;
  }
  let block = blocks[tiles[tile]];
  let begin = tile_begin(block, tile);
  let end = tile_end(block, tile);
  if (thread == 0u) {
    atomicStore(&sh_mark, 0u);
  }
  workgroupBarrier();
  // The match of the tiles before that reaches farthest into this one; of equal ones, that of the last tile. Its key: how far it
  // reaches, then how near its tile is.
  if (thread < kReachTiles && tile - block.first_tile > thread) {
    let mark_end = (marks[tile - 1u - thread] >> 10u);
    let to_begin = (thread + 1u) * kTilePositions;
    if (mark_end > to_begin) {
      atomicMax(&sh_mark, ((mark_end - to_begin) << 6u) | (kReachTiles - 1u - thread));
    }
  }
  workgroupBarrier();
  let carried = atomicLoad(&sh_mark);
  var carried_offset = 0u;
  if (carried != 0u) {
    let carrier = tile - 1u - (kReachTiles - 1u - (carried & (kReachTiles - 1u)));
    carried_offset = record_offset(source[tile_begin(block, carrier) + (marks[carrier] & 1023u)]);
  }

  // Matches in the tile: where each ends, counted from the tile's begin, and its origin: 0 for the carried one, else position + 1.
  let first = thread * 4u;
  var own: array<u32, 4>;
  var best = 0u;
  for (var i = 0u; i < 4u; i++) {
    let in_tile = first + i;
    if (begin + in_tile < end) {
      best = max(best, ((in_tile + record_length(source[begin + in_tile])) << 11u) | (in_tile + 1u));
    }
    own[i] = best;
  }
  sh_best[thread] = best;
  for (var distance = 1u; distance < kThreads; distance *= 2u) {
    workgroupBarrier();
    var before = 0u;
    if (thread >= distance) {
      before = sh_best[thread - distance];
    }
    workgroupBarrier();
    sh_best[thread] = max(sh_best[thread], before);
  }
  workgroupBarrier();
  var reach = (carried >> 6u) << 11u;
  if (thread > 0u) {
    reach = max(reach, sh_best[thread - 1u]);
  }
  for (var i = 0u; i < 4u; i++) {
    let in_tile = first + i;
    if (begin + in_tile >= end) {
      break;
    }
    let winner = max(reach, own[i]);
    let owner = winner & 2047u;
    var offset = carried_offset;
    if (owner != 0u) {
      offset = record_offset(source[begin + owner - 1u]);
    }
    let match_end = winner >> 11u;
    result[begin + in_tile] = pack_match(offset, select(0u, match_end - in_tile, match_end > in_tile));
  }
}
