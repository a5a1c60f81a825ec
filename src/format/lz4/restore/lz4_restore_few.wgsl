// LZ4 blocks restored, many workgroups to a block: for batches of too few blocks to give a device work with a workgroup each
// (lz4_restore.wgsl). Same contract: lz4_restore_reference.hpp, statuses included.
//
// Passes      find_exits  a workgroup for a window, 1024 positions of input: if a sequence began here, where would the chain leave it?
//             join_exits  a workgroup for a group of four windows: where would the chain leave them?
//             chain       an invocation a block goes from group to group, and marks where it enters them
//             enter       a workgroup for a group marks where the chain enters its windows
//             mark        a workgroup a window marks all sequences that begin there, and counts them and what they restore to
//             sum         a workgroup a block: how much lies before each window
//             list        a workgroup a window lists its sequences and checks them
//             judge       an invocation a block: its status
//             trace       a workgroup for 1024 bytes of output: where does each come from, outside of them?
//             shorten     the same, 16 steps further; run until few steps are left
//             fill        the same goes to the end, which is a byte of input or history, and writes words
// Buffers     data_words (read) histories and blocks; blocks (read) 24 bytes a block; results (written) 16 bytes a block;
//             sequences (written) 12 bytes for 3 bytes of input; exits (written, in the place of the later sequences) 4 bytes a
//             byte of input, the window's in the lower half and the group's in the upper one; windows (written) 136 bytes for 1024
//             of input; sources (written) 4 bytes a byte of output; output (written)
// Workgroup   256 invocations, 128 for enter, 64 for judge, 1 for chain: 4 KB for find_exits and sum, 4.1 KB for mark, 8 KB for
//             join_exits, 8.0 KB for trace, 0.5 KB for enter
// Nothing is read outside a block and its history or written outside its room: only listed blocks whose every sequence is right
// are traced.
//
// Only `chain` goes through a block in order. It takes a look-up for 4096 positions, and reads the rare sequences at which chains stop
// itself. From any byte of output, each step leads to what its match copied, until a byte of input. After `trace`, a step leads to
// an earlier tile of 1024 bytes, so there are at most as many steps as tiles; each pass of `shorten` divides them by 16. It may
// read sources that others have shortened already: those are further along the same way.

#import gpu/webgpu/shared/workgroup.wgsl
#import gpu/webgpu/shared/bytes.wgsl
#import format/lz4/restore/lz4_sequences.wgsl
#import format/lz4/restore/lz4_sources.wgsl

struct Parameters {
  block_count: u32,
  part_count: u32,  // windows of input of all blocks, or tiles of output, as first_window() and first_tile() number them
}

struct Result {
  status: u32,
  restored_bytes: u32,
  sequence_count: u32,
  wrong: atomic<u32>,  // the first sequence that is wrong, in 30 bits, and the status that it gives the block
}

// 1024 bytes of input.
struct Window {
  sequence_count: u32,  // that begin there; after `sum`: before it
  restored_bytes: u32,
  starts: array<u32, 32>,  // a bit a position: where chains enter; after `mark`: where sequences begin
}

@group(0) @binding(0) var<uniform> parameters: Parameters;
@group(0) @binding(1) var<storage, read> data_words: array<u32>;
@group(0) @binding(2) var<storage, read> blocks: array<Block>;
@group(0) @binding(3) var<storage, read_write> results: array<Result>;
@group(0) @binding(4) var<storage, read_write> sequences: array<Sequence>;
@group(0) @binding(5) var<storage, read_write> exits: array<u32>;
@group(0) @binding(6) var<storage, read_write> windows: array<Window>;
@group(0) @binding(7) var<storage, read_write> sources: array<atomic<u32>>;
@group(0) @binding(8) var<storage, read_write> output: array<u32>;

const kThreads = 256u;
const kThreadPositions = 4u;  // a word
const kWindowBytes = kThreads * kThreadPositions;
const kWindowWords = kWindowBytes / 32u;
const kSegmentPositions = 64u;
const kSegments = kWindowBytes / kSegmentPositions;
const kGroupWindows = 4u;
const kGroupBytes = kGroupWindows * kWindowBytes;
const kGroupWords = kGroupBytes / 32u;
const kSteps = 16u;

