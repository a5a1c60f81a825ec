// hash_chain, steps 1 and 2: the best candidate along the links of each position (contract: hash_chain.hpp).
//
// Passes      walk     an invocation walks for four positions of its tile
// Buffers     data_words, blocks, tiles (read); links (read) 4 bytes a position; records (written) 4 bytes a position:
//             lengths are at most the cap
// Workgroup   256 invocations, none

#import gpu/webgpu/shared/workgroup.wgsl
#import gpu/webgpu/shared/bytes.wgsl
#import match/common/webgpu/blocks.wgsl
#import match/common/webgpu/records.wgsl
#import match/common/webgpu/common_length.wgsl

struct Parameters {
  tile_count: u32,
  depth: u32,
  cap_bytes: u32,
  window_bytes: u32,
}

@group(0) @binding(0) var<uniform> parameters: Parameters;
@group(0) @binding(1) var<storage, read> data_words: array<u32>;
@group(0) @binding(2) var<storage, read> blocks: array<Block>;
@group(0) @binding(3) var<storage, read> tiles: array<u32>;
@group(0) @binding(4) var<storage, read> links: array<u32>;
@group(0) @binding(5) var<storage, read_write> records: array<u32>;

const kThreads = 256u;

fn best_candidate(place: u32, end: u32) -> u32 {
  let limit = min(parameters.cap_bytes, end - place);
  var best_offset = 0u;
  var best_length = 0u;
  // The four bytes in which a match longer than the best must agree: they end one byte after it.
  var tail = 0u;
  var tail_word = data_word(place);
  var candidate = place;
  var link = links[place];
  for (var step = 0u; step < parameters.depth; step++) {
    candidate -= link;
    let offset = place - candidate;
    if (link == 0u || offset > parameters.window_bytes) {
      break;
    }
    // Loaded now, needed in the next turn.
    if (step + 1u < parameters.depth) {
      link = links[candidate];
    }
    if (data_word(candidate + tail) == tail_word) {
      let length = common_length(place, candidate, select(0u, 4u, tail == 0u), limit);
      if (length > best_length) {
        best_offset = offset;
        best_length = length;
        tail = max(length, 3u) - 3u;
        tail_word = data_word(place + tail);
      }
      if (length == limit) {
        break;
      }
    }
  }
  return pack_match(best_offset, best_length);
}

@compute @workgroup_size(kThreads)
fn walk(@builtin(workgroup_id) id: vec3u, @builtin(num_workgroups) size: vec3u,
        @builtin(local_invocation_index) thread: u32) {
  let tile = workgroup_number(id, size, parameters.tile_count);
  if (tile >= parameters.tile_count) {
    return;
  }
  let block = blocks[tiles[tile]];
  let end = block_end(block);
  for (var place = tile_begin(block, tile) + thread; place < tile_end(block, tile); place += kThreads) {
    records[place] = best_candidate(place, end);
  }
}
