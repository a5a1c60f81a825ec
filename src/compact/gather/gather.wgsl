// gather: pieces that lie anywhere in one buffer, brought together in another (contract: gather.hpp).
//
// Passes      gather   one invocation builds one word of the output, from whatever pieces its four bytes come
// Buffers     data_words (read), pieces (read) 8 bytes a piece: source byte and size; begins (read) 4 bytes a piece, where
//             it goes, ascending, and the total behind the last; output (written)
// Workgroup   256 invocations, none
// Work is divided by output words, never by pieces, so one large piece among many small ones does not set the time. A word
// finds its first piece by bisection.

#import device/webgpu/shared/workgroup.wgsl
#import device/webgpu/shared/bytes.wgsl

struct Parameters {
  piece_count: u32,
  workgroup_count: u32,
}

struct Piece {
  source: u32,  // byte
  bytes: u32,
}

@group(0) @binding(0) var<uniform> parameters: Parameters;
@group(0) @binding(1) var<storage, read> data_words: array<u32>;
@group(0) @binding(2) var<storage, read> pieces: array<Piece>;
@group(0) @binding(3) var<storage, read> begins: array<u32>;
@group(0) @binding(4) var<storage, read_write> output: array<u32>;

const kThreads = 256u;

// The last piece that begins at or before `place`, which is below the total.
fn piece_at(place: u32) -> u32 {
  var low = 0u;
  var high = parameters.piece_count;
  while (high - low > 1u) {
    let middle = (low + high) / 2u;
    if (begins[middle] <= place) {
      low = middle;
    } else {
      high = middle;
    }
  }
  return low;
}

@compute @workgroup_size(kThreads)
fn gather(@builtin(workgroup_id) id: vec3u, @builtin(num_workgroups) size: vec3u,
          @builtin(local_invocation_index) thread: u32) {
  let word = workgroup_number(id, size, parameters.workgroup_count) * kThreads + thread;
  let total = begins[parameters.piece_count];
  if (word >= (total + 3u) / 4u) {
    return;
  }
  var piece = piece_at(word * 4u);
  var value = 0u;
  for (var i = 0u; i < 4u; i++) {
    let place = word * 4u + i;
    if (place >= total) {
      break;
    }
    while (begins[piece + 1u] <= place) {
      piece++;
    }
    value |= data_byte(pieces[piece].source + (place - begins[piece])) << (8u * i);
  }
  output[word] = value;
}
