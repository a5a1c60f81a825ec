// shuffle and unshuffle of many buffers that lie one behind the other (contract: shuffle.hpp).
//
// Passes      shuffle, unshuffle   an invocation makes a vector of 16 bytes of the output
// Buffers     data_words (read), begins (read) 4 bytes a buffer, where it begins in both spans, ascending, and the total behind the
//             last; output (written)
// Workgroup   256 invocations, no memory
// Work is divided by output bytes, whichever buffers they belong to: an invocation finds the buffer of its first byte by bisection,
// and then the place in the source of each of its bytes. The bytes that neighbouring invocations read are in the same words, or in
// consecutive ones.

#import gpu/webgpu/shared/bytes.wgsl
#import gpu/webgpu/shared/workgroup.wgsl

struct Parameters {
  buffer_count: u32,
  element_bytes: u32,
  workgroup_count: u32,
}

@group(0) @binding(0) var<uniform> parameters: Parameters;
@group(0) @binding(1) var<storage, read> data_words: array<u32>;
@group(0) @binding(2) var<storage, read> begins: array<u32>;
@group(0) @binding(3) var<storage, read_write> output: array<vec4u>;

const kThreads = 256u;
const kVectorBytes = 16u;

// The last buffer that begins at or before `place`.
fn buffer_at(place: u32) -> u32 {
  var low = 0u;
  var high = parameters.buffer_count;
  while (high - low > 1u) {
    let middle = low + (high - low) / 2u;
    if (begins[middle] <= place) {
      low = middle;
    } else {
      high = middle;
    }
  }
  return low;
}

// Where the byte `at` of a shuffled buffer of `bytes` stands in the elements, and the other way round.
fn place_in_elements(at: u32, bytes: u32) -> u32 {
  let elements = bytes / parameters.element_bytes;
  if (at >= elements * parameters.element_bytes) {
    return at;
  }
  return at % elements * parameters.element_bytes + at / elements;
}
fn place_in_planes(at: u32, bytes: u32) -> u32 {
  let elements = bytes / parameters.element_bytes;
  if (at >= elements * parameters.element_bytes) {
    return at;
  }
  return at % parameters.element_bytes * elements + at / parameters.element_bytes;
}

fn make_vector(id: vec3u, size: vec3u, thread: u32, forth: bool) {
  let vector = workgroup_number(id, size, parameters.workgroup_count) * kThreads + thread;
  let total = begins[parameters.buffer_count];
  // The number is multiplied only once it is known to be inside: those beyond the last vector may be large.
  if (vector >= (total / kVectorBytes) + u32(total % kVectorBytes != 0u)) {
    return;
  }
  let first = vector * kVectorBytes;
  var buffer = buffer_at(first);
  var begin = begins[buffer];
  var end = begins[buffer + 1u];
  var words = vec4u(0u);
  for (var i = 0u; i < min(kVectorBytes, total - first); i++) {
    let place = first + i;
    if (place >= end) {
      // Any number of empty buffers.
      buffer = buffer_at(place);
      begin = begins[buffer];
      end = begins[buffer + 1u];
    }
    var source = 0u;
    if (forth) {
      source = place_in_elements(place - begin, end - begin);
    } else {
      source = place_in_planes(place - begin, end - begin);
    }
    words[i / 4u] |= data_byte(begin + source) << (i % 4u * 8u);
  }
  output[vector] = words;
}

@compute @workgroup_size(kThreads)
fn shuffle(@builtin(workgroup_id) id: vec3u, @builtin(num_workgroups) size: vec3u,
           @builtin(local_invocation_index) thread: u32) {
  make_vector(id, size, thread, true);
}

@compute @workgroup_size(kThreads)
fn unshuffle(@builtin(workgroup_id) id: vec3u, @builtin(num_workgroups) size: vec3u,
             @builtin(local_invocation_index) thread: u32) {
  make_vector(id, size, thread, false);
}
