// lazy: for each position, the match that a walk takes when it comes there (contract: lazy.hpp).
//
// Passes      decide   an invocation decides for four positions of its tile
// Buffers     blocks, tiles (read); records (read) 4 bytes a position; decisions (written) 4 bytes a position: the usable
//             match, 0 for a literal
// Workgroup   256 invocations, none

#import gpu/webgpu/shared/workgroup.wgsl
#import match/common/webgpu/blocks.wgsl
#import match/common/webgpu/records.wgsl
#import parse/shared/usable.wgsl

struct Parameters {
  plan: Plan,
  tile_count: u32,
  lazy_skip: u32,  // a match of that length is taken without looking further; 0: never
}

@group(0) @binding(0) var<uniform> parameters: Parameters;
@group(0) @binding(1) var<storage, read> blocks: array<Block>;
@group(0) @binding(2) var<storage, read> tiles: array<u32>;
@group(0) @binding(3) var<storage, read> records: array<u32>;
@group(0) @binding(4) var<storage, read_write> decisions: array<u32>;

const kThreads = 256u;

fn decision(place: u32, block: Block) -> u32 {
  let position = place - block_begin(block);
  let own = usable_match(records[place], position, block.block_bytes, parameters.plan);
  let looks_ahead = parameters.lazy_skip == 0u || record_length(own) < parameters.lazy_skip;
  if (own == 0u || !looks_ahead || position + 1u >= block.block_bytes) {
    return own;
  }
  let next = usable_match(records[place + 1u], position + 1u, block.block_bytes, parameters.plan);
  return select(own, 0u, record_length(next) > record_length(own));
}

@compute @workgroup_size(kThreads)
fn decide(@builtin(workgroup_id) id: vec3u, @builtin(num_workgroups) size: vec3u,
          @builtin(local_invocation_index) thread: u32) {
  let tile = workgroup_number(id, size, parameters.tile_count);
  if (tile >= parameters.tile_count) {
    return;
  }
  let block = blocks[tiles[tile]];
  for (var place = tile_begin(block, tile) + thread; place < tile_end(block, tile); place += kThreads) {
    decisions[place] = decision(place, block);
  }
}
