// matches: the sequences of all blocks as one list of matches, for those who bring their own encoder (matches_webgpu.hpp).
//
// Passes      count    an invocation counts the matches of a block; scan turns the counts into where each block's matches begin
//             collect  an invocation writes a match
// Buffers     blocks (read); counts (read by count) 4 bytes a block, sequences of each; sizes (written by count) 4 bytes a block;
//             begins (read by collect) 4 bytes a block, and the total behind the last; sequences (read) 8 bytes a sequence;
//             matches (written) 8 bytes a match
// Workgroup   256 invocations, none
// A match finds its block by bisection, so a few blocks with many matches take no longer than many with a few.

#import gpu/webgpu/shared/workgroup.wgsl
#import match/common/webgpu/blocks.wgsl
#import parse/shared/sequences.wgsl

struct Parameters {
  block_count: u32,
  workgroup_count: u32,
}

@group(0) @binding(0) var<uniform> parameters: Parameters;
@group(0) @binding(1) var<storage, read> blocks: array<Block>;
@group(0) @binding(2) var<storage, read> counts: array<u32>;
@group(0) @binding(3) var<storage, read_write> sizes: array<u32>;
@group(0) @binding(4) var<storage, read> begins: array<u32>;
@group(0) @binding(5) var<storage, read> sequences: array<Sequence>;
@group(0) @binding(6) var<storage, read_write> matches: array<Sequence>;

const kThreads = 256u;

// The last sequence of a block has only literals.
@compute @workgroup_size(kThreads)
fn count(@builtin(workgroup_id) id: vec3u, @builtin(num_workgroups) size: vec3u,
         @builtin(local_invocation_index) thread: u32) {
  let number = workgroup_number(id, size, parameters.workgroup_count) * kThreads + thread;
  if (number < parameters.block_count) {
    sizes[number] = counts[number] - 1u;
  }
}

// The last block whose matches begin at or before `index`, which is below the total.
fn block_of(index: u32) -> u32 {
  var low = 0u;
  var high = parameters.block_count;
  while (high - low > 1u) {
    let middle = (low + high) / 2u;
    if (begins[middle] <= index) {
      low = middle;
    } else {
      high = middle;
    }
  }
  return low;
}

@compute @workgroup_size(kThreads)
fn collect(@builtin(workgroup_id) id: vec3u, @builtin(num_workgroups) size: vec3u,
           @builtin(local_invocation_index) thread: u32) {
  let index = workgroup_number(id, size, parameters.workgroup_count) * kThreads + thread;
  if (index >= begins[parameters.block_count]) {
    return;
  }
  let number = block_of(index);
  let sequence = sequences[blocks[number].first_sequence + index - begins[number]];
  matches[index] = Sequence(sequence.place - block_begin(blocks[number]), sequence.record);
}
