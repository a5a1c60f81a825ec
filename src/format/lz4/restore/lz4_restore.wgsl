// LZ4 blocks restored (contract: lz4_restore_reference.hpp, statuses included).
//
// Passes      parse    a workgroup goes through the sequences that begin in 64 KB of a block's input, checks everything, and lists
//                      them; run once for each 64 KB, so that no run takes long
//             copy     a workgroup builds 32 KB of a block's output, a window of 1024 bytes after the other; run as often as the
//                      largest block has room for these
// Buffers     data_words (read) histories and blocks; blocks (read) 24 bytes a block; results (written) 16 bytes a block;
//             sequences (written) 12 bytes for 3 bytes of input; output (written by copy, and read where matches lead)
// Workgroup   256 invocations, 14.2 KB, of which parse has 6.2: for each position of a window where its sequence leads and where
//             its segment is left (4 KB), sums (2 KB), where segments are entered, and which positions begin sequences; and
//             copy 8: sequences of a window (4 KB), and where its bytes come from (4 KB)
// Nothing is read outside a block and its history or written outside its room. After `parse` no input can go wrong.
//
// Where a sequence begins follows from the one before. `parse` looks at 1024 bytes at once, as lz4_segment.hpp does: for every
// position, where would the next sequence begin if one began here? Positions of a segment of 64 follow these links together until
// all know where the segment is left. Then one invocation goes from segment to segment, and in each segment one invocation marks
// where sequences begin. Chains stop at a sequence that is better left to one invocation: the last one, a damaged one, and one with
// lengths of more than 4 further bytes. Such a sequence restores about a thousand bytes, so there are few.
//
// `copy` asks of every byte of a window where it comes from: a byte of the input or of the history, or an earlier one of the output.
// If that byte is in the window itself, its own source is used, and so on; all other bytes exist already. A match that overlaps
// itself is a repetition of its first `offset` bytes, so runs make no chains, and none is longer than 256.

#import gpu/webgpu/shared/workgroup.wgsl
#import gpu/webgpu/shared/bytes.wgsl
#import format/lz4/restore/lz4_sequences.wgsl
#import format/lz4/restore/lz4_sources.wgsl

struct Parameters {
  block_count: u32,
  turn: u32,
}

struct Result {
  status: u32,
  restored_bytes: u32,
  sequence_count: u32,
  place: u32,  // where parse continues in its next turn, while the status is kUnfinished; then the first sequence of copy's turn
}

@group(0) @binding(0) var<uniform> parameters: Parameters;
@group(0) @binding(1) var<storage, read> data_words: array<u32>;
@group(0) @binding(2) var<storage, read> blocks: array<Block>;
@group(0) @binding(3) var<storage, read_write> results: array<Result>;
@group(0) @binding(4) var<storage, read_write> sequences: array<Sequence>;
@group(0) @binding(5) var<storage, read_write> output: array<u32>;

const kTurnBytes = 65536u;

// parse
const kParseThreads = 256u;
const kThreadPositions = 4u;  // a word
const kWindowBytes = kParseThreads * kThreadPositions;
const kSegmentPositions = 64u;
const kSegments = kWindowBytes / 64u;
const kCountShift = 20u;
const kRestoredMask = 0xFFFFFu;

var<workgroup> sh_links: array<atomic<u32>, kWindowBytes>;  // upper half: where the segment is left; lower: the next sequence
var<workgroup> sh_sums: array<u32, 2u * kParseThreads>;
var<workgroup> sh_entries: array<u32, kSegments>;
var<workgroup> sh_starts: array<u32, kWindowBytes / 32u>;
var<workgroup> sh_exit: u32;
var<workgroup> sh_bad: atomic<u32>;  // the first position with a sequence that fits no block
var<workgroup> sh_state: Result;

// copy
const kCopyTurnBytes = 32768u;

fn failed(status: u32) -> Result {
  return Result(status, 0u, 0u, 0u);
}

// Moves on by one sequence.
fn parse_one(block: Block, before: Result) -> Result {
  let end = block.begin + block.history_bytes + block.block_bytes;
  var written = before.restored_bytes;
  if (before.place >= end) {
    return failed(kCorrupt);
  }
  let token = data_byte(before.place);
  let literals = read_number(token >> 4u, before.place + 1u, end);
  if (literals.ended || literals.value > end - literals.place) {
    return failed(kCorrupt);
  }
  if (literals.value > block.room_bytes - written) {
    return failed(kTooSmall);
  }
  sequences[block.first_sequence + before.sequence_count] = Sequence(written, literals.place, literals.value);
  let count = before.sequence_count + 1u;
  written += literals.value;
  let place = literals.place + literals.value;
  if (place == end) {
    return Result(kOk, written, count, 0u);
  }
  if (end - place < 2u) {
    return failed(kCorrupt);
  }
  let offset = data_word(place) & 0xFFFFu;
  if (offset == 0u || offset > block.history_bytes + written) {
    return failed(kCorrupt);
  }
  let length = read_number(token & 15u, place + 2u, end);
  if (length.ended) {
    return failed(kCorrupt);
  }
  if (length.value + kMinMatchBytes > block.room_bytes - written) {
    return failed(kTooSmall);
  }
  return Result(kUnfinished, written + length.value + kMinMatchBytes, count, length.place);
}

