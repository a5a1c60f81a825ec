// hash_pairs: a match for every two positions (contract: hash_pairs.hpp, whose steps these are).
//
// Passes      find     a workgroup owns a block and goes through it in rows of 64 positions, two an invocation: steps 1 to 3
//             carry    a workgroup owns a block and goes through it in 1024 positions: step 4
// Buffers     data_words, blocks (read); matches (written by find, read by carry) 4 bytes a position: the record of a match at
//             the position where it was found; records (written by carry) 4 bytes a position
// Workgroup   32 and 256 invocations: find 4.4 KB, the table's heads, two in a word, and which invocations of a row have a hash;
//             carry 6 KB, the best match that begins at a position, and sums
// The table holds even positions from 1 on, in 16 bits. Only one invocation of a row changes a head, the last one with its hash,
// and it adds the difference to half a word. So the order of invocations does not matter.

#import gpu/webgpu/shared/workgroup.wgsl
#import gpu/webgpu/shared/bytes.wgsl
#import match/common/webgpu/blocks.wgsl
#import match/common/webgpu/records.wgsl
#import match/common/webgpu/common_length.wgsl

struct Parameters {
  block_count: u32,
}

@group(0) @binding(0) var<uniform> parameters: Parameters;
@group(0) @binding(1) var<storage, read> data_words: array<u32>;
@group(0) @binding(2) var<storage, read> blocks: array<Block>;
@group(0) @binding(3) var<storage, read_write> matches: array<u32>;
@group(0) @binding(4) var<storage, read_write> records: array<u32>;

const kHashedBytes = 4u;
const kHashBits = 11u;
const kCoverBytes = 16u;
const kReach = 4u;

// find
const kLanes = 32u;
const kRowPositions = 2u * kLanes;
const kHeadWords = (1u << kHashBits) / 2u;
const kBuckets = 64u;

var<workgroup> sh_heads: array<atomic<u32>, kHeadWords>;
var<workgroup> sh_buckets: array<atomic<u32>, kBuckets>;  // which invocations of the row have a hash that falls into it
var<workgroup> sh_hashes: array<u32, kLanes>;
var<workgroup> sh_marks: atomic<u32>;  // invocations that have a match of kCoverBytes or more
var<workgroup> sh_long: u32;           // those of them that are still to be looked at
var<workgroup> sh_covered: u32;        // where the last long match ends

// carry
const kThreads = 256u;
const kThreadPositions = 4u;
const kChunkPositions = kThreads * kThreadPositions;

var<workgroup> sh_best: array<atomic<u32>, kChunkPositions>;
var<workgroup> sh_maxima: array<u32, 2u * kThreads>;
var<workgroup> sh_before: u32;

fn hash_of(word: u32) -> u32 {
  return (word * 2654435769u) >> (32u - kHashBits);
}

fn head_of(hash: u32) -> u32 {
  return (atomicLoad(&sh_heads[hash / 2u]) >> (16u * (hash % 2u))) & 0xFFFFu;
}

// A match of up to kCoverBytes bytes, as a record; 0 for none. `newest` is a head: the candidate plus one.
fn short_match(begin: u32, end: u32, position: u32, word: u32, newest: u32) -> u32 {
  if (newest == 0u || data_word(begin + newest - 1u) != word) {
    return 0u;
  }
  let place = begin + position;
  let offset = position + 1u - newest;
  return pack_match(offset, common_length(place, place - offset, kHashedBytes, min(kCoverBytes, end - place)));
}

