// optimal_exact: the cheapest way through a whole block (contract: optimal.hpp, parse_optimal_exact), for costs from a table,
// in sixteenths of a bit (contract: cost_table.hpp).
//
// Passes      solve    an invocation goes backwards over a part of its block, 8192 positions a pass, from the last part to the first
// Buffers     blocks (read); records (read) 4 bytes a position; costs (written, then read by the passes that follow) 4 bytes a
//             position: of everything from there on; decisions (written) 4 bytes a position: the match to take there, 0 for a
//             literal; prices (read): the table
// Workgroup   1 invocation, none
// optimal_exact.wgsl says what it is for.

#import gpu/webgpu/shared/workgroup.wgsl
#import match/common/webgpu/blocks.wgsl
#import match/common/webgpu/records.wgsl
#import parse/shared/usable.wgsl

struct Parameters {
  plan: Plan,
  block_count: u32,
  solved: u32,        // positions at the end of each block that are solved
  unused_a: u32,
  unused_b: u32,
}

@group(0) @binding(0) var<uniform> parameters: Parameters;
@group(0) @binding(1) var<storage, read> blocks: array<Block>;
@group(0) @binding(2) var<storage, read> records: array<u32>;
@group(0) @binding(3) var<storage, read_write> costs: array<u32>;
@group(0) @binding(4) var<storage, read_write> decisions: array<u32>;
@group(0) @binding(5) var<storage, read> prices: array<u32>;

#import parse/optimal/cost_table.wgsl
#import parse/optimal/whole_blocks.wgsl

@compute @workgroup_size(1)
fn solve(@builtin(workgroup_id) id: vec3u, @builtin(num_workgroups) size: vec3u) {
  solve_blocks(id, size);
}
