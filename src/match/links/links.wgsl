// links: for every position, how far back the previous position with the same hash is (contract: links_webgpu.hpp).
//
// Passes      link         a workgroup owns a block and takes 32,768 of its positions, history first, in groups of 256, in order;
//                          run as often as the longest block needs, so that no run takes long
//             link_pieces  a workgroup owns a piece of a block, and does the same over the piece and the part of the
//                          block to which it may link: so few long blocks keep many workgroups busy
// Buffers     data_words (read); blocks (read); heads (written) 4 bytes for each of 2^hash_bits hashes of each block (of each
//             piece in link_pieces): the newest position with that hash, from 1 on, and behind them 4 bytes a block (read by link
//             where blocks differ): how many bytes its hashes cover; links (written) 4 bytes a position; pieces (read by link_pieces)
//             16 bytes a piece
// Workgroup   256 invocations, 10 KB: for each of 256 buckets of hashes the positions of the group that fall into it, as bits
//             (8 KB), which of these words are not 0 (1 KB), and the hash of each position of the group (1 KB)
// Within a group, the nearest equal hash is searched among the bits below a position's own, from the top down. In a run it is the
// first bit tried; a bucket of 256 different hashes costs 256 tries, which bounds the work. The newest position of a hash is a
// maximum, so the order of threads does not matter. The dependent steps of each group decide the time: the bytes of the next group
// are loaded while this one is processed, and the head is loaded long before it is needed.

#import gpu/webgpu/shared/workgroup.wgsl
#import gpu/webgpu/shared/bytes.wgsl
#import match/common/webgpu/blocks.wgsl

struct Parameters {
  block_count: u32,
  hash_bits: u32,
  most_distance: u32,
  first_position: u32,  // of each block's data, or of what a piece looks at: a multiple of 32,768
  hashed_bytes: u32,    // 3 to 8
  piece_count: u32,     // link_pieces
  first_width: u32,     // the word of heads with the first block's width, where blocks differ; else 0
  unused: u32,
}

// Positions count from the first byte of the block's data.
struct Piece {
  block: u32,
  first_seen: u32,  // from here on positions may be linked to
  first: u32,       // from here on links are written,
  end: u32,         // up to here
}

@group(0) @binding(0) var<uniform> parameters: Parameters;
@group(0) @binding(1) var<storage, read> data_words: array<u32>;
@group(0) @binding(2) var<storage, read> blocks: array<Block>;
@group(0) @binding(3) var<storage, read_write> heads: array<atomic<u32>>;
@group(0) @binding(4) var<storage, read_write> links: array<u32>;
@group(0) @binding(5) var<storage, read> pieces: array<Piece>;

const kThreads = 256u;
const kBuckets = 256u;
const kMaskWords = kThreads / 32u;
const kTurnPositions = 32768u;

var<workgroup> sh_masks: array<atomic<u32>, kBuckets * kMaskWords>;
var<workgroup> sh_used: array<atomic<u32>, kBuckets>;
var<workgroup> sh_hashes: array<u32, kThreads>;

// The highest of the positions in `word_bits` that have this hash, counted from 1; 0 for none.
fn nearest_of(word: u32, word_bits: u32, hash: u32) -> u32 {
  var bits = word_bits;
  while (bits != 0u) {
    let bit = firstLeadingBit(bits);
    if (sh_hashes[word * 32u + bit] == hash) {
      return word * 32u + bit + 1u;
    }
    bits &= ~(1u << bit);
  }
  return 0u;
}

// The highest position of the group below `thread` with the same hash, counted from 1; 0 for none.
fn nearest_below(thread: u32, hash: u32) -> u32 {
  let bucket = hash % kBuckets;
  let own_word = thread / 32u;
  let own_bits = atomicLoad(&sh_masks[bucket * kMaskWords + own_word]) & ((1u << (thread % 32u)) - 1u);
  var nearest = nearest_of(own_word, own_bits, hash);
  var words = atomicLoad(&sh_used[bucket]) & ((1u << own_word) - 1u);
  while (nearest == 0u && words != 0u) {
    let word = firstLeadingBit(words);
    nearest = nearest_of(word, atomicLoad(&sh_masks[bucket * kMaskWords + word]), hash);
    words &= ~(1u << word);
  }
  return nearest;
}

