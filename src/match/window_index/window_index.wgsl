// window_index: the positions of a group in a table, and the window streaming past them (contract: window_index.hpp).
//
// Passes      find     a workgroup owns a group of 1024 positions, which is a tile
//             count    the same, comparing all that the definition compares, with counters
// Buffers     data_words, blocks, tiles (read); records (written) 4 bytes a position; count alone: counters (added to) 40 bytes
// Workgroup   256 invocations, 13.0 KB: the positions sorted by hash (4 KB), where each of 2048 hashes ends, two in a word (4 KB),
//             the best match of each position (4 KB), and sums for the sorting (1 KB)
// The product of which the hash is a part differs for all keys. So an entry of the table holds the rest of the product beside the
// position, and a candidate meets only positions with its own leading bytes.
//
// A match is one number here, its rank: the larger is the better, and 0 is none; an atomic maximum of it is better_match, in any
// order. Candidates come from the near end of the window to the far one, so that in periods the first ones settle nearly all. A
// candidate that differs in the last byte that it needs to beat the position's best is not compared.

#import gpu/webgpu/shared/workgroup.wgsl
#import gpu/webgpu/shared/bytes.wgsl
#import match/common/webgpu/blocks.wgsl
#import match/common/webgpu/records.wgsl
#import match/common/webgpu/common_length.wgsl
#import match/common/webgpu/counters.wgsl
#import match/common/webgpu/leading_mask.wgsl

struct Parameters {  // hemstitch/match.hpp
  tile_count: u32,
  min_match_len: u32,
  max_match_len: u32,
  window_size: u32,
}

@group(0) @binding(0) var<uniform> parameters: Parameters;
@group(0) @binding(1) var<storage, read> data_words: array<u32>;
@group(0) @binding(2) var<storage, read> blocks: array<Block>;
@group(0) @binding(3) var<storage, read> tiles: array<u32>;
@group(0) @binding(4) var<storage, read_write> records: array<u32>;
@group(0) @binding(5) var<storage, read_write> counters: array<atomic<u32>>;

override counted: bool = false;

const kThreads = 256u;
const kPositionsEach = kTilePositions / kThreads;  // of an invocation
const kRunOffsets = 8u;
const kRunLength = 128u;
const kHashBits = 11u;
const kEndWords = (1u << kHashBits) / 2u;
const kEndWordsEach = kEndWords / kThreads;
const kPositionBits = 10u;

var<workgroup> sh_best: array<atomic<u32>, kTilePositions>;
var<workgroup> sh_entries: array<u32, kTilePositions>;  // sorted by hash: the rest of the product, and the position's number
var<workgroup> sh_ends: array<atomic<u32>, kEndWords>;
var<workgroup> sh_sums: array<u32, kThreads>;

var<private> own_block: Block;
var<private> own_mask: u32;
var<private> own_probes: vec2u;
var<private> own_lookups: u32;
var<private> own_byte_comparisons: vec2u;

fn limit_at(place: u32) -> u32 {
  return min(parameters.max_match_len, block_end(own_block) - place);
}

fn product_at(place: u32) -> u32 {
  return (data_word(place) & own_mask) * 0x9E3779B1u;
}

fn hash_of(product: u32) -> u32 {
  return product >> (32u - kHashBits);
}

// Adds to the end of a hash, and returns what it was.
fn add_to_end(hash: u32, value: u32) -> u32 {
  let shift = 16u * (hash & 1u);
  return (atomicAdd(&sh_ends[hash / 2u], value << shift) >> shift) & 0xFFFFu;
}

fn end_of(hash: u32) -> u32 {
  return (atomicLoad(&sh_ends[hash / 2u]) >> (16u * (hash & 1u))) & 0xFFFFu;
}

// The match of `place` at that offset as a rank, 0 where it is no better than `best`.
fn compared(place: u32, offset: u32, best: u32) -> u32 {
  let limit = limit_at(place);
  if (counted) {
    let length = common_length(place, place - offset, 0u, limit);
    own_probes = add_wide(own_probes, 1u);
    own_byte_comparisons = add_wide(own_byte_comparisons, compared_bytes(length, limit));
    return match_rank(pack_match(offset, length));
  }
  let nearer = best != 0u && offset < 0xFFFFu - (best & 0xFFFFu);
  let needed = (best >> 16u) + select(1u, 0u, nearer);
  if (needed > limit || data_byte(place + needed - 1u) != data_byte(place - offset + needed - 1u)) {
    return 0u;
  }
  return match_rank(pack_match(offset, common_length(place, place - offset, 0u, limit)));
}

// Step 1 of the definition. True if the position must be indexed.
fn find_nearest(place: u32, best: ptr<function, u32>) -> bool {
  if (limit_at(place) < parameters.min_match_len) {
    return false;
  }
  let nearest = min(min(place - own_block.begin, parameters.window_size), kRunOffsets);
  for (var offset = 1u; offset <= nearest; offset++) {
    let found = compared(place, offset, *best);
    // Ranks without a match have the length 0.
    *best = max(*best, select(found, 0u, (found >> 16u) == 0u));
  }
  return (*best >> 16u) < kRunLength;
}

