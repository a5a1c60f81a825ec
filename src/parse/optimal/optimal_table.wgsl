// optimal: the cheapest way through each segment of 1024 positions (contract: optimal.hpp, parse_optimal), for costs from a table, in
// sixteenths of a bit (contract: cost_table.hpp).
//
// Passes      solve    a lane solves a segment, which is a tile, backwards over itself and 256 positions more; the lanes of a
//                      workgroup do so in step
//             take     an invocation turns the edges that were chosen for four positions into matches
// Buffers     blocks, tiles (read); records (read) 4 bytes a position; decisions (written by solve, read and written by take) 4
//             bytes a position: the match to take there, 0 for a literal; prices (read by solve): the table; ahead (written and read
//             by solve) 1024 bytes a tile: the costs from the positions that its segment looks ahead to
// Workgroup   solve: 32 invocations, 9.4 KB: for each lane the costs from 64 positions on (8 KB), what 8 positions are to write
//             (1.1 KB), and where its segment is. take: 256 invocations, none

#import gpu/webgpu/shared/workgroup.wgsl
#import match/common/webgpu/blocks.wgsl
#import match/common/webgpu/records.wgsl
#import parse/shared/usable.wgsl

struct Parameters {
  plan: Plan,
  tile_count: u32,
  workgroup_count: u32,  // of solve
  unused_a: u32,
  unused_b: u32,
}

@group(0) @binding(0) var<uniform> parameters: Parameters;
@group(0) @binding(1) var<storage, read> blocks: array<Block>;
@group(0) @binding(2) var<storage, read> tiles: array<u32>;
@group(0) @binding(3) var<storage, read> records: array<u32>;
@group(0) @binding(4) var<storage, read_write> decisions: array<u32>;
@group(0) @binding(5) var<storage, read> prices: array<u32>;
@group(0) @binding(6) var<storage, read_write> ahead: array<u32>;

#import parse/optimal/cost_table.wgsl
#import parse/optimal/wide_costs.wgsl
#import parse/optimal/segments.wgsl

@compute @workgroup_size(kLanes)
fn solve(@builtin(workgroup_id) id: vec3u, @builtin(num_workgroups) size: vec3u,
         @builtin(local_invocation_index) lane: u32) {
  solve_segments(id, size, lane);
}

@compute @workgroup_size(kThreads)
fn take(@builtin(workgroup_id) id: vec3u, @builtin(num_workgroups) size: vec3u,
        @builtin(local_invocation_index) thread: u32) {
  take_matches(id, size, thread);
}