var<workgroup> sh_links: array<atomic<u32>, kWindowBytes>;  // upper half: where the segment is left; lower: the next sequence
var<workgroup> sh_starts: array<atomic<u32>, kWindowWords>;
var<workgroup> sh_count: atomic<u32>;
var<workgroup> sh_bytes: atomic<u32>;
var<workgroup> sh_sums: array<vec2u, 2u * kThreads>;
var<workgroup> sh_exits: array<u32, kGroupBytes / 2u>;
var<workgroup> sh_entries: array<atomic<u32>, kGroupWords>;
var<workgroup> sh_state: vec2u;
var<workgroup> sh_found: u32;

// A sequence, with lengths of any number of bytes.
struct Whole {
  next: u32,      // place behind it, where it goes_on
  literals: u32,  // place
  count: u32,     // of literals; 0 where they are damaged
  match_bytes: u32,  // 0 where there is none or its length is damaged
  literals_fit: bool,
  is_last: bool,
  goes_on: bool,
}

fn read_sequence(place: u32, end: u32) -> Whole {
  let token = data_byte(place);
  let literals = read_number(token >> 4u, place + 1u, end);
  if (literals.ended || literals.value > end - literals.place) {
    return Whole(0u, 0u, 0u, 0u, false, false, false);
  }
  let behind = literals.place + literals.value;
  var whole = Whole(0u, literals.place, literals.value, 0u, true, behind == end, false);
  if (end - behind >= 2u) {
    let length = read_number(token & 15u, behind + 2u, end);
    if (!length.ended) {
      whole.next = length.place;
      whole.match_bytes = length.value + kMinMatchBytes;
      whole.goes_on = true;
    }
  }
  return whole;
}

// kUnfinished if nothing is wrong.
fn status_of(block: Block, sequence: Whole, written: u32) -> u32 {
  if (!sequence.literals_fit) {
    return kCorrupt;
  }
  let match_begin = written + sequence.count;
  if (match_begin > block.room_bytes) {
    return kTooSmall;
  }
  if (sequence.is_last) {
    return kUnfinished;
  }
  if (!sequence.goes_on) {
    return kCorrupt;
  }
  let offset = data_word(sequence.literals + sequence.count) & 0xFFFFu;
  if (offset == 0u || offset > block.history_bytes + match_begin) {
    return kCorrupt;
  }
  return select(kUnfinished, kTooSmall, sequence.match_bytes > block.room_bytes - match_begin);
}

// The first of a block's windows. The next block's first one limits their number.
fn first_window(block: Block, number: u32) -> u32 {
  return block.begin / kWindowBytes + number;
}

// The same of the tiles, 1024 bytes of output each.
fn first_tile(block: Block, number: u32) -> u32 {
  return block.output_begin / kCopyBytes + number;
}

fn block_of_window(window: u32) -> u32 {
  var number = 0u;
  for (var count = parameters.block_count; count > 1u;) {
    let half = count / 2u;
    let goes_on = first_window(blocks[number + half], number + half) <= window;
    number += select(0u, half, goes_on);
    count = select(half, count - half, goes_on);
  }
  return number;
}

fn block_of_tile(tile: u32) -> u32 {
  var number = 0u;
  for (var count = parameters.block_count; count > 1u;) {
    let half = count / 2u;
    let goes_on = first_tile(blocks[number + half], number + half) <= tile;
    number += select(0u, half, goes_on);
    count = select(half, count - half, goes_on);
  }
  return number;
}

// What a workgroup owns: a window or a tile, by its index in the block.
struct Part {
  is_there: bool,
  number: u32,
  block: Block,
  index: u32,
}

fn window_part(id: vec3u, size: vec3u) -> Part {
  let row = workgroup_number(id, size, parameters.part_count);
  let number = block_of_window(row);
  let block = blocks[number];
  let index = row - first_window(block, number);
  return Part(row < parameters.part_count && index * kWindowBytes < block.block_bytes, number, block, index);
}

fn tile_part(id: vec3u, size: vec3u) -> Part {
  let row = workgroup_number(id, size, parameters.part_count);
  let number = block_of_tile(row);
  let block = blocks[number];
  return Part(row < parameters.part_count, number, block, row - first_tile(block, number));
}

