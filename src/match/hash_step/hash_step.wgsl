// hash_step, step 3: the best of the table's candidate and three near ones (contract: hash_step.hpp).
//
// Passes      look_up  an invocation looks up four positions of its tile
// Buffers     data_words, blocks, tiles (read); links (read) 4 bytes a position; records (written) 4 bytes a position:
//             lengths are at most the cap
// Workgroup   256 invocations, none
// The table itself is never there: what it would hold for a group is the first position along the links that lies before
// the group (match/links/links_webgpu.hpp), at most a group's length of links away.

#import gpu/webgpu/shared/workgroup.wgsl
#import gpu/webgpu/shared/bytes.wgsl
#import match/common/blocks.wgsl
#import match/common/records.wgsl
#import match/common/common_length.wgsl

struct Parameters {
  tile_count: u32,
  group_positions: u32,
  cap_bytes: u32,
}

@group(0) @binding(0) var<uniform> parameters: Parameters;
@group(0) @binding(1) var<storage, read> data_words: array<u32>;
@group(0) @binding(2) var<storage, read> blocks: array<Block>;
@group(0) @binding(3) var<storage, read> tiles: array<u32>;
@group(0) @binding(4) var<storage, read> links: array<u32>;
@group(0) @binding(5) var<storage, read_write> records: array<u32>;

const kThreads = 256u;

// The better of `best` and the match at that offset, if there is one.
fn considered(best: u32, place: u32, offset: u32, word: u32, limit: u32) -> u32 {
  if (data_word(place - offset) != word) {
    return best;
  }
  let found = pack_match(offset, common_length(place, place - offset, 4u, limit));
  return select(best, found, match_rank(found) > match_rank(best));
}

fn best_candidate(place: u32, block: Block) -> u32 {
  if (place + 4u > block_end(block)) {
    return 0u;
  }
  let word = data_word(place);
  let limit = min(parameters.cap_bytes, block_end(block) - place);
  let back = place - block.begin;
  var best = 0u;
  if (back >= 1u) {
    best = considered(best, place, 1u, word, limit);
  }
  if (back >= 2u) {
    best = considered(best, place, 2u, word, limit);
  }
  if (back >= 4u) {
    best = considered(best, place, 4u, word, limit);
  }
  let in_block = place - block_begin(block);
  let group = place - in_block % parameters.group_positions;
  var candidate = place;
  var link = links[candidate];
  while (link != 0u) {
    candidate -= link;
    if (candidate < group) {
      break;
    }
    link = links[candidate];
  }
  if (link != 0u && place - candidate <= kMaxRecordOffset) {
    best = considered(best, place, place - candidate, word, limit);
  }
  return best;
}

@compute @workgroup_size(kThreads)
fn look_up(@builtin(workgroup_id) id: vec3u, @builtin(num_workgroups) size: vec3u,
           @builtin(local_invocation_index) thread: u32) {
  let tile = workgroup_number(id, size, parameters.tile_count);
  if (tile >= parameters.tile_count) {
    return;
  }
  let block = blocks[tiles[tile]];
  for (var place = tile_begin(block, tile) + thread; place < tile_end(block, tile); place += kThreads) {
    records[place] = best_candidate(place, block);
  }
}
