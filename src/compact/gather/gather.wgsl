// gather: pieces that lie anywhere in one buffer, brought together in another (contract: gather.hpp).
//
// Passes      gather   a workgroup builds 8 KB of the output, an invocation every 256th vector of 16 bytes, from whatever
//                      pieces their bytes come
// Buffers     data_vectors (read), pieces (read) 8 bytes a piece: source byte and size; begins (read) 4 bytes a piece, where
//             it goes, ascending, and the total behind the last; output (written)
// Workgroup   256 invocations, 4 KB: where up to 1024 pieces begin
// Work is divided by output bytes, never by pieces, so one large piece among many small ones does not set the time. The
// workgroup finds the first piece of its bytes by testing 256 places at a time, and notes where the pieces from there on begin; a
// vector finds its own by bisection among these, or in the buffer where they are too many. It is assembled from all pieces that
// have bytes in it. For each piece, two vectors of the source are shifted into place, as if the piece continued on both sides, and
// bytes that are not the piece's are masked out. If one piece fills the workgroup's bytes, nothing is searched.

#import gpu/webgpu/shared/workgroup.wgsl

struct Parameters {
  piece_count: u32,
  workgroup_count: u32,
}

struct Piece {
  source: u32,  // byte
  bytes: u32,
}

@group(0) @binding(0) var<uniform> parameters: Parameters;
@group(0) @binding(1) var<storage, read> data_vectors: array<vec4u>;
@group(0) @binding(2) var<storage, read> pieces: array<Piece>;
@group(0) @binding(3) var<storage, read> begins: array<u32>;
@group(0) @binding(4) var<storage, read_write> output: array<vec4u>;

const kThreads = 256u;
const kVectorsPerThread = 2u;
const kVectorBytes = 16u;
const kWorkgroupBytes = kThreads * kVectorsPerThread * kVectorBytes;
const kNoted = 1024u;

var<workgroup> sh_begins: array<u32, kNoted>;
var<workgroup> sh_first: atomic<u32>;
var<workgroup> sh_uniform: u32;  // what all invocations are told

// The last piece that begins at or before `place`, for all invocations: each invocation tries one of the pieces that are left,
// until all have been tried.
fn search_together(thread: u32, place: u32) -> u32 {
  var stride = 1u;
  while (stride * kThreads < parameters.piece_count) {
    stride *= kThreads;
  }
  if (thread == 0u) {
    atomicStore(&sh_first, 0u);
  }
  for (; stride > 0u; stride /= kThreads) {
    workgroupBarrier();
    let first = atomicLoad(&sh_first);
    workgroupBarrier();
    // At most 65,536 * 256 pieces: this does not wrap.
    let tried = first + thread * stride;
    if (tried < parameters.piece_count && begins[tried] <= place) {
      atomicMax(&sh_first, tried);
    }
  }
  workgroupBarrier();
  if (thread == 0u) {
    sh_uniform = atomicLoad(&sh_first);
  }
  return workgroupUniformLoad(&sh_uniform);
}

// The pieces that a workgroup knows of.
struct Known {
  first: u32,
  noted: u32,  // how many of them are noted, counted from the first
  last: u32,
}

fn begin_of(known: Known, piece: u32) -> u32 {
  let number = piece - known.first;
  if (number < known.noted) {
    return sh_begins[number];
  }
  return begins[piece];
}

// The last piece from `low` on that begins at or before `place`; `low` is such a piece.
fn piece_at(known: Known, first: u32, place: u32) -> u32 {
  var low = first;
  var high = known.last + 1u;
  while (high - low > 1u) {
    let middle = (low + high) / 2u;
    if (begin_of(known, middle) <= place) {
      low = middle;
    } else {
      high = middle;
    }
  }
  return low;
}

// The 16 bytes from `place` on, at any alignment. A place below 0 is before the buffer: the bytes read there mean nothing, those
// from 0 on are right.
fn data_at(place: u32) -> vec4u {
  let index = place / kVectorBytes;
  var low = data_vectors[index];
  if (place % kVectorBytes == 0u) {
    return low;
  }
  return shifted(low, data_vectors[(index + 1u) % (1u << 28u)], place % kVectorBytes);
}

