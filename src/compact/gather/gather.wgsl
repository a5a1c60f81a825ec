// gather: pieces that lie anywhere in one buffer, brought together in another (contract: gather.hpp).
//
// Passes      gather   a workgroup builds 2048 words of the output, an invocation every 256th of them, from whatever pieces their
//                      bytes come
// Buffers     data_words (read), pieces (read) 8 bytes a piece: source byte and size; begins (read) 4 bytes a piece, where
//             it goes, ascending, and the total behind the last; output (written)
// Workgroup   256 invocations, 8 bytes: the first and the last piece of the words
// Work is divided by output words, never by pieces, so one large piece among many small ones does not set the time. The
// workgroup finds the first and the last piece of its words by testing 256 places at a time; a word finds its own by bisection
// between these, which are the same one where pieces are large.

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
const kWordsPerThread = 8u;

var<workgroup> sh_found: array<atomic<u32>, 2>;

// The last piece from `low` on that begins at or before `place`, for all invocations: of the pieces that are left, each tries
// one, until every one has been tried. `low` is such a piece.
fn search_together(thread: u32, low: u32, place: u32, slot: u32) -> u32 {
  var stride = 1u;
  while (stride * kThreads < parameters.piece_count) {
    stride *= kThreads;
  }
  if (thread == 0u) {
    atomicStore(&sh_found[slot], low);
  }
  for (; stride > 0u; stride /= kThreads) {
    workgroupBarrier();
    let first = atomicLoad(&sh_found[slot]);
    workgroupBarrier();
    // At most 65,536 * 256 pieces: this does not wrap.
    let tried = first + thread * stride;
    if (tried < parameters.piece_count && begins[tried] <= place) {
      atomicMax(&sh_found[slot], tried);
    }
  }
  workgroupBarrier();
  return atomicLoad(&sh_found[slot]);
}

// The last piece from `first` to `last` that begins at or before `place`.
fn piece_at(first: u32, last: u32, place: u32) -> u32 {
  var low = first;
  var high = last + 1u;
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
  let first_word = workgroup_number(id, size, parameters.workgroup_count) * kThreads * kWordsPerThread;
  let total = begins[parameters.piece_count];
  let first = search_together(thread, 0u, first_word * 4u, 0u);
  let bytes = min(total - min(total, first_word * 4u), kThreads * kWordsPerThread * 4u);
  let last = search_together(thread, first, first_word * 4u + max(bytes, 1u) - 1u, 1u);
  for (var i = 0u; i < kWordsPerThread; i++) {
    let word = first_word + i * kThreads + thread;
    if (word >= (total + 3u) / 4u) {
      break;
    }
    var piece = piece_at(first, last, word * 4u);
    var source = pieces[piece].source + (word * 4u - begins[piece]);
    var value = 0u;
    if (word * 4u + 4u <= begins[piece + 1u]) {
      value = data_word(source);
    } else {
      for (var place = word * 4u; place < min(word * 4u + 4u, total); place++) {
        while (begins[piece + 1u] <= place) {
          piece++;
        }
        source = pieces[piece].source + (place - begins[piece]);
        value |= data_byte(source) << (8u * (place % 4u));
      }
    }
    output[word] = value;
  }
}
