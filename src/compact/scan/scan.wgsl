// scan: where each of many pieces begins, from their sizes (contract: scan.hpp).
//
// Passes      reduce   a workgroup adds up its 1024 elements; repeated on the sums until there are at most 256 of them
//             apply    a workgroup scans its 1024 elements and adds where it begins: what it finds in the level above; or the
//                      sums before its own, which it adds up where they are at most 256; or the elements before its own, where
//                      these are so few that it saves a pass. From the smallest level back
// Buffers     elements (read) 4 bytes an element; sums (written by reduce, read by apply) 4 bytes for 1024 elements;
//             begins (written) 4 bytes an element, and the total behind the last
// Workgroup   256 invocations, 1 KB: a sum for each
// No workgroup waits for another one: WebGPU promises no forward progress. Sums are of 32 bits; a batch is below 4 GiB.

#import gpu/webgpu/shared/workgroup.wgsl

struct Parameters {
  count: u32,
  tile_count: u32,  // of 1024 elements
  known: u32,       // apply: what `sums` has, see below
}

@group(0) @binding(0) var<uniform> parameters: Parameters;
@group(0) @binding(1) var<storage, read> elements: array<u32>;
@group(0) @binding(2) var<storage, read_write> sums: array<u32>;    // of a tile; or where a tile begins
@group(0) @binding(3) var<storage, read_write> begins: array<u32>;

const kNothingKnown = 0u;
const kTileSumsKnown = 1u;
const kTileBeginsKnown = 2u;

const kThreads = 256u;
const kPerThread = 4u;

var<workgroup> sh_sums: array<u32, kThreads>;

// Adds up what every invocation has in sh_sums, into the first.
fn add_up(thread: u32) {
  for (var half = kThreads / 2u; half > 0u; half /= 2u) {
    workgroupBarrier();
    if (thread < half) {
      sh_sums[thread] += sh_sums[thread + half];
    }
  }
  workgroupBarrier();
}

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
  add_up(thread);
  if (thread == 0u && tile < parameters.tile_count) {
    sums[tile] = sh_sums[0];
  }
}

@compute @workgroup_size(kThreads)
fn apply(@builtin(workgroup_id) id: vec3u, @builtin(num_workgroups) size: vec3u,
         @builtin(local_invocation_index) thread: u32) {
  let tile = workgroup_number(id, size, parameters.tile_count);
  var tile_begin = 0u;
  if (parameters.known == kTileBeginsKnown) {
    tile_begin = sums[tile];
  } else if (parameters.tile_count > 1u) {
    var before = 0u;
    if (parameters.known == kTileSumsKnown) {
      before = select(0u, sums[thread], thread < tile);
    } else {
      for (var i = 0u; i < min(tile, parameters.tile_count); i++) {
        let in_tile = (i * kThreads * kPerThread) + thread;
        before += element(in_tile) + element(in_tile + kThreads) + element(in_tile + 2u * kThreads) +
                  element(in_tile + 3u * kThreads);
      }
    }
    sh_sums[thread] = before;
    add_up(thread);
    tile_begin = sh_sums[0];
    workgroupBarrier();
  }
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
  var begin = sh_sums[thread] - sum + tile_begin;
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