// Sorts the positions of bit k of `indexed`, position k * 256 + thread, by hash. Called by all invocations.
fn sort_positions(begin: u32, thread: u32, indexed: u32) {
  for (var word = thread; word < kEndWords; word += kThreads) {
    atomicStore(&sh_ends[word], 0u);
  }
  workgroupBarrier();
  for (var k = 0u; k < kPositionsEach; k++) {
    if (((indexed >> k) & 1u) != 0u) {
      add_to_end(hash_of(product_at(begin + k * kThreads + thread)), 1u);
    }
  }
  workgroupBarrier();
  var sum = 0u;
  for (var i = 0u; i < kEndWordsEach; i++) {
    let pair = atomicLoad(&sh_ends[thread * kEndWordsEach + i]);
    sum += (pair & 0xFFFFu) + (pair >> 16u);
  }
  sh_sums[thread] = sum;
  for (var distance = 1u; distance < kThreads; distance *= 2u) {
    workgroupBarrier();
    var before = 0u;
    if (thread >= distance) {
      before = sh_sums[thread - distance];
    }
    workgroupBarrier();
    sh_sums[thread] += before;
  }
  // First where the positions of a hash begin; when all have been placed, where they end.
  var first = sh_sums[thread] - sum;
  for (var i = 0u; i < kEndWordsEach; i++) {
    let pair = atomicLoad(&sh_ends[thread * kEndWordsEach + i]);
    let second = first + (pair & 0xFFFFu);
    atomicStore(&sh_ends[thread * kEndWordsEach + i], first | (second << 16u));
    first = second + (pair >> 16u);
  }
  workgroupBarrier();
  for (var k = 0u; k < kPositionsEach; k++) {
    if (((indexed >> k) & 1u) != 0u) {
      let number = k * kThreads + thread;
      let product = product_at(begin + number);
      sh_entries[add_to_end(hash_of(product), 1u)] = ((product << kHashBits) >> 1u) | number;
    }
  }
  workgroupBarrier();
}

fn look_up(candidate: u32, begin: u32) {
  let product = product_at(candidate);
  let hash = hash_of(product);
  var first = 0u;
  if (hash > 0u) {
    first = end_of(hash - 1u);
  }
  let end = end_of(hash);
  let rest = (product << kHashBits) >> 1u;
  for (var i = first; i < end; i++) {
    let entry = sh_entries[i];
    let number = entry & (kTilePositions - 1u);
    let place = begin + number;
    if (candidate >= place || place - candidate > parameters.window_size || (!counted && (entry ^ number) != rest)) {
      continue;
    }
    let best = atomicLoad(&sh_best[number]);
    let found = compared(place, place - candidate, best);
    if (found > best) {
      atomicMax(&sh_best[number], found);
    }
  }
}

fn find_tile(block: Block, tile: u32, thread: u32) {
  own_block = block;
  own_mask = leading_mask(parameters.min_match_len);
  let begin = tile_begin(block, tile);
  let end = tile_end(block, tile);
  var indexed = 0u;
  for (var k = 0u; k < kPositionsEach; k++) {
    let place = begin + k * kThreads + thread;
    var best = 0u;
    if (place < end && find_nearest(place, &best)) {
      indexed |= 1u << k;
    }
    atomicStore(&sh_best[k * kThreads + thread], best);
  }
  sort_positions(begin, thread, indexed);
  // The last position is no candidate of any position; nor are positions near the data's end, with too few bytes for a match.
  let data_end = block_end(block);
  let oldest = begin - min(begin - block.begin, parameters.window_size);
  for (var back = thread + 1u; end > begin && back < end - oldest; back += kThreads) {
    let candidate = end - 1u - back;
    if (data_end - candidate >= parameters.min_match_len) {
      own_lookups++;
      look_up(candidate, begin);
    }
  }
  workgroupBarrier();
  for (var k = 0u; k < kPositionsEach; k++) {
    let place = begin + k * kThreads + thread;
    if (place < end) {
      let best = atomicLoad(&sh_best[k * kThreads + thread]);
      records[place] =
          select(0u, pack_match(0xFFFFu - (best & 0xFFFFu), best >> 16u), (best >> 16u) >= parameters.min_match_len);
    }
  }
}

@compute @workgroup_size(kThreads)
fn find(@builtin(workgroup_id) id: vec3u, @builtin(num_workgroups) size: vec3u,
        @builtin(local_invocation_index) thread: u32) {
  let tile = workgroup_number(id, size, parameters.tile_count);
  if (tile >= parameters.tile_count) {
    return;
  }
  find_tile(blocks[tiles[tile]], tile, thread);
}

@compute @workgroup_size(kThreads)
fn count(@builtin(workgroup_id) id: vec3u, @builtin(num_workgroups) size: vec3u,
         @builtin(local_invocation_index) thread: u32) {
  let tile = workgroup_number(id, size, parameters.tile_count);
  if (tile >= parameters.tile_count) {
    return;
  }
  find_tile(blocks[tiles[tile]], tile, thread);
  add_to_counter(kProbes, own_probes);
  add_to_counter(kLookups, vec2u(own_lookups, 0u));
  add_to_counter(kByteComparisons, own_byte_comparisons);
}