// True if no later position of the same 32 has the hash: then this position may become the head.
fn newest_of_32(thread: u32, hash: u32) -> bool {
  let word = thread / 32u;
  var bits = atomicLoad(&sh_masks[(hash % kBuckets) * kMaskWords + word]) & ((0xFFFFFFFEu << (thread % 32u)));
  while (bits != 0u) {
    let bit = firstTrailingBit(bits);
    if (sh_hashes[word * 32u + bit] == hash) {
      return false;
    }
    bits &= bits - 1u;
  }
  return true;
}

// The value to hash at a place: `width` bytes as one word.
fn hashed_word(place: u32, width: u32) -> u32 {
  let word = data_word(place);
  if (width == 3u) {
    return word & 0xFFFFFFu;
  }
  if (width == 4u) {
    return word;
  }
  return word + data_word(place + width - 4u) * 2246822519u;
}

fn hash_of(word: u32) -> u32 {
  return (word * 2654435769u) >> (32u - parameters.hash_bits);
}

// 32,768 positions of what the piece sees, from parameters.first_position on. `number` selects the heads.
fn link_positions(block: Block, piece: Piece, number: u32, thread: u32) {
  let data_bytes = block.history_bytes + block.block_bytes;
  var width = parameters.hashed_bytes;
  if (parameters.first_width != 0u) {
    width = atomicLoad(&heads[parameters.first_width + piece.block]);
  }
  let head_count = 1u << parameters.hash_bits;
  let first_head = number * head_count;
  if (parameters.first_position == 0u) {
    for (var i = thread; i < head_count; i += kThreads) {
      atomicStore(&heads[first_head + i], 0u);
    }
  }
  for (var i = thread; i < kBuckets * kMaskWords; i += kThreads) {
    atomicStore(&sh_masks[i], 0u);
  }
  atomicStore(&sh_used[thread], 0u);
  let start = piece.first_seen + parameters.first_position;
  let stop = min(piece.end, start + kTurnPositions);
  var next_word = 0u;
  if (start + thread + width <= data_bytes) {
    next_word = hashed_word(block.begin + start + thread, width);
  }
  for (var group = start; group < stop; group += kThreads) {
    // Now all see the heads of the group before, or the cleared ones, and the bits are cleared.
    storageBarrier();
    workgroupBarrier();

    let position = group + thread;
    let hashed = position + width <= data_bytes;
    var hash = 0xFFFFFFFFu;
    var newest = 0u;
    let bit = 1u << (thread % 32u);
    if (hashed) {
      hash = hash_of(next_word);
      newest = atomicLoad(&heads[first_head + hash]);
      atomicOr(&sh_masks[(hash % kBuckets) * kMaskWords + thread / 32u], bit);
      atomicOr(&sh_used[hash % kBuckets], 1u << (thread / 32u));
    }
    sh_hashes[thread] = hash;
    if (position + kThreads + width <= data_bytes) {
      next_word = hashed_word(block.begin + position + kThreads, width);
    }
    workgroupBarrier();

    var is_newest = false;
    if (hashed) {
      let below = nearest_below(thread, hash);
      if (below != 0u) {
        newest = group + below;
      }
      is_newest = newest_of_32(thread, hash);
    }
    // All must have read the bits before they are cleared.
    workgroupBarrier();
    let written = position >= piece.first && position < piece.end;
    if (hashed) {
      atomicStore(&sh_masks[(hash % kBuckets) * kMaskWords + thread / 32u], 0u);
      atomicStore(&sh_used[hash % kBuckets], 0u);
      let distance = position + 1u - newest;
      if (written) {
        links[block.begin + position] = select(0u, distance, newest != 0u && distance <= parameters.most_distance);
      }
      if (is_newest) {
        atomicMax(&heads[first_head + hash], position + 1u);
      }
    } else if (written) {
      links[block.begin + position] = 0u;
    }
  }
}

@compute @workgroup_size(kThreads)
fn link(@builtin(workgroup_id) id: vec3u, @builtin(num_workgroups) size: vec3u,
        @builtin(local_invocation_index) thread: u32) {
  let number = workgroup_number(id, size, parameters.block_count);
  if (number >= parameters.block_count) {
    return;
  }
  let block = blocks[number];
  link_positions(block, Piece(number, 0u, 0u, block.history_bytes + block.block_bytes), number, thread);
}

@compute @workgroup_size(kThreads)
fn link_pieces(@builtin(workgroup_id) id: vec3u, @builtin(num_workgroups) size: vec3u,
               @builtin(local_invocation_index) thread: u32) {
  let number = workgroup_number(id, size, parameters.piece_count);
  if (number >= parameters.piece_count) {
    return;
  }
  let piece = pieces[number];
  link_positions(blocks[piece.block], piece, number, thread);
}
