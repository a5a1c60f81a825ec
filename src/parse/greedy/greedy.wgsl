// greedy: for each position, its usable match (contract: greedy.hpp).
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
}

@group(0) @binding(0) var<uniform> parameters: Parameters;
@group(0) @binding(1) var<storage, read> blocks: array<Block>;
@group(0) @binding(2) var<storage, read> tiles: array<u32>;
@group(0) @binding(3) var<storage, read> records: array<u32>;
@group(0) @binding(4) var<storage, read_write> decisions: array<u32>;

const kThreads = 256u;

@compute @workgroup_size(kThreads)
fn decide(@builtin(workgroup_id) id: vec3u, @builtin(num_workgroups) size: vec3u,
          @builtin(local_invocation_index) thread: u32) {
  let tile = workgroup_number(id, size, parameters.tile_count);
  if (tile >= parameters.tile_count) {
    return;
  }
  let block = blocks[tiles[tile]];
  for (var place = tile_begin(block, tile) + thread; place < tile_end(block, tile); place += kThreads) {
    decisions[place] =
        usable_match(records[place], place - block_begin(block), block.block_bytes, parameters.plan);
  }
}