// Where a block's exits stand: a word for each byte of input.
fn exits_begin(block: Block) -> u32 {
  return 3u * block.first_sequence;
}

// Finds the links of a window. For all invocations together.
fn find_links(window: u32, end: u32, thread: u32) {
  let first = window + thread * kThreadPositions;
  let tokens = data_word(first);
  for (var i = 0u; i < kThreadPositions; i++) {
    let position = thread * kThreadPositions + i;
    let sequence = passed(first + i, (tokens >> (8u * i)) & 0xFFu, end);
    atomicStore(&sh_links[position], select(sequence.next - window, kStops | position, sequence.stops) * kBothHalves);
  }
  workgroupBarrier();
  // The upper halves become the exits of segments. Whatever another invocation has found by now lies on the same chain.
  for (var i = 1u; i <= kThreadPositions; i++) {
    let position = (thread + 1u) * kThreadPositions - i;
    let next = atomicLoad(&sh_links[position]) & 0xFFFFu;
    var exit = next;
    while (exit / kSegmentPositions == position / kSegmentPositions) {
      exit = atomicLoad(&sh_links[exit]) >> 16u;
    }
    atomicStore(&sh_links[position], (exit << 16u) | next);
  }
  workgroupBarrier();
}

@compute @workgroup_size(kThreads)
fn find_exits(@builtin(workgroup_id) id: vec3u, @builtin(num_workgroups) size: vec3u,
              @builtin(local_invocation_index) thread: u32) {
  let part = window_part(id, size);
  if (!part.is_there) {
    return;
  }
  let number = part.number;
  let block = part.block;
  let window = part.index;
  let begin = block.begin + block.history_bytes;
  find_links(begin + window * kWindowBytes, begin + block.block_bytes, thread);

  var left: array<u32, kThreadPositions>;
  for (var i = 0u; i < kThreadPositions; i++) {
    var exit = atomicLoad(&sh_links[thread * kThreadPositions + i]) >> 16u;
    while (exit < kWindowBytes) {
      exit = atomicLoad(&sh_links[exit]) >> 16u;
    }
    left[i] = exit;
  }
  let position = window * kWindowBytes + thread * kThreadPositions;
  for (var i = 0u; i < min(kThreadPositions, block.block_bytes - min(position, block.block_bytes)); i++) {
    exits[exits_begin(block) + position + i] = left[i];
  }
  if (thread < kWindowWords) {
    windows[first_window(block, number) + window].starts[thread] = 0u;
  }
}

@compute @workgroup_size(kThreads)
fn join_exits(@builtin(workgroup_id) id: vec3u, @builtin(num_workgroups) size: vec3u,
              @builtin(local_invocation_index) thread: u32) {
  let part = window_part(id, size);
  if (!part.is_there || part.index % kGroupWindows != 0u) {
    return;
  }
  let group = part.index * kWindowBytes;
  let begin = exits_begin(part.block) + group;
  let count = min(kGroupBytes, part.block.block_bytes - group);
  for (var i = 2u * thread; i < count; i += 2u * kThreads) {
    var pair = exits[begin + i];
    if (i + 1u < count) {
      pair |= exits[begin + i + 1u] << 16u;
    }
    sh_exits[i / 2u] = pair;
  }
  workgroupBarrier();
  for (var i = thread; i < count; i += kThreads) {
    let own = (sh_exits[i / 2u] >> (16u * (i % 2u))) & 0xFFFFu;
    var window = i - i % kWindowBytes;
    var exit = own;
    while ((exit & kStops) == 0u && window + exit < count) {
      let position = window + exit;
      window = position - position % kWindowBytes;
      exit = (sh_exits[position / 2u] >> (16u * (position % 2u))) & 0xFFFFu;
    }
    exits[begin + i] = own | ((window + exit) << 16u);  // a stop's mark is above all positions
  }
}

