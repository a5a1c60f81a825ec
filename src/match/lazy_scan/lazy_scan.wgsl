// lazy_scan: the nearest offsets in full, farther ones in steps (contract: lazy_scan.hpp).
//
// Passes      find     an invocation searches for four positions of its tile
//             count    the same, comparing all that the definition compares, with counters
// Buffers     data_words, blocks, tiles (read); records (written) 4 bytes a position; count alone: counters (added to) 40 bytes
// Workgroup   256 invocations, none
// What `find` leaves out cannot change a result: offsets ascend, so a better match is longer than the best, and agrees with the
// text in the byte after the best one's length. When the best is as long as possible, the search is over.

#import gpu/webgpu/shared/workgroup.wgsl
#import gpu/webgpu/shared/bytes.wgsl
#import match/common/webgpu/blocks.wgsl
#import match/common/webgpu/records.wgsl
#import match/common/webgpu/common_length.wgsl
#import match/common/webgpu/counters.wgsl
#import match/common/webgpu/leading_mask.wgsl
#import match/common/webgpu/scan_offsets.wgsl

struct Parameters {  // hemstitch/match.hpp
  tile_count: u32,
  min_match_len: u32,
  max_match_len: u32,
  window_size: u32,
  near_range: u32,
  far_step: u32,
  good_match_len: u32,
}

@group(0) @binding(0) var<uniform> parameters: Parameters;
@group(0) @binding(1) var<storage, read> data_words: array<u32>;
@group(0) @binding(2) var<storage, read> blocks: array<Block>;
@group(0) @binding(3) var<storage, read> tiles: array<u32>;
@group(0) @binding(4) var<storage, read_write> records: array<u32>;
@group(0) @binding(5) var<storage, read_write> counters: array<atomic<u32>>;

override counted: bool = false;

const kThreads = 256u;

// Facts of the invocation's current position.
var<private> own_place: u32;
var<private> own_limit: u32;  // bytes that a match may have here
var<private> own_good: u32;   // bytes that end the search
var<private> own_best: u32;   // record
// Sums over all its positions.
var<private> own_probes: vec2u;
var<private> own_byte_comparisons: vec2u;

fn try_offset(offset: u32) -> bool {
  let best_length = record_length(own_best);
  var length = 0u;
  if (counted) {
    length = common_length(own_place, own_place - offset, 0u, own_limit);
    own_probes = add_wide(own_probes, 1u);
    own_byte_comparisons = add_wide(own_byte_comparisons, compared_bytes(length, own_limit));
  } else {
    if (data_byte(own_place + best_length) != data_byte(own_place - offset + best_length)) {
      return false;
    }
    length = common_length(own_place, own_place - offset, 0u, own_limit);
  }
  if (length >= parameters.min_match_len && length > best_length) {
    own_best = pack_match(offset, length);
    return length >= own_good || (!counted && length == own_limit);
  }
  return length >= own_good;
}

fn scan_near(last: u32) -> bool {
  if (!counted) {
    return scan_offsets(own_place, 1u, last, leading_mask(parameters.min_match_len));
  }
  for (var offset = 1u; offset <= last; offset++) {
    if (try_offset(offset)) {
      return true;
    }
  }
  return false;
}

fn best_match(place: u32, block: Block) -> u32 {
  own_place = place;
  own_limit = min(parameters.max_match_len, block_end(block) - place);
  own_good = select(own_limit + 1u, parameters.good_match_len, parameters.good_match_len != 0u);
  own_best = 0u;
  if (!counted && own_limit < parameters.min_match_len) {
    return 0u;
  }
  let farthest = min(parameters.window_size, place - block.begin);
  if (!scan_near(min(parameters.near_range, farthest))) {
    // A step that passes the largest offset ends the loop before it can pass 2^32.
    var left = farthest - min(parameters.near_range, farthest);
    var offset = parameters.near_range;
    while (left >= parameters.far_step) {
      left -= parameters.far_step;
      offset += parameters.far_step;
      if (try_offset(offset)) {
        break;
      }
    }
  }
  return own_best;
}

@compute @workgroup_size(kThreads)
fn find(@builtin(workgroup_id) id: vec3u, @builtin(num_workgroups) size: vec3u,
        @builtin(local_invocation_index) thread: u32) {
  let tile = workgroup_number(id, size, parameters.tile_count);
  if (tile >= parameters.tile_count) {
    return;
  }
  let block = blocks[tiles[tile]];
  for (var place = tile_begin(block, tile) + thread; place < tile_end(block, tile); place += kThreads) {
    records[place] = best_match(place, block);
  }
}

@compute @workgroup_size(kThreads)
fn count(@builtin(workgroup_id) id: vec3u, @builtin(num_workgroups) size: vec3u,
         @builtin(local_invocation_index) thread: u32) {
  let tile = workgroup_number(id, size, parameters.tile_count);
  if (tile >= parameters.tile_count) {
    return;
  }
  let block = blocks[tiles[tile]];
  for (var place = tile_begin(block, tile) + thread; place < tile_end(block, tile); place += kThreads) {
    records[place] = best_match(place, block);
  }
  add_to_counter(kProbes, own_probes);
  add_to_counter(kByteComparisons, own_byte_comparisons);
}
