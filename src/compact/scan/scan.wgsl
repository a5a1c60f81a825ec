// scan: where each of many pieces begins, from their sizes (contract: scan.hpp).
//
// Passes      reduce   a workgroup adds up its 1024 elements; repeated on the sums until one workgroup has them all
//             apply    a workgroup scans its 1024 elements and adds where it begins; from the smallest level back
// Buffers     elements (read) 4 bytes an element; sums (written by reduce, read by apply) 4 bytes for 1024 elements;
//             begins (written) 4 bytes an element, and the total behind the last
// Workgroup   256 invocations, 1 KB: a sum for each
// No workgroup waits for another one: WebGPU promises no forward progress. Sums are of 32 bits; a batch is below 4 GiB.

#import device/webgpu/shared/workgroup.wgsl

struct Parameters {
  count: u32,
  tile_count: u32,  // of 1024 elements
}

@group(0) @binding(0) var<uniform> parameters: Parameters;
@group(0) @binding(1) var<storage, read> elements: array<u32>;
@group(0) @binding(2) var<storage, read_write> sums: array<u32>;    // reduce: of a tile; apply: where a tile begins
@group(0) @binding(3) var<storage, read_write> begins: array<u32>;

const kThreads = 256u;
const kPerThread = 4u;

var<workgroup> sh_sums: array<u32, kThreads>;

fn element(index: u32) -> u32 {
  return select(0u, elements[min(index, parameters.count)], index < parameters.count);
}

@compute @workgroup_size(kThreads)
fn reduce(@builtin(workgroup_id) id: vec3u, @builtin(num_workgroups) size: vec3u,
          @builtin(local_invocation_index) thread: u32) {
  let tile = workgroup_number(id, size, parameters.tile_count);
  var sum = 0u;
  // Neighbouring threads read neighbouring elements.
  for (var i = 0u; i < kPerThread; i++) {
    sum += element((tile * kPerThread + i) * kThreads + thread);
  }
  sh_sums[thread] = sum;
  for (var half = kThreads / 2u; half > 0u; half /= 2u) {
    workgroupBarrier();
    if (thread < half) {
      sh_sums[thread] += sh_sums[thread + half];
    }
  }
  if (thread == 0u && tile < parameters.tile_count) {
    sums[tile] = sh_sums[0];
  }
}

@compute @workgroup_size(kThreads)
fn apply(@builtin(workgroup_id) id: vec3u, @builtin(num_workgroups) size: vec3u,
         @builtin(local_invocation_index) thread: u32) {
  let tile = workgroup_number(id, size, parameters.tile_count);
  let first = (tile * kThreads + thread) * kPerThread;
  var own: array<u32, kPerThread>;
  var sum = 0u;
  for (var i = 0u; i < kPerThread; i++) {
    own[i] = element(first + i);
    sum += own[i];
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
  if (tile >= parameters.tile_count) {
    return;
  }
  var begin = sh_sums[thread] - sum + select(0u, sums[tile], parameters.tile_count > 1u);
  for (var i = 0u; i < kPerThread; i++) {
    if (first + i < parameters.count) {
      begins[first + i] = begin;
      begin += own[i];
      if (first + i + 1u == parameters.count) {
        begins[parameters.count] = begin;
      }
    }
  }
}