// The form in which an invocation keeps it: 11, 3 and 12 bits.
fn packed(sequence: Passed) -> u32 {
  return sequence.literals | (sequence.literal_extensions << 11u) | (sequence.restored << 14u);
}

// The chain from a place on, through the window that the place is in: lists the sequences that it passes, and leaves where it
// stops or enters the next window in sh_state. For all invocations together.
fn parse_window(block: Block, before: Result, thread: u32) {
  let begin = block.begin + block.history_bytes;
  let end = begin + block.block_bytes;
  let window = begin + (before.place - begin) / kWindowBytes * kWindowBytes;
  let first = window + thread * kThreadPositions;

  let tokens = data_word(first);
  var own: array<u32, kThreadPositions>;
  for (var i = 0u; i < kThreadPositions; i++) {
    let position = thread * kThreadPositions + i;
    let sequence = passed(first + i, (tokens >> (8u * i)) & 0xFFu, end);
    own[i] = packed(sequence);
    let next = select(sequence.next - window, kStops | position, sequence.stops);
    atomicStore(&sh_links[position], next * kBothHalves);
  }
  if (thread < kSegments) {
    sh_entries[thread] = kNone;
  }
  if (thread == 0u) {
    atomicStore(&sh_bad, kNone);
  }
  workgroupBarrier();

  // The upper halves become the exits of segments. Whatever another invocation has found by now lies on the same chain.
  for (var i = 1u; i <= kThreadPositions; i++) {
    let position = (thread + 1u) * kThreadPositions - i;
    let segment = position / kSegmentPositions;
    let next = atomicLoad(&sh_links[position]) & 0xFFFFu;
    var exit = next;
    while (exit / kSegmentPositions == segment) {
      exit = atomicLoad(&sh_links[exit]) >> 16u;
    }
    atomicStore(&sh_links[position], (exit << 16u) | next);
  }
  workgroupBarrier();

  if (thread == 0u) {
    var position = before.place - window;
    while (position < kWindowBytes) {
      sh_entries[position / kSegmentPositions] = position;
      position = atomicLoad(&sh_links[position]) >> 16u;
    }
    // Where the chain stops, or where it enters the next window.
    sh_exit = position & ~kStops;
  }
  workgroupBarrier();

  if (thread < kSegments) {
    var position = sh_entries[thread];
    var starts = vec2u(0u);
    while (position / kSegmentPositions == thread) {
      let next = atomicLoad(&sh_links[position]) & 0xFFFFu;
      if ((next & kStops) == 0u) {
        let bit = 1u << (position % 32u);
        starts |= select(vec2u(0u, bit), vec2u(bit, 0u), position % kSegmentPositions < 32u);
      }
      position = next;
    }
    sh_starts[2u * thread] = starts.x;
    sh_starts[2u * thread + 1u] = starts.y;
  }
  workgroupBarrier();

  // The number of sequences in the upper 12 bits, the bytes that they restore below: 341 sequences of at most 2072 bytes.
  let starts = sh_starts[thread * kThreadPositions / 32u] >> (thread * kThreadPositions % 32u);
  var sum = 0u;
  for (var i = 0u; i < kThreadPositions; i++) {
    sum += select(0u, (1u << kCountShift) | (own[i] >> 14u), ((starts >> i) & 1u) != 0u);
  }
  var sum_up_to = sum;
  var half = 0u;
  sh_sums[thread] = sum;
  for (var distance = 1u; distance < kParseThreads; distance *= 2u) {
    workgroupBarrier();
    if (thread >= distance) {
      sum_up_to += sh_sums[half + thread - distance];
    }
    half = kParseThreads - half;
    sh_sums[half + thread] = sum_up_to;
  }

  let sum_before = sum_up_to - sum;
  var state = before;
  state.sequence_count += sum_before >> kCountShift;
  state.restored_bytes += sum_before & kRestoredMask;
  for (var i = 0u; i < kThreadPositions; i++) {
    if (((starts >> i) & 1u) == 0u) {
      continue;
    }
    let literals = own[i] & 0x7FFu;
    let literal_begin = first + i + 1u + ((own[i] >> 11u) & 7u);
    let offset = data_word(literal_begin + literals) & 0xFFFFu;
    let restored_bytes = state.restored_bytes + (own[i] >> 14u);
    // parse_one() says what is wrong.
    if (restored_bytes > block.room_bytes || offset == 0u ||
        offset > block.history_bytes + state.restored_bytes + literals) {
      atomicMin(&sh_bad, thread * kThreadPositions + i);
    }
    sequences[block.first_sequence + state.sequence_count] = Sequence(state.restored_bytes, literal_begin, literals);
    state.sequence_count++;
    state.restored_bytes = restored_bytes;
  }
  workgroupBarrier();

  let bad = atomicLoad(&sh_bad);
  if (bad == kNone) {
    if (thread == kParseThreads - 1u) {
      state.place = window + sh_exit;
      sh_state = state;
    }
  } else if (bad / kThreadPositions == thread) {
    sh_state = before;
    sh_state.place = window + bad;
    sh_state.sequence_count += sum_before >> kCountShift;
    sh_state.restored_bytes += sum_before & kRestoredMask;
    // Four positions may hold two sequences, and the second one may be the wrong one.
    for (var i = 0u; i < bad % kThreadPositions; i++) {
      if (((starts >> i) & 1u) != 0u) {
        sh_state.sequence_count++;
        sh_state.restored_bytes += own[i] >> 14u;
      }
    }
  }
}

