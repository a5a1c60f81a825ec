// coop_stitch: 64 neighbouring positions search different distances and try each other's finds (contract: coop_stitch.hpp).
//
// Passes      find     a workgroup owns a group of 64 positions, an invocation a position: phase A, barrier, phase B
//             count    the same, comparing all that the definition compares: also gives the best of phase A, and counters
// Buffers     data_words, blocks, tiles (read); records (written) 4 bytes a position; count alone: before_stitch (written)
//             4 bytes a position, counters (added to) 40 bytes
// Workgroup   64 invocations, 256 bytes for each entry of a list and 4 more: 1.0 KB at top_k 4, 4.0 KB at 16
// Only the lists are in workgroup memory; neighbours read neighbouring bytes of the data, which caches hold.
//
// A match is one number here, its rank: the larger is the better, and 0 is none. What `find` leaves out cannot change a
// result:
//  - Offsets ascend, so a match must be longer than the list's last one to enter it, and agree with the text in the byte after
//    that length. When a full list holds only matches that cannot be longer, phase A is over.
//  - Phase B leaves out offsets of the near range, which every position has tried by itself, and what a neighbour's list
//    shows as well: a repetition shows the same offset at each of its positions. The rest is gathered in the memory of the lists,
//    in any order: ranks are totally ordered, so the order changes nothing.

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
  stride: u32,
  near_range: u32,
  band_origin: u32,
  per_bucket: u32,      // 1: kLongestPerBucket
  good_match_len: u32,
}

@group(0) @binding(0) var<uniform> parameters: Parameters;
@group(0) @binding(1) var<storage, read> data_words: array<u32>;
@group(0) @binding(2) var<storage, read> blocks: array<Block>;
@group(0) @binding(3) var<storage, read> tiles: array<u32>;
@group(0) @binding(4) var<storage, read_write> records: array<u32>;
@group(0) @binding(5) var<storage, read_write> before_stitch: array<u32>;
@group(0) @binding(6) var<storage, read_write> counters: array<atomic<u32>>;

override top_k: u32 = 4u;
override list_words: u32 = 256u;  // 64 * top_k: naga accepts no product as an array's size
override stitch: bool = true;
override counted: bool = false;

const kThreads = 64u;
const kMaxTopK = 16u;
const kGroupsPerTile = kTilePositions / kThreads;

// Entry k of position t is element k * 64 + t.
var<workgroup> sh_lists: array<u32, list_words>;
var<workgroup> sh_shown_count: atomic<u32>;

// Facts of this invocation's position.
var<private> own_thread: u32;
var<private> own_place: u32;
var<private> own_limit: u32;     // bytes that a match may have here
var<private> own_farthest: u32;  // the largest offset that stays in the data
var<private> own_band: vec2u;    // its first and last offset
var<private> own_best: u32;
var<private> own_is_good: bool;  // a match of good_match_len ended phase A
var<private> own_probes: u32;
var<private> own_stitch_probes: u32;
var<private> own_repeated_probes: u32;
var<private> own_byte_comparisons: vec2u;

fn in_band(offset: u32) -> bool {
  return offset >= own_band.x && offset <= own_band.y;
}

// The entry of the list that a match at that offset may take, which must be in the band under kLongestPerBucket.
fn entry_for(offset: u32) -> u32 {
  if (parameters.per_bucket == 0u) {
    return (top_k - 1u) * kThreads + own_thread;
  }
  let bucket_offsets = (parameters.window_size + top_k - 1u) / top_k;
  return (offset - own_band.x) / bucket_offsets * kThreads + own_thread;
}

