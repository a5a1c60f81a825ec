// optimal: the cheapest way through each segment of 1024 positions (contract: optimal.hpp, parse_optimal).
//
// Passes      solve    an invocation solves a segment, which is a tile, backwards over itself and 256 positions more
// Buffers     blocks, tiles (read); records (read) 4 bytes a position; decisions (written) 4 bytes a position: the match to
//             take there, 0 for a literal
// Workgroup   6 invocations, 15.0 KB: for each segment the cost from each of its positions on, two in a word
// Segments are independent of each other, so one thread each is enough of them: 65,536 in 64 MB. Costs of six segments are
// what WebGPU's default of 16 KB holds. (In private memory they would need no workgroup memory at all, but a software driver
// takes 45 s to compile an array of that size. Document 000's kernel keeps costs of a segment in more than the default.)

#import device/webgpu/shared/workgroup.wgsl
#import device/webgpu/shared/blocks.wgsl
#import device/webgpu/shared/records.wgsl
#import parse/shared/usable.wgsl

struct Parameters {
  plan: Plan,
  tile_count: u32,
  workgroup_count: u32,
  literal_cost: u32,  // bits
  match_cost: u32,
}

@group(0) @binding(0) var<uniform> parameters: Parameters;
@group(0) @binding(1) var<storage, read> blocks: array<Block>;
@group(0) @binding(2) var<storage, read> tiles: array<u32>;
@group(0) @binding(3) var<storage, read> records: array<u32>;
@group(0) @binding(4) var<storage, read_write> decisions: array<u32>;

#import parse/optimal/cost_model.wgsl

const kThreads = 6u;
const kLookAheadPositions = 256u;
const kCostWords = (kTilePositions + kLookAheadPositions) / 2u + 1u;

// Costs from a position of a segment on, at most 65535: segments take turns, so that neighbouring invocations use
// neighbouring words.
var<workgroup> sh_costs: array<u32, kThreads * kCostWords>;

fn cost_from(thread: u32, position: u32) -> u32 {
  return (sh_costs[(position / 2u) * kThreads + thread] >> (16u * (position % 2u))) & 0xFFFFu;
}

// Called for positions from the last to the first.
fn set_cost_from(thread: u32, position: u32, cost: u32) {
  let word = (position / 2u) * kThreads + thread;
  if (position % 2u == 1u) {
    sh_costs[word] = cost << 16u;
  } else {
    sh_costs[word] = (sh_costs[word] & 0xFFFF0000u) | cost;
  }
}

@compute @workgroup_size(kThreads)
fn solve(@builtin(workgroup_id) id: vec3u, @builtin(num_workgroups) size: vec3u,
         @builtin(local_invocation_index) thread: u32) {
  let tile = workgroup_number(id, size, parameters.workgroup_count) * kThreads + thread;
  if (tile >= parameters.tile_count) {
    return;
  }
  let block = blocks[tiles[tile]];
  let begin = tile_begin(block, tile);
  let own_count = tile_end(block, tile) - begin;
  let begin_in_block = begin - block_begin(block);
  // Costs at the horizon are 0, and what lies beyond it is the horizon.
  let horizon = min(own_count + kLookAheadPositions, block.block_bytes - begin_in_block);
  set_cost_from(thread, horizon, 0u);
  var cost_after = 0u;
  for (var left = horizon; left > 0u; left--) {
    let position = left - 1u;
    var best_cost = literal_cost() + cost_after;
    var best = 0u;
    let full = usable_match(records[begin + position], begin_in_block + position, block.block_bytes, parameters.plan);
    if (full != 0u) {
      for (var index = 0u; index < tried_length_count(); index++) {
        let length = tried_length(record_length(full), index);
        if (length < parameters.plan.min_match_length || length == 0u) {
          continue;
        }
        let room = horizon - position;
        let priced = select(max(room, parameters.plan.min_match_length), length, length <= room);
        let cost = match_cost(priced) + cost_from(thread, position + min(length, room));
        if (cost < best_cost) {
          best_cost = cost;
          best = pack_match(record_offset(full), length);
        }
      }
    }
    set_cost_from(thread, position, best_cost);
    cost_after = best_cost;
    if (position < own_count) {
      decisions[begin + position] = best;
    }
  }
}