@compute @workgroup_size(1)
fn chain(@builtin(workgroup_id) id: vec3u, @builtin(num_workgroups) size: vec3u) {
  let number = workgroup_number(id, size, parameters.block_count);
  if (number >= parameters.block_count) {
    return;
  }
  let block = blocks[number];
  let begin = block.begin + block.history_bytes;
  let end = begin + block.block_bytes;
  let first = first_window(block, number);
  var status = kCorrupt;
  // Input that ends after a match is damaged.
  for (var position = 0u; position < block.block_bytes;) {
    let exit = exits[exits_begin(block) + position] >> 16u;
    windows[first + position / kWindowBytes].starts[position % kWindowBytes / 32u] |= 1u << (position % 32u);
    position -= position % kGroupBytes;
    if ((exit & kStops) == 0u) {
      position += exit;
      continue;
    }
    let sequence = read_sequence(begin + position + (exit & ~kStops), end);
    if (!sequence.goes_on) {
      status = select(kCorrupt, kOk, sequence.is_last);
      break;
    }
    position = sequence.next - begin;
  }
  results[number].status = status;
  atomicStore(&results[number].wrong, kNone);
}

@compute @workgroup_size(kGroupWords)
fn enter(@builtin(workgroup_id) id: vec3u, @builtin(num_workgroups) size: vec3u,
         @builtin(local_invocation_index) thread: u32) {
  let part = window_part(id, size);
  if (!part.is_there || part.index % kGroupWindows != 0u) {
    return;
  }
  let group = part.index * kWindowBytes;
  let row = first_window(part.block, part.number) + part.index + thread / kWindowWords;
  let is_there = group + thread * 32u < part.block.block_bytes;
  var entries = 0u;
  if (is_there) {
    entries = windows[row].starts[thread % kWindowWords];
  }
  atomicStore(&sh_entries[thread], entries);
  workgroupBarrier();
  for (; entries != 0u; entries &= entries - 1u) {
    var position = thread * 32u + countTrailingZeros(entries);
    loop {
      let exit = exits[exits_begin(part.block) + group + position] & 0xFFFFu;
      position += exit - position % kWindowBytes;
      if ((exit & kStops) != 0u || position >= kGroupBytes || group + position >= part.block.block_bytes) {
        break;
      }
      atomicOr(&sh_entries[position / 32u], 1u << (position % 32u));
    }
  }
  workgroupBarrier();
  if (is_there) {
    windows[row].starts[thread % kWindowWords] = atomicLoad(&sh_entries[thread]);
  }
}

@compute @workgroup_size(kThreads)
fn mark(@builtin(workgroup_id) id: vec3u, @builtin(num_workgroups) size: vec3u,
        @builtin(local_invocation_index) thread: u32) {
  let part = window_part(id, size);
  if (!part.is_there) {
    return;
  }
  let number = part.number;
  let block = part.block;
  let window = part.index;
  let begin = block.begin + block.history_bytes + window * kWindowBytes;
  let end = block.begin + block.history_bytes + block.block_bytes;
  let row = first_window(block, number) + window;
  if (thread < kWindowWords) {
    atomicStore(&sh_starts[thread], windows[row].starts[thread]);
  }
  if (thread == 0u) {
    atomicStore(&sh_count, 0u);
    atomicStore(&sh_bytes, 0u);
  }
  find_links(begin, end, thread);

  // Follows the chain from where it enters the window to where it enters each segment.
  if (thread == 0u) {
    for (var word = 0u; word < kWindowWords; word++) {
      for (var entries = atomicLoad(&sh_starts[word]); entries != 0u; entries &= entries - 1u) {
        var position = atomicLoad(&sh_links[word * 32u + countTrailingZeros(entries)]) >> 16u;
        while (position < kWindowBytes) {
          atomicOr(&sh_starts[position / 32u], 1u << (position % 32u));
          position = atomicLoad(&sh_links[position]) >> 16u;
        }
      }
    }
  }
  workgroupBarrier();
  // Marks a segment's sequences, from where it is entered. The last one may be one at which a chain stops.
  if (thread < kSegments) {
    for (var word = 2u * thread; word < 2u * thread + 2u; word++) {
      for (var entries = atomicLoad(&sh_starts[word]); entries != 0u; entries &= entries - 1u) {
        var position = word * 32u + countTrailingZeros(entries);
        while (position / kSegmentPositions == thread) {
          atomicOr(&sh_starts[position / 32u], 1u << (position % 32u));
          position = atomicLoad(&sh_links[position]) & 0xFFFFu;
        }
      }
    }
  }
  workgroupBarrier();

  let starts = atomicLoad(&sh_starts[thread / 8u]) >> (thread % 8u * kThreadPositions);
  for (var i = 0u; i < kThreadPositions; i++) {
    if (((starts >> i) & 1u) != 0u) {
      let sequence = read_sequence(begin + thread * kThreadPositions + i, end);
      atomicAdd(&sh_count, 1u);
      atomicAdd(&sh_bytes, sequence.count + sequence.match_bytes);
    }
  }
  workgroupBarrier();
  if (thread < kWindowWords) {
    windows[row].starts[thread] = atomicLoad(&sh_starts[thread]);
  }
  if (thread == 0u) {
    windows[row].sequence_count = atomicLoad(&sh_count);
    windows[row].restored_bytes = atomicLoad(&sh_bytes);
  }
}