// Phase A's match: true where it is good enough to end it.
fn keep(offset: u32, length: u32) -> bool {
  if (length < parameters.min_match_len) {
    return false;
  }
  let rank = match_rank(pack_match(offset, length));
  own_best = max(own_best, rank);
  if (parameters.per_bucket == 0u) {
    var entry = entry_for(offset);
    if (rank > sh_lists[entry]) {
      while (entry >= kThreads && rank > sh_lists[entry - kThreads]) {
        sh_lists[entry] = sh_lists[entry - kThreads];
        entry -= kThreads;
      }
      sh_lists[entry] = rank;
    }
  } else if (in_band(offset)) {
    let entry = entry_for(offset);
    sh_lists[entry] = max(sh_lists[entry], rank);
  }
  own_is_good = parameters.good_match_len != 0u && length >= parameters.good_match_len;
  return own_is_good;
}

fn counted_length(offset: u32) -> u32 {
  let length = common_length(own_place, own_place - offset, 0u, own_limit);
  own_probes++;
  own_byte_comparisons = add_wide(own_byte_comparisons, compared_bytes(length, own_limit));
  return length;
}

fn same_byte(offset: u32, index: u32) -> bool {
  return data_byte(own_place + index) == data_byte(own_place - offset + index);
}

// For phase A, called by scan_offsets.
fn try_offset(offset: u32) -> bool {
  var to_beat = own_best;
  if (parameters.per_bucket == 0u || in_band(offset)) {
    to_beat = sh_lists[entry_for(offset)];
  }
  if ((to_beat >> 16u) >= own_limit || !same_byte(offset, to_beat >> 16u)) {
    return false;
  }
  if (keep(offset, common_length(own_place, own_place - offset, 3u, own_limit))) {
    return true;
  }
  return parameters.per_bucket == 0u && (sh_lists[entry_for(offset)] >> 16u) >= own_limit;
}

fn scan_range(first: u32, last: u32) -> bool {
  if (!counted) {
    return own_limit >= parameters.min_match_len &&
           scan_offsets(own_place, first, last, leading_mask(parameters.min_match_len));
  }
  for (var offset = first; offset <= last; offset++) {
    if (keep(offset, counted_length(offset))) {
      return true;
    }
  }
  return false;
}

fn phase_a() {
  if (!scan_range(1u, min(parameters.near_range, own_farthest))) {
    scan_range(max(own_band.x, parameters.near_range + 1u), min(own_band.y, own_farthest));
  }
}

fn offset_of(rank: u32) -> u32 {
  return 0xFFFFu - (rank & 0xFFFFu);
}

fn record_of(rank: u32) -> u32 {
  return select(pack_match(offset_of(rank), rank >> 16u), 0u, rank == 0u);
}

// Phase B exactly as defined.
fn counted_phase_b() {
  for (var other = 0u; other < kThreads; other++) {
    for (var k = 0u; k < top_k && other != own_thread; k++) {
      let shown = sh_lists[k * kThreads + other];
      let offset = offset_of(shown);
      if (shown == 0u || offset > own_farthest) {
        continue;
      }
      let length = counted_length(offset);
      own_stitch_probes++;
      if (offset <= parameters.near_range || in_band(offset)) {
        own_repeated_probes++;
      }
      if (length >= parameters.min_match_len) {
        own_best = max(own_best, match_rank(pack_match(offset, length)));
      }
    }
  }
}

// Selects the offsets of this position's list that it must show to the others.
fn select_shown(offsets: ptr<function, array<u32, kMaxTopK>>) -> u32 {
  var count = 0u;
  for (var k = 0u; k < top_k; k++) {
    let shown = sh_lists[k * kThreads + own_thread];
    let offset = offset_of(shown);
    var show = shown != 0u && offset > parameters.near_range;
    for (var j = 0u; j < top_k && own_thread > 0u; j++) {
      let before = sh_lists[j * kThreads + own_thread - 1u];
      show = show && (before == 0u || offset_of(before) != offset);
    }
    if (show) {
      (*offsets)[count] = offset;
      count++;
    }
  }
  return count;
}

