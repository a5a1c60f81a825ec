// near_three: the nearest earlier place with the same three bytes (contract: near_three.hpp), along the links of a hash of three bytes.
//
// Passes      walk     an invocation walks for four positions of its tile
// Buffers     data_words, blocks, tiles (read); links (read) 4 bytes a position; records (written) 4 bytes a position:
//             the offset, and how many bytes agree there, up to most_compared
// Workgroup   256 invocations, none

#import gpu/webgpu/shared/workgroup.wgsl
#import gpu/webgpu/shared/bytes.wgsl
#import match/common/webgpu/blocks.wgsl
#import match/common/webgpu/records.wgsl
#import match/common/webgpu/common_length.wgsl

struct Parameters {
  tile_count: u32,
  depth: u32,
  window_bytes: u32,
  most_compared: u32,  // bytes
}

@group(0) @binding(0) var<uniform> parameters: Parameters;
@group(0) @binding(1) var<storage, read> data_words: array<u32>;
@group(0) @binding(2) var<storage, read> blocks: array<Block>;
@group(0) @binding(3) var<storage, read> tiles: array<u32>;
@group(0) @binding(4) var<storage, read> links: array<u32>;
@group(0) @binding(5) var<storage, read_write> records: array<u32>;

const kThreads = 256u;
const kThreeBytes = 0xFFFFFFu;

// Positions with fewer than three bytes left have no link, so what is compared lies in the data.
fn nearest(place: u32, end: u32) -> u32 {
  let word = data_word(place) & kThreeBytes;
  var candidate = place;
  var link = links[place];
  for (var step = 0u; step < parameters.depth; step++) {
    candidate -= link;
    if (link == 0u || place - candidate > parameters.window_bytes) {
      break;
    }
    // Loaded now, needed in the next turn.
    if (step + 1u < parameters.depth) {
      link = links[candidate];
    }
    if ((data_word(candidate) & kThreeBytes) == word) {
      return pack_match(place - candidate, common_length(place, candidate, 3u, min(parameters.most_compared, end - place)));
    }
  }
  return 0u;
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
    records[place] = nearest(place, end);
  }
}