@compute @workgroup_size(kParseThreads)
fn parse(@builtin(workgroup_id) id: vec3u, @builtin(num_workgroups) size: vec3u,
         @builtin(local_invocation_index) thread: u32) {
  let number = workgroup_number(id, size, parameters.block_count);
  if (number >= parameters.block_count) {
    return;
  }
  let block = blocks[number];
  let begin = block.begin + block.history_bytes;
  // The last turn goes to the end and past it: input that ends after a match is damaged.
  var stop = begin + (parameters.turn + 1u) * kTurnBytes;
  if (stop > begin + block.block_bytes) {
    stop = 0xFFFFFFFFu;
  }
  if (thread == 0u) {
    sh_state = Result(kUnfinished, 0u, 0u, begin);
    if (parameters.turn > 0u) {
      sh_state = results[number];
    }
  }
  loop {
    let state = workgroupUniformLoad(&sh_state);
    if (state.status != kUnfinished || state.place >= stop) {
      break;
    }
    parse_window(block, state, thread);
    workgroupBarrier();
    if (thread == 0u) {
      let position = sh_state.place - begin;
      // The next window begins where the chain has left this one.
      if (position / kWindowBytes == (state.place - begin) / kWindowBytes) {
        sh_state = parse_one(block, sh_state);
      }
    }
  }
  if (thread == 0u) {
    results[number] = sh_state;
  }
}

@compute @workgroup_size(kCopyThreads)
fn copy(@builtin(workgroup_id) id: vec3u, @builtin(num_workgroups) size: vec3u,
        @builtin(local_invocation_index) thread: u32) {
  let number = workgroup_number(id, size, parameters.block_count);
  if (number >= parameters.block_count) {
    return;
  }
  let block = blocks[number];
  if (thread == 0u) {
    sh_state = results[number];
  }
  var state = workgroupUniformLoad(&sh_state);
  let stop = min(state.restored_bytes, (parameters.turn + 1u) * kCopyTurnBytes);
  for (var window = parameters.turn * kCopyTurnBytes; window < stop; window += kCopyBytes) {
    note_sequences(block, state.place, state.sequence_count, thread);
    workgroupBarrier();

    let first = window + thread * 4u;
    let found = find_sources(block, first, thread);
    var sources = found.sources;
    if (thread == kCopyThreads - 1u) {
      sh_state.place = state.place + found.noted;
    }
    state.place = workgroupUniformLoad(&sh_state).place;

    if (first < stop) {
      var value = 0u;
      for (var i = 0u; i < min(4u, stop - first); i++) {
        let source = source_outside(sources[i], block.output_begin + window);
        var byte = 0u;
        if (source < kInput) {
          byte = (output[source / 4u] >> (8u * (source % 4u))) & 0xFFu;
        } else {
          byte = data_byte(source - kInput);
        }
        value |= byte << (8u * i);
      }
      output[(block.output_begin + first) / 4u] = value;
    }
    storageBarrier();
    workgroupBarrier();
  }
  if (thread == 0u) {
    results[number].place = state.place;
  }
}