@compute @workgroup_size(kLanes)
fn find(@builtin(workgroup_id) id: vec3u, @builtin(num_workgroups) size: vec3u,
        @builtin(local_invocation_index) lane: u32) {
  let number = workgroup_number(id, size, parameters.block_count);
  if (number >= parameters.block_count) {
    return;
  }
  let block = blocks[number];
  let begin = block_begin(block);
  let end = block_end(block);
  for (var i = lane; i < kHeadWords; i += kLanes) {
    atomicStore(&sh_heads[i], 0u);
  }
  for (var i = lane; i < kBuckets; i += kLanes) {
    atomicStore(&sh_buckets[i], 0u);
  }
  if (lane == 0u) {
    atomicStore(&sh_marks, 0u);
    sh_covered = 0u;
  }
  workgroupBarrier();
  for (var row = 0u; row < block.block_bytes; row += kRowPositions) {
    let even = row + 2u * lane;
    let odd = even + 1u;
    let even_is_hashed = begin + even + kHashedBytes <= end;
    let odd_is_hashed = begin + odd + kHashedBytes <= end;
    let bit = 1u << lane;
    var word = 0u;
    var hash = 0u;
    var before = 0u;
    var odd_word = 0u;
    var odd_newest = 0u;
    if (even_is_hashed) {
      word = data_word(begin + even);
      hash = hash_of(word);
      before = head_of(hash);
      sh_hashes[lane] = hash;
      atomicOr(&sh_buckets[hash % kBuckets], bit);
    }
    if (odd_is_hashed) {
      odd_word = data_word(begin + odd);
      odd_newest = head_of(hash_of(odd_word));
    }
    let covered = sh_covered;
    workgroupBarrier();

    var newest = before;
    var is_newest = even_is_hashed;
    if (even_is_hashed) {
      let all = atomicLoad(&sh_buckets[hash % kBuckets]);
      for (var bits = all & (bit - 1u); bits != 0u;) {
        let other = firstLeadingBit(bits);
        if (sh_hashes[other] == hash) {
          newest = row + 2u * other + 1u;
          break;
        }
        bits &= ~(1u << other);
      }
      for (var bits = all & ~(bit | (bit - 1u)); bits != 0u; bits &= bits - 1u) {
        if (sh_hashes[firstTrailingBit(bits)] == hash) {
          is_newest = false;
          break;
        }
      }
    }
    var position = even;
    var record = 0u;
    if (even_is_hashed) {
      record = short_match(begin, end, even, word, newest);
    }
    if (record == 0u && odd_is_hashed) {
      position = odd;
      record = short_match(begin, end, odd, odd_word, odd_newest);
    }
    // Long matches that a match of an earlier row covers are left out at once.
    let is_long = record_length(record) == kCoverBytes;
    if (is_long && position + kCoverBytes > covered) {
      atomicOr(&sh_marks, bit);
    }
    workgroupBarrier();

    if (even_is_hashed) {
      atomicStore(&sh_buckets[hash % kBuckets], 0u);
    }
    if (is_newest) {
      atomicXor(&sh_heads[hash / 2u], (before ^ (even + 1u)) << (16u * (hash % 2u)));
    }
    if (lane == 0u) {
      sh_long = atomicExchange(&sh_marks, 0u);
    }
    var is_left_out = is_long;
    loop {
      let left = workgroupUniformLoad(&sh_long);
      if (left == 0u) {
        break;
      }
      if (lane == firstTrailingBit(left)) {
        var rest = left & ~bit;
        if (position + kCoverBytes > sh_covered) {
          let place = begin + position;
          let offset = record_offset(record);
          let length = common_length(place, place - offset, kCoverBytes, end - place);
          record = pack_match(offset, length);
          is_left_out = false;
          sh_covered = position + length;
          // Invocations both of whose positions are covered.
          let first_left = (max(sh_covered - kCoverBytes, row) - row) / 2u;
          rest = select(rest & (0xFFFFFFFFu << min(first_left, 31u)), 0u, first_left >= kLanes);
        }
        sh_long = rest;
      }
    }
    let even_record = select(0u, record, position == even && !is_left_out);
    let odd_record = select(0u, record, position == odd && !is_left_out);
    if (begin + even < end) {
      matches[begin + even] = even_record;
    }
    if (begin + odd < end) {
      matches[begin + odd] = odd_record;
    }
  }
}

// Greater for the match that ends last, then for the smaller offset; 0 for none. Ends count from one byte earlier, so they fit 16 bits.
fn rank_of(end: u32, offset: u32) -> u32 {
  return ((end - 1u) << 16u) | (0xFFFFu - offset);
}

@compute @workgroup_size(kThreads)
fn carry(@builtin(workgroup_id) id: vec3u, @builtin(num_workgroups) size: vec3u,
         @builtin(local_invocation_index) thread: u32) {
  let number = workgroup_number(id, size, parameters.block_count);
  if (number >= parameters.block_count) {
    return;
  }
  let block = blocks[number];
  let begin = block_begin(block);
  if (thread == 0u) {
    sh_before = 0u;
  }
  for (var chunk = 0u; chunk < block.block_bytes; chunk += kChunkPositions) {
    for (var i = thread; i < kChunkPositions; i += kThreads) {
      atomicStore(&sh_best[i], 0u);
    }
    workgroupBarrier();
    // The matches of the next chunk's first positions may be carried back into this one.
    for (var i = chunk + thread; i < min(chunk + kChunkPositions + kReach, block.block_bytes); i += kThreads) {
      let record = matches[begin + i];
      if (record == 0u) {
        continue;
      }
      let offset = record_offset(record);
      var first = i;
      while (i - first < kReach && first > offset && data_byte(begin + first - 1u) == data_byte(begin + first - 1u - offset)) {
        first--;
      }
      if (first >= chunk && first < chunk + kChunkPositions) {
        atomicMax(&sh_best[first - chunk], rank_of(i + record_length(record), offset));
      }
    }
    workgroupBarrier();

    var own: array<u32, kThreadPositions>;
    var most = 0u;
    for (var i = 0u; i < kThreadPositions; i++) {
      most = max(most, atomicLoad(&sh_best[thread * kThreadPositions + i]));
      own[i] = most;
    }
    // The greatest of all invocations up to this one.
    var half = 0u;
    sh_maxima[thread] = most;
    for (var distance = 1u; distance < kThreads; distance *= 2u) {
      workgroupBarrier();
      if (thread >= distance) {
        most = max(most, sh_maxima[half + thread - distance]);
      }
      half = kThreads - half;
      sh_maxima[half + thread] = most;
    }
    workgroupBarrier();
    let before_chunk = sh_before;
    var before = before_chunk;
    if (thread != 0u) {
      before = max(before, sh_maxima[half + thread - 1u]);
    }
    for (var i = 0u; i < kThreadPositions; i++) {
      let position = chunk + thread * kThreadPositions + i;
      let best = max(before, own[i]);
      let best_end = (best >> 16u) + 1u;
      if (position < block.block_bytes) {
        records[begin + position] =
            select(0u, pack_match(0xFFFFu - (best & 0xFFFFu), best_end - position), best != 0u && best_end > position);
      }
    }
    workgroupBarrier();
    if (thread == kThreads - 1u) {
      sh_before = max(before_chunk, most);
    }
  }
}