// The 16 bytes that begin `bytes` after the beginning of two consecutive vectors.
fn shifted(first: vec4u, second: vec4u, bytes: u32) -> vec4u {
  var low = first;
  var high = second.xyz;
  if ((bytes & 8u) != 0u) {
    low = vec4u(low.zw, high.xy);
    high = vec3u(high.z, second.w, 0u);
  }
  if ((bytes & 4u) != 0u) {
    low = vec4u(low.yzw, high.x);
    high.x = high.y;
  }
  let shift = vec4u((bytes & 3u) * 8u);
  // Two shifts on the left, since one by 32 bits is not defined.
  return (low >> shift) | ((vec4u(low.yzw, high.x) << vec4u(1u)) << (vec4u(31u) - shift));
}

// Ones in the first `bytes` bytes of a vector.
fn mask_below(bytes: u32) -> vec4u {
  let half_bits = 4u * vec4u(clamp(vec4i(i32(bytes)) - vec4i(0, 4, 8, 12), vec4i(0), vec4i(4)));
  // Two shifts, since one by 32 bits is not defined.
  return ((vec4u(1u) << half_bits) << half_bits) - vec4u(1u);
}

@compute @workgroup_size(kThreads)
fn gather(@builtin(workgroup_id) id: vec3u, @builtin(num_workgroups) size: vec3u,
          @builtin(local_invocation_index) thread: u32) {
  let workgroup_begin = workgroup_number(id, size, parameters.workgroup_count) * kWorkgroupBytes;
  let total = begins[parameters.piece_count];
  let workgroup_end = workgroup_begin + min(total - min(total, workgroup_begin), kWorkgroupBytes);
  let first = search_together(thread, workgroup_begin);
  let first_vector = workgroup_begin / kVectorBytes + thread;

  if (workgroup_end - workgroup_begin == kWorkgroupBytes && begins[first + 1u] >= workgroup_end) {
    let source = pieces[first].source + workgroup_begin - begins[first];
    let source_vector = source / kVectorBytes + thread;
    var values: array<vec4u, kVectorsPerThread>;
    for (var i = 0u; i < kVectorsPerThread; i++) {
      values[i] = data_vectors[source_vector + i * kThreads];
    }
    if (source % kVectorBytes != 0u) {
      for (var i = 0u; i < kVectorsPerThread; i++) {
        values[i] = shifted(values[i], data_vectors[source_vector + i * kThreads + 1u], source % kVectorBytes);
      }
    }
    for (var i = 0u; i < kVectorsPerThread; i++) {
      output[first_vector + i * kThreads] = values[i];
    }
    return;
  }

  var known = Known(first, 0u, parameters.piece_count - 1u);
  while (known.noted < kNoted) {
    let begin = begins[min(first + known.noted + thread, parameters.piece_count)];
    sh_begins[known.noted + thread] = begin;
    known.noted += kThreads;
    if (thread == kThreads - 1u) {
      sh_uniform = begin;
    }
    if (workgroupUniformLoad(&sh_uniform) >= workgroup_end) {
      known.last = min(known.last, first + known.noted - 1u);
      break;
    }
  }
  for (var i = 0u; i < kVectorsPerThread; i++) {
    let vector = first_vector + i * kThreads;
    let place = vector * kVectorBytes;
    if (place >= workgroup_end) {
      break;
    }
    let stop = min(place + kVectorBytes, workgroup_end);
    var piece = piece_at(known, first, place);
    var begin = begin_of(known, piece);
    var end = begin_of(known, piece + 1u);
    var value = vec4u(0u);
    loop {
      let bytes = data_at(pieces[piece].source + (place - begin));
      let before = select(begin - place, 0u, begin <= place);
      value |= bytes & mask_below(min(end, stop) - place) & ~mask_below(before);
      if (end >= stop) {
        break;
      }
      begin = end;
      piece += 1u;
      end = begin_of(known, piece + 1u);
      if (end == begin) {
        // Any number of empty pieces.
        piece = piece_at(known, piece, begin);
        end = begin_of(known, piece + 1u);
      }
    }
    output[vector] = value;
  }
}