// The sum of the invocations' values up to this one's. For all of them together.
fn sum_up_to(value: vec2u, thread: u32) -> vec2u {
  var sum = value;
  var half = 0u;
  sh_sums[thread] = sum;
  for (var distance = 1u; distance < kThreads; distance *= 2u) {
    workgroupBarrier();
    if (thread >= distance) {
      sum += sh_sums[half + thread - distance];
    }
    half = kThreads - half;
    sh_sums[half + thread] = sum;
  }
  return sum;
}

@compute @workgroup_size(kThreads)
fn sum(@builtin(workgroup_id) id: vec3u, @builtin(num_workgroups) size: vec3u,
       @builtin(local_invocation_index) thread: u32) {
  let number = workgroup_number(id, size, parameters.block_count);
  if (number >= parameters.block_count) {
    return;
  }
  let block = blocks[number];
  let count = (block.block_bytes + kWindowBytes - 1u) / kWindowBytes;
  let each = (count + kThreads - 1u) / kThreads;
  let first = first_window(block, number);
  var own = vec2u(0u);
  for (var i = thread * each; i < min(count, (thread + 1u) * each); i++) {
    own += vec2u(windows[first + i].sequence_count, windows[first + i].restored_bytes);
  }
  let up_to = sum_up_to(own, thread);
  var before = up_to - own;
  for (var i = thread * each; i < min(count, (thread + 1u) * each); i++) {
    let one = vec2u(windows[first + i].sequence_count, windows[first + i].restored_bytes);
    windows[first + i].sequence_count = before.x;
    windows[first + i].restored_bytes = before.y;
    before += one;
  }
  if (thread == kThreads - 1u) {
    results[number].sequence_count = up_to.x;
    results[number].restored_bytes = up_to.y;
  }
}

@compute @workgroup_size(kThreads)
fn list(@builtin(workgroup_id) id: vec3u, @builtin(num_workgroups) size: vec3u,
        @builtin(local_invocation_index) thread: u32) {
  let part = window_part(id, size);
  if (!part.is_there) {
    return;
  }
  let number = part.number;
  let block = part.block;
  let window = part.index;
  let first = block.begin + block.history_bytes + window * kWindowBytes + thread * kThreadPositions;
  let end = block.begin + block.history_bytes + block.block_bytes;
  let row = first_window(block, number) + window;
  let starts = (windows[row].starts[thread / 8u] >> (thread % 8u * kThreadPositions)) & 0xFu;
  var own = vec2u(0u);
  for (var left = starts; left != 0u; left &= left - 1u) {
    let sequence = read_sequence(first + countTrailingZeros(left), end);
    own += vec2u(1u, sequence.count + sequence.match_bytes);
  }
  var before = sum_up_to(own, thread) - own + vec2u(windows[row].sequence_count, windows[row].restored_bytes);
  for (var left = starts; left != 0u; left &= left - 1u) {
    let sequence = read_sequence(first + countTrailingZeros(left), end);
    let status = status_of(block, sequence, before.y);
    if (status != kUnfinished) {
      atomicMin(&results[number].wrong, (before.x << 2u) | status);
    }
    sequences[block.first_sequence + before.x] = Sequence(before.y, sequence.literals, sequence.count);
    before += vec2u(1u, sequence.count + sequence.match_bytes);
  }
}