fn phase_b() {
  let shown_count = atomicLoad(&sh_shown_count);
  let mask = leading_mask(parameters.min_match_len);
  let leading = data_word(own_place) & mask;
  for (var i = 0u; i < shown_count; i++) {
    let offset = sh_lists[i];
    if (offset > own_farthest) {
      continue;
    }
    // A match must be longer than the best one, or as long and nearer.
    let length = own_best >> 16u;
    let needed = length + select(1u, 0u, offset < offset_of(own_best) && own_best != 0u);
    if (needed > own_limit || !same_byte(offset, needed - 1u) ||
        (data_word(own_place - offset) & mask) != leading) {
      continue;
    }
    let found = common_length(own_place, own_place - offset, 3u, own_limit);
    if (found >= parameters.min_match_len) {
      own_best = max(own_best, match_rank(pack_match(offset, found)));
    }
  }
}

// What find and count have in common, up to phase B. True where this invocation has a position.
fn begin_position(block: Block, group: u32, thread: u32) -> bool {
  own_thread = thread;
  own_place = group + thread;
  let has_position = own_place < block_end(block);
  own_limit = 0u;
  if (has_position) {
    own_limit = min(parameters.max_match_len, block_end(block) - own_place);
  }
  own_farthest = min(kMaxRecordOffset, own_place - block.begin);
  let before_band = parameters.band_origin + thread * parameters.stride;
  own_band = vec2u(before_band + 1u, before_band + parameters.window_size);
  for (var k = 0u; k < top_k; k++) {
    sh_lists[k * kThreads + thread] = 0u;
  }
  return has_position;
}

@compute @workgroup_size(kThreads)
fn find(@builtin(workgroup_id) id: vec3u, @builtin(num_workgroups) size: vec3u,
        @builtin(local_invocation_index) thread: u32) {
  let number = workgroup_number(id, size, parameters.tile_count * kGroupsPerTile);
  if (number >= parameters.tile_count * kGroupsPerTile) {
    return;
  }
  let tile = number / kGroupsPerTile;
  let block = blocks[tiles[tile]];
  let group = tile_begin(block, tile) + number % kGroupsPerTile * kThreads;
  if (group >= block_end(block)) {
    return;
  }
  let has_position = begin_position(block, group, thread);
  if (thread == 0u) {
    atomicStore(&sh_shown_count, 0u);
  }
  if (has_position) {
    phase_a();
  }
  if (stitch) {
    workgroupBarrier();
    var offsets: array<u32, kMaxTopK>;
    let count = select_shown(&offsets);
    let first = atomicAdd(&sh_shown_count, count);
    // All must have read the lists before they are overwritten.
    workgroupBarrier();
    for (var i = 0u; i < count; i++) {
      sh_lists[first + i] = offsets[i];
    }
    workgroupBarrier();
    if (own_limit >= parameters.min_match_len && !own_is_good) {
      phase_b();
    }
  }
  if (has_position) {
    records[own_place] = record_of(own_best);
  }
}

@compute @workgroup_size(kThreads)
fn count(@builtin(workgroup_id) id: vec3u, @builtin(num_workgroups) size: vec3u,
         @builtin(local_invocation_index) thread: u32) {
  let number = workgroup_number(id, size, parameters.tile_count * kGroupsPerTile);
  if (number >= parameters.tile_count * kGroupsPerTile) {
    return;
  }
  let tile = number / kGroupsPerTile;
  let block = blocks[tiles[tile]];
  let group = tile_begin(block, tile) + number % kGroupsPerTile * kThreads;
  if (group >= block_end(block)) {
    return;
  }
  let has_position = begin_position(block, group, thread);
  if (has_position) {
    phase_a();
    before_stitch[own_place] = record_of(own_best);
  }
  workgroupBarrier();
  if (has_position) {
    if (stitch && !own_is_good) {
      counted_phase_b();
    }
    records[own_place] = record_of(own_best);
    add_to_counter(kProbes, vec2u(own_probes, 0u));
    add_to_counter(kStitchProbes, vec2u(own_stitch_probes, 0u));
    add_to_counter(kRepeatedProbes, vec2u(own_repeated_probes, 0u));
    add_to_counter(kByteComparisons, own_byte_comparisons);
  }
}