@compute @workgroup_size(64)
fn judge(@builtin(workgroup_id) id: vec3u, @builtin(num_workgroups) size: vec3u,
         @builtin(local_invocation_index) thread: u32) {
  let number = workgroup_number(id, size, (parameters.block_count + 63u) / 64u) * 64u + thread;
  if (number >= parameters.block_count) {
    return;
  }
  let wrong = atomicLoad(&results[number].wrong);
  if (wrong != kNone) {
    results[number].status = wrong & 3u;
  }
  if (results[number].status != kOk) {
    results[number].restored_bytes = 0u;
    results[number].sequence_count = 0u;
  }
}

// The last sequence that begins at or before a byte of the output; sequences are in ascending order. For all invocations together.
fn sequence_at(block: Block, place: u32, sequence_count: u32, thread: u32) -> u32 {
  var first = 0u;
  var count = sequence_count;
  while (count > 1u) {
    let step = (count + kThreads - 1u) / kThreads;
    let own = thread * step;
    if (own < count && sequences[block.first_sequence + first + own].output <= place &&
        (own + step >= count || sequences[block.first_sequence + first + own + step].output > place)) {
      sh_found = own;
    }
    let found = workgroupUniformLoad(&sh_found);
    first += found;
    count = min(step, count - found);
  }
  return first;
}

@compute @workgroup_size(kThreads)
fn trace(@builtin(workgroup_id) id: vec3u, @builtin(num_workgroups) size: vec3u,
         @builtin(local_invocation_index) thread: u32) {
  let part = tile_part(id, size);
  if (!part.is_there) {
    return;
  }
  let number = part.number;
  let block = part.block;
  if (thread == 0u) {
    sh_state = vec2u(results[number].restored_bytes, results[number].sequence_count);
  }
  let state = workgroupUniformLoad(&sh_state);
  let window = part.index * kCopyBytes;
  if (window >= state.x) {
    return;
  }
  note_sequences(block, sequence_at(block, window, state.y, thread), state.y, thread);
  workgroupBarrier();
  let first = window + thread * 4u;
  var sources_inside = find_sources(block, first, thread).sources;
  workgroupBarrier();
  for (var i = 0u; i < 4u; i++) {
    if (first + i < state.x) {
      let place = block.output_begin + first + i;
      atomicStore(&sources[place], source_outside(sources_inside[i], block.output_begin + window));
    }
  }
}

@compute @workgroup_size(kThreads)
fn shorten(@builtin(workgroup_id) id: vec3u, @builtin(num_workgroups) size: vec3u,
           @builtin(local_invocation_index) thread: u32) {
  let part = tile_part(id, size);
  if (!part.is_there) {
    return;
  }
  let number = part.number;
  let block = part.block;
  let window = part.index * kCopyBytes;
  for (var i = window + thread; i < min(window + kCopyBytes, results[number].restored_bytes); i += kThreads) {
    let before = atomicLoad(&sources[block.output_begin + i]);
    var source = before;
    for (var step = 0u; step < kSteps && source < kInput; step++) {
      source = atomicLoad(&sources[source]);
    }
    if (source != before) {
      atomicStore(&sources[block.output_begin + i], source);
    }
  }
}

@compute @workgroup_size(kThreads)
fn fill(@builtin(workgroup_id) id: vec3u, @builtin(num_workgroups) size: vec3u,
        @builtin(local_invocation_index) thread: u32) {
  let part = tile_part(id, size);
  if (!part.is_there) {
    return;
  }
  let number = part.number;
  let block = part.block;
  let first = part.index * kCopyBytes + thread * 4u;
  let end = results[number].restored_bytes;
  if (first >= end) {
    return;
  }
  var value = 0u;
  for (var i = 0u; i < min(4u, end - first); i++) {
    var source = atomicLoad(&sources[block.output_begin + first + i]);
    while (source < kInput) {
      source = atomicLoad(&sources[source]);
    }
    value |= data_byte(source - kInput) << (8u * i);
  }
  output[(block.output_begin + first) / 4u] = value;
}
