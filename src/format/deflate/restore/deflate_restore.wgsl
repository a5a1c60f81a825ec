// DEFLATE streams restored (contract: deflate_restore_reference.hpp, statuses included; streams must end where their bytes do).
//
// Passes      restore  a workgroup restores a stream, block after block; a run ends after some 30,000 steps, and the next one goes on there,
//                      so that none takes long; what is not done in the last run stays unfinished
// Buffers     data_words (read) histories and streams; streams (read) 20 bytes a stream; states (written) 28 bytes a stream; output
//             (written, and read where matches lead)
// Workgroup   64 invocations, 15.1 KB in arrays: the codes of a block (lengths 1.2 KB, counts, symbols 1.2 KB, and 3 KB in tables), a window
//             of the stream (1.8 KB) and marks where its tokens begin (1.8 KB), the list of these (4 KB), and of the tokens at hand and
//             the bytes that they say places, sources and sums (1.8 KB)
// Nothing is read outside a stream and its history or written outside its room.
//
// Where a token begins is known only once the one before it has been read. But a decoder that starts at a wrong bit soon meets the
// tokens of the right one. So each invocation decodes a segment of the window from its first bit on, marks where it believes that
// tokens begin, and notes where it left the segment. If its start is not the exit of the invocation before it, it decodes again
// from that exit until it meets its own marks. After at most as many rounds as there are segments, the marks are those of one
// decoder that goes through from the first bit; no result rests on a guess. (CUDA does the same: deflate_window.cuh.) An invocation
// stops where there is no token. Everything before that place is restored. Then the place is examined: it is the end of the block,
// or damage.
//
// Marked tokens are listed and taken 64 at a time: sums say where their bytes go, and the first one that does not fit, or reaches too
// far back, decides the status. Then each invocation makes words of the output, as lz4_restore.wgsl does: a byte comes from a token,
// from the history, or from an earlier byte of the output; if that byte is itself being made, its source is used instead. A match
// that overlaps itself repeats its first bytes, so no chain is longer than the 64 tokens.
//
// A block's header is read by one invocation; its symbols are sorted by one for each length, its tables are filled by all. Codes that are longer
// than a table's bits are found bit by bit.

#import gpu/webgpu/shared/workgroup.wgsl
#import gpu/webgpu/shared/bytes.wgsl
#import format/deflate/block/deflate_symbols.wgsl

struct Parameters {
  stream_count: u32,
  turn: u32,
}

struct Stream {
  begin: u32,          // byte of the data where the history begins
  history_bytes: u32,  // the stream begins behind them
  stream_bytes: u32,   // below 2^28
  room_bytes: u32,
  output_begin: u32,  // a whole word
}

struct State {
  status: u32,
  restored_bytes: u32,
  bit: u32,       // of the stream, counted from the word that holds its first byte
  head_bit: u32,  // where the header of the current block begins
  part: u32,      // of the block
  stored_bytes: u32,  // left
  last: u32,          // 1: the block is the last one
}

@group(0) @binding(0) var<uniform> parameters: Parameters;
@group(0) @binding(1) var<storage, read> data_words: array<u32>;
@group(0) @binding(2) var<storage, read> streams: array<Stream>;
@group(0) @binding(3) var<storage, read_write> states: array<State>;
@group(0) @binding(4) var<storage, read_write> output: array<u32>;

const kOk = 0u;
const kCorrupt = 1u;
const kTooSmall = 2u;
const kUnfinished = 3u;

const kHeader = 0u;
const kStored = 1u;
const kTokens = 2u;

// About how many steps of loops a turn may take: a driver may stop a shader that runs long (lavapipe stops loops after 65,535
// steps). The limit covers windows and stored bytes. A block's header takes as many steps as it has codes. A window takes, in each
// round, as many as a segment has tokens, and more for what it lists and writes.
const kTurnSteps = 32768u;
const kHeaderSteps = 1400u;
const kRoundSteps = 64u;
const kBatchSteps = 16u;
const kChunkSteps = 48u;

const kThreads = 64u;
const kNone = 0xFFFFFFFFu;

// Codes: of literals and lengths (and before, of the code lengths), and of distances. Half of the invocations take each.
const kLitlen = 0u;
const kDistance = 1u;
const kCodeThreads = kThreads / 2u;
const kMaxCodeBits = 15u;
const kMaxPrecodeBits = 7u;
const kPrecodeCount = 19u;
const kRepeatLast = 16u;
const kRepeatZeroLong = 18u;
const kFixedLitlenCount = 288u;
const kFixedDistanceCount = 32u;
const kCodeRoom = kFixedLitlenCount;  // symbols of the first code; those of the second follow
const kLengthRoom = kFixedLitlenCount + kFixedDistanceCount;
const kLitlenTableBits = 9u;
const kDistanceTableBits = 8u;
// Entries of tables: the bits of the code, and its symbol above them; 0: none, or a longer one.
const kEntryBits = 15u;
const kEntrySymbolAt = 4u;

var<workgroup> sh_lengths: array<u32, kLengthRoom>;
var<workgroup> sh_symbols: array<u32, kLengthRoom>;  // sorted by their codes
var<workgroup> sh_counts: array<u32, 32>;            // codes of each length, of both
var<workgroup> sh_longest: array<u32, 2>;

// A block whose codes are made: its kind, as the two bits say it, and how many lengths its codes have.
struct BlockCodes {
  kind: u32,
  litlens: u32,
  distances: u32,
}
const kKindStored = 0u;
const kKindFixed = 1u;
const kKindDynamic = 2u;

var<workgroup> sh_block: BlockCodes;

var<workgroup> sh_litlen_table: array<u32, 1u << kLitlenTableBits>;
var<workgroup> sh_distance_table: array<u32, 1u << kDistanceTableBits>;

// The window.
const kSegmentWords = 7u;
const kSegmentBits = 32u * kSegmentWords;
const kWindowWords = kThreads * kSegmentWords;
const kSpareWords = 3u;  // a token has 48 bits at most, and is read by words from any bit on
const kListed = 1024u;   // more tokens than a segment has when all codes have one bit
const kStops = 0x80000000u;

var<workgroup> sh_words: array<u32, kWindowWords + kSpareWords>;
var<workgroup> sh_marks: array<u32, kWindowWords>;
var<workgroup> sh_tokens: array<u32, kListed>;

// Tokens and bytes at hand.
const kChunkBytes = 4u * kThreads;
const kLiteral = 0x80000000u;  // marks a byte instead of a distance, or of a place

var<workgroup> sh_begins: array<u32, kThreads>;  // where each token's bytes go; places count from the history's begin
var<workgroup> sh_infos: array<u32, kThreads>;
var<workgroup> sh_sources: array<u32, kChunkBytes>;
var<workgroup> sh_sums: array<u32, 2u * kThreads>;

// What one invocation finds and all need.
struct Told {
  value: u32,
  other: u32,
}

var<workgroup> sh_state: State;
var<workgroup> sh_told: Told;
var<workgroup> sh_first: atomic<u32>;
var<workgroup> sh_last: atomic<u32>;

// ---- Bits of the stream, for one invocation ----

var<private> at_bit: u32;
var<private> first_word: u32;
var<private> end_bit: u32;
var<private> bits_end: bool;  // more bits were taken than there are

fn open_stream(stream: Stream) {
  let begin = stream.begin + stream.history_bytes;
  first_word = begin / 4u;
  end_bit = (begin % 4u + stream.stream_bytes) * 8u;
  bits_end = false;
}

fn take(count: u32) -> u32 {
  let word = first_word + at_bit / 32u;
  let bits = joined(data_words[word], data_words[word + 1u], at_bit % 32u);
  at_bit += count;
  bits_end = bits_end || at_bit > end_bit;
  return bits & ((1u << count) - 1u);
}

// ---- Codes ----

// The entry of the code, of at most `most_bits`, with which `bits` begin.
fn find_code(bits: u32, code: u32, most_bits: u32) -> u32 {
  var value = 0u;
  var first = 0u;
  var index = code * kCodeRoom;
  for (var length = 1u; length <= min(most_bits, sh_longest[code]); length++) {
    value |= (bits >> (length - 1u)) & 1u;
    let count = sh_counts[code * 16u + length];
    if (value - first < count) {
      return (sh_symbols[index + value - first] << kEntrySymbolAt) | length;
    }
    index += count;
    first = (first + count) << 1u;
    value <<= 1u;
  }
  return 0u;
}

// Sorts the symbols of both codes by their lengths in sh_lengths (`litlens` and `distances` are how many each code has), and counts
// the lengths. An invocation takes the symbols of one length.
fn sort_codes(litlens: u32, distances: u32, thread: u32) {
  let code = thread / kCodeThreads;
  let length = thread % kCodeThreads;
  let first = code * kCodeRoom;
  let symbols = select(distances, litlens, code == kLitlen);
  if (length <= kMaxCodeBits) {
    var count = 0u;
    for (var i = 0u; length > 0u && i < symbols; i++) {
      count += select(0u, 1u, sh_lengths[first + i] == length);
    }
    sh_counts[code * 16u + length] = count;
  }
  workgroupBarrier();
  if (length == 0u) {
    var longest = kMaxCodeBits;
    while (longest > 0u && sh_counts[code * 16u + longest] == 0u) {
      longest--;
    }
    sh_longest[code] = longest;
  } else if (length <= kMaxCodeBits) {
    var place = first;
    for (var i = 1u; i < length; i++) {
      place += sh_counts[code * 16u + i];
    }
    for (var i = 0u; i < symbols; i++) {
      if (sh_lengths[first + i] == length) {
        sh_symbols[place] = i;
        place++;
      }
    }
  }
  workgroupBarrier();
}

// How many of the codes of 15 bits are taken.
fn filled(code: u32) -> u32 {
  var sum = 0u;
  for (var i = 1u; i <= kMaxCodeBits; i++) {
    sum += sh_counts[code * 16u + i] << (kMaxCodeBits - i);
  }
  return sum;
}

// Whether the code is complete, or is a single code of one bit, or empty.
fn is_sound(code: u32) -> bool {
  let taken = filled(code);
  return taken == 1u << kMaxCodeBits || taken == 0u || (sh_longest[code] == 1u && sh_counts[code * 16u + 1u] == 1u);
}

// ---- The header of a block, for one invocation ----

fn precode_symbol(index: u32) -> u32 {
  if (index < 3u) {
    return 16u + index;
  }
  if (index == 3u) {
    return 0u;
  }
  // 8 7 9 6 10 5 11 4 12 3 13 2 14 1 15
  let step = (index - 3u) / 2u;
  return select(8u + step, 8u - step, index % 2u == 1u);
}

// Reads the header at state.bit, up to the lengths of codes; if the state is among tokens, their block's header again. For dynamic
// codes, the lengths of the code of the code lengths go to sh_lengths, and the number of lengths that follow goes to sh_block.
fn read_header(before: State) -> State {
  var state = before;
  at_bit = select(state.bit, state.head_bit, state.part == kTokens);
  state.head_bit = at_bit;
  state.last = take(1u);
  sh_block = BlockCodes(take(2u), 0u, 0u);
  if (sh_block.kind == kKindStored) {
    at_bit = (at_bit + 7u) / 8u * 8u;
    let bytes = take(16u);
    let inverted = take(16u);
    state.part = kStored;
    state.stored_bytes = bytes;
    bits_end = bits_end || (bytes ^ inverted) != 0xFFFFu;
  } else {
    state.part = kTokens;
    bits_end = bits_end || sh_block.kind > kKindDynamic;
  }
  if (sh_block.kind == kKindDynamic) {
    sh_block.litlens = kFirstLengthSymbol + take(5u);
    sh_block.distances = 1u + take(5u);
    let precodes = 4u + take(4u);
    for (var i = 0u; i < kPrecodeCount; i++) {
      var length = 0u;
      if (i < precodes) {
        length = take(3u);
      }
      sh_lengths[precode_symbol(i)] = length;
    }
    bits_end = bits_end || sh_block.litlens > kLitlenCount || sh_block.distances > kDistanceCount;
  }
  state.bit = at_bit;
  if (bits_end) {
    state.status = kCorrupt;
  }
  return state;
}

// Reads the lengths of both codes into sh_lengths. False: damage. The table of the code of the code lengths is in the place of that
// of distances.
fn read_lengths() -> bool {
  let litlens = sh_block.litlens;
  let count = litlens + sh_block.distances;
  var number = 0u;
  var value = 0u;  // how many times more
  var times = 0u;
  while (number < count) {
    if (times == 0u) {
      let word = first_word + at_bit / 32u;
      let bits = joined(data_words[word], data_words[word + 1u], at_bit % 32u);
      let entry = sh_distance_table[bits & ((1u << kMaxPrecodeBits) - 1u)];
      at_bit += entry & kEntryBits;
      let symbol = entry >> kEntrySymbolAt;
      times = 1u;
      if (symbol < kRepeatLast) {
        value = symbol;
      } else if (symbol == kRepeatLast) {
        times = 3u + take(2u);
        if (number == 0u) {
          return false;
        }
      } else {
        value = 0u;
        if (symbol == kRepeatZeroLong) {
          times = 11u + take(7u);
        } else {
          times = 3u + take(3u);
        }
      }
      if (times > count - number || at_bit > end_bit) {
        return false;
      }
    }
    // Lengths of distances have their own place.
    sh_lengths[select(kCodeRoom + number - litlens, number, number < litlens)] = value;
    number++;
    times--;
  }
  return sh_lengths[kEndOfBlock] != 0u;
}

// What a block leaves behind its last token or byte.
fn end_block(before: State) -> State {
  var state = before;
  state.part = kHeader;
  if (state.last == 1u) {
    state.status = select(kCorrupt, kOk, (state.bit + 7u) / 8u * 8u == end_bit);
  }
  return state;
}

// ---- Together: the header, and the tables that follow from it ----

fn begin_block(before: State, thread: u32) {
  if (thread == 0u) {
    sh_state = read_header(before);
  }
  var state = workgroupUniformLoad(&sh_state);
  if (state.status != kUnfinished || state.part != kTokens) {
    return;
  }
  var codes = workgroupUniformLoad(&sh_block);
  if (codes.kind == kKindFixed) {
    codes.litlens = kFixedLitlenCount;
    codes.distances = kFixedDistanceCount;
    for (var i = thread; i < kLengthRoom; i += kThreads) {
      let litlen = select(select(select(8u, 7u, i < 280u), 9u, i < 256u), 8u, i < 144u);
      sh_lengths[i] = select(5u, litlen, i < kFixedLitlenCount);
    }
    workgroupBarrier();
  } else {
    sort_codes(kPrecodeCount, 0u, thread);
    for (var i = thread; i < 1u << kMaxPrecodeBits; i += kThreads) {
      sh_distance_table[i] = find_code(i, kLitlen, kMaxPrecodeBits);
    }
    workgroupBarrier();
    if (thread == 0u) {
      // The code must be complete. If no symbol has a code, zlib reads only lengths of 0 and then misses the end of the block.
      if (filled(kLitlen) != 1u << kMaxCodeBits || !read_lengths()) {
        sh_state.status = kCorrupt;
      }
      sh_state.bit = at_bit;
    }
    state = workgroupUniformLoad(&sh_state);
    if (state.status != kUnfinished) {
      return;
    }
  }
  sort_codes(codes.litlens, codes.distances, thread);
  for (var i = thread; i < 1u << kLitlenTableBits; i += kThreads) {
    sh_litlen_table[i] = find_code(i, kLitlen, kLitlenTableBits);
  }
  for (var i = thread; i < 1u << kDistanceTableBits; i += kThreads) {
    sh_distance_table[i] = find_code(i, kDistance, kDistanceTableBits);
  }
  if (thread == 0u) {
    if (!is_sound(kLitlen) || !is_sound(kDistance)) {
      sh_state.status = kCorrupt;
    }
    // A turn that begins inside the block continues there.
    if (before.part == kTokens) {
      sh_state.bit = before.bit;
    }
  }
  workgroupBarrier();
}

// ---- Tokens of the window ----

struct Token {
  next: u32,   // the bit behind it
  bytes: u32,  // 0: no token
  info: u32,   // kLiteral and the byte, or the distance; without a token, kEndOfBlock or 0
}

fn window_bits(bit: u32) -> u32 {
  return joined(sh_words[bit / 32u], sh_words[bit / 32u + 1u], bit % 32u);
}

fn read_token(bit: u32) -> Token {
  let bits = window_bits(bit);
  var entry = sh_litlen_table[bits & ((1u << kLitlenTableBits) - 1u)];
  if (entry == 0u) {
    entry = find_code(bits, kLitlen, kMaxCodeBits);
  }
  let symbol = entry >> kEntrySymbolAt;
  let code_end = bit + (entry & kEntryBits);
  if (entry == 0u || symbol >= kLitlenCount) {
    return Token(bit, 0u, 0u);
  }
  if (symbol < kEndOfBlock) {
    return Token(code_end, 1u, kLiteral | symbol);
  }
  if (symbol == kEndOfBlock) {
    return Token(code_end, 0u, kEndOfBlock);
  }
  let extra = length_extra_bits(symbol);
  let length = length_base(symbol) + ((bits >> (entry & kEntryBits)) & ((1u << extra) - 1u));
  let more = window_bits(code_end + extra);
  var distance_entry = sh_distance_table[more & ((1u << kDistanceTableBits) - 1u)];
  if (distance_entry == 0u) {
    distance_entry = find_code(more, kDistance, kMaxCodeBits);
  }
  let distance_code = distance_entry >> kEntrySymbolAt;
  if (distance_entry == 0u || distance_code >= kDistanceCount) {
    return Token(bit, 0u, 0u);
  }
  let distance_bits = distance_entry & kEntryBits;
  let distance_extra = distance_extra_bits(distance_code);
  let distance = distance_base(distance_code) + ((more >> distance_bits) & ((1u << distance_extra) - 1u));
  return Token(code_end + extra + distance_bits + distance_extra, length, distance);
}

// Decodes the invocation's segment from `start`, a bit of the window in it, and returns its exit. `end`: the end of the stream,
// counted from the window's first bit. If there are marks from an earlier call, `known` is what that call returned.
fn mark_segment(thread: u32, start: u32, end: u32, has_marks: bool, known: u32) -> u32 {
  let first = thread * kSegmentWords;
  let beyond = (first + kSegmentWords) * 32u;
  var bit = start;
  var word = bit / 32u;
  for (var i = first; i < word; i++) {
    sh_marks[i] = 0u;
  }
  var before = select(0u, sh_marks[word], has_marks);
  var marks = 0u;
  var stops = 0u;
  while (bit < beyond) {
    if (bit / 32u != word) {
      sh_marks[word] = marks;
      // A token spans 48 bits.
      if (bit / 32u > word + 1u) {
        sh_marks[word + 1u] = 0u;
      }
      word = bit / 32u;
      before = select(0u, sh_marks[word], has_marks);
      marks = 0u;
    }
    if (((before >> (bit % 32u)) & 1u) != 0u) {
      sh_marks[word] = marks | (before & (kNone << (bit % 32u)));
      return known;
    }
    let token = read_token(bit);
    if (token.bytes == 0u || token.next > end) {
      stops = kStops;
      break;
    }
    marks |= 1u << (bit % 32u);
    bit = token.next;
  }
  sh_marks[word] = marks;
  for (var i = word + 1u; i < first + kSegmentWords; i++) {
    sh_marks[i] = 0u;
  }
  return bit | stops;
}

// The sum of `value` over this invocation and those before it.
fn sum_up_to(value: u32, thread: u32) -> u32 {
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
  workgroupBarrier();
  return sum;
}

// The part of a window that is listed.
struct Listed {
  count: u32,
  exit: u32,  // the bit after the last token; with kStops if no token is there
  rounds: u32,
}

fn list_tokens(first_bit: u32, end: u32, thread: u32) -> Listed {
  var start = select(thread * kSegmentBits, first_bit, thread == 0u);
  var exit = mark_segment(thread, start, end, false, 0u);
  var rounds = 1u;
  loop {
    sh_sums[thread] = exit;
    if (thread == 0u) {
      atomicStore(&sh_first, kNone);
      atomicStore(&sh_last, 0u);
    }
    workgroupBarrier();
    let exit_before = sh_sums[max(thread, 1u) - 1u];
    let decodes = thread > 0u && (exit_before & kStops) == 0u && exit_before != start;
    if (decodes) {
      atomicMin(&sh_first, thread);
    }
    workgroupBarrier();
    if (thread == 0u) {
      sh_told.value = atomicLoad(&sh_first);
    }
    if (workgroupUniformLoad(&sh_told).value == kNone) {
      break;
    }
    if (decodes) {
      start = exit_before;
      exit = mark_segment(thread, start, end, true, exit);
    }
    rounds++;
  }
  // Segments up to the first one that stopped. sh_first is kNone before.
  if ((exit & kStops) != 0u) {
    atomicMin(&sh_first, thread);
  }
  workgroupBarrier();
  let is_right = thread <= atomicLoad(&sh_first);
  var count = 0u;
  for (var i = 0u; i < kSegmentWords; i++) {
    count += select(0u, countOneBits(sh_marks[thread * kSegmentWords + i]), is_right);
  }
  let count_up_to = sum_up_to(count, thread);
  let is_listed = is_right && count_up_to <= kListed;
  if (is_listed) {
    atomicMax(&sh_last, thread);
    var place = count_up_to - count;
    for (var i = 0u; i < kSegmentWords; i++) {
      let word = thread * kSegmentWords + i;
      for (var marks = sh_marks[word]; marks != 0u; marks &= marks - 1u) {
        sh_tokens[place] = word * 32u + countTrailingZeros(marks);
        place++;
      }
    }
  }
  workgroupBarrier();
  if (is_listed && thread == atomicLoad(&sh_last)) {
    sh_told = Told(count_up_to, exit);
  }
  let told = workgroupUniformLoad(&sh_told);
  return Listed(told.value, told.other, rounds);
}

// ---- Their bytes ----

// Writes [written, end) of the output, as the tokens in sh_begins and sh_infos describe it.
fn write_bytes(stream: Stream, written: u32, end: u32, thread: u32) {
  for (var chunk = written / 4u * 4u; chunk < end; chunk += kChunkBytes) {
    let first = chunk + 4u * thread;
    let own_begin = clamp(written, first, first + 4u);
    let own_end = clamp(end, first, first + 4u);
    // The last token that begins at or before the first byte.
    var number = 0u;
    for (var stride = kThreads / 2u; stride > 0u; stride /= 2u) {
      if (sh_begins[number + stride] <= stream.history_bytes + own_begin) {
        number += stride;
      }
    }
    var sources: array<u32, 4>;
    for (var byte = own_begin; byte < own_end; byte++) {
      let place = stream.history_bytes + byte;
      while (number + 1u < kThreads && sh_begins[number + 1u] <= place) {
        number++;
      }
      var source = sh_infos[number];
      if (source < kLiteral) {
        let begin = sh_begins[number];
        source = begin - source + (place - begin) % source;
      }
      sources[byte - first] = source;
      sh_sources[byte - chunk] = source;
    }
    workgroupBarrier();

    if (own_begin < own_end) {
      // Places from here on are being made.
      let fresh = stream.history_bytes + max(chunk, written);
      let word = (stream.output_begin + first) / 4u;
      var value = 0u;
      if (own_end - own_begin < 4u) {
        value = output[word];
      }
      for (var byte = own_begin; byte < own_end; byte++) {
        var source = sources[byte - first];
        while (source < kLiteral && source >= fresh) {
          source = sh_sources[source - stream.history_bytes - chunk];
        }
        if (source < stream.history_bytes) {
          source = data_byte(stream.begin + source);
        } else if (source < kLiteral) {
          let at = stream.output_begin + source - stream.history_bytes;
          source = output[at / 4u] >> (8u * (at % 4u));
        }
        let shift = 8u * (byte - first);
        value = (value & ~(0xFFu << shift)) | ((source & 0xFFu) << shift);
      }
      output[word] = value;
    }
    storageBarrier();
    workgroupBarrier();
  }
}

// Restores the listed tokens. The state's bit is the one after them.
fn restore_listed(stream: Stream, count: u32, before: State, thread: u32) {
  var written = before.restored_bytes;
  for (var first = 0u; first < count; first += kThreads) {
    var token = Token(0u, 0u, kLiteral);
    if (first + thread < count) {
      token = read_token(sh_tokens[first + thread]);
    }
    if (thread == 0u) {
      atomicStore(&sh_first, kNone);
    }
    let up_to = sum_up_to(token.bytes, thread);
    let begin = written + up_to - token.bytes;
    var status = kOk;
    if (token.bytes != 0u) {
      if (begin >= stream.room_bytes) {
        status = kTooSmall;
      } else if (token.info < kLiteral && token.info > stream.history_bytes + begin) {
        status = kCorrupt;
      } else if (token.bytes > stream.room_bytes - begin) {
        status = kTooSmall;
      }
    }
    // The first token that is wrong decides.
    if (status != kOk) {
      atomicMin(&sh_first, (thread << 2u) | status);
    }
    sh_begins[thread] = stream.history_bytes + begin;
    sh_infos[thread] = token.info;
    workgroupBarrier();
    if (thread == kThreads - 1u) {
      sh_told = Told(atomicLoad(&sh_first), begin + token.bytes);
    }
    let told = workgroupUniformLoad(&sh_told);
    if (told.value != kNone) {
      if (thread == 0u) {
        sh_state.status = told.value & 3u;
      }
      return;
    }
    write_bytes(stream, written, told.other, thread);
    written = told.other;
  }
  if (thread == 0u) {
    sh_state.restored_bytes = written;
  }
}

// Returns the steps that it took.
fn restore_window(stream: Stream, before: State, thread: u32) -> u32 {
  let window = before.bit / 32u;
  // Words that hold nothing of the stream read as 0.
  for (var i = thread; i < kWindowWords + kSpareWords; i += kThreads) {
    var word = 0u;
    if ((window + i) * 32u < end_bit) {
      word = data_words[first_word + window + i];
    }
    sh_words[i] = word;
  }
  workgroupBarrier();
  let listed = list_tokens(before.bit % 32u, end_bit - window * 32u, thread);
  restore_listed(stream, listed.count, before, thread);
  workgroupBarrier();
  if (thread == 0u && sh_state.status == kUnfinished) {
    let exit = listed.exit & ~kStops;
    sh_state.bit = window * 32u + exit;
    if (listed.exit != exit) {
      let token = read_token(exit);
      if (token.bytes == 0u && token.info == kEndOfBlock && window * 32u + token.next <= end_bit) {
        sh_state.bit = window * 32u + token.next;
        sh_state = end_block(sh_state);
      } else {
        sh_state.status = kCorrupt;
      }
    }
  }
  let restored_bytes = workgroupUniformLoad(&sh_state).restored_bytes - before.restored_bytes;
  return listed.rounds * kRoundSteps + (listed.count / kThreads + 1u) * kBatchSteps +
      restored_bytes / kChunkBytes * kChunkSteps;
}

fn restore_stored(stream: Stream, before: State, thread: u32) {
  let written = before.restored_bytes;
  let room = stream.room_bytes - written;
  let bytes = min(min(before.stored_bytes, room), (end_bit - before.bit) / 8u);
  let end = written + bytes;
  for (var first = written / 4u * 4u + 4u * thread; first < end; first += kChunkBytes) {
    let word = (stream.output_begin + first) / 4u;
    let own_begin = clamp(written, first, first + 4u);
    let own_end = clamp(end, first, first + 4u);
    var value = 0u;
    if (own_end - own_begin < 4u) {
      value = output[word];
    }
    for (var byte = own_begin; byte < own_end; byte++) {
      let shift = 8u * (byte - first);
      let source = data_byte(4u * first_word + before.bit / 8u + byte - written);
      value = (value & ~(0xFFu << shift)) | (source << shift);
    }
    output[word] = value;
  }
  storageBarrier();
  workgroupBarrier();
  if (thread == 0u) {
    sh_state.restored_bytes = end;
    sh_state.bit = before.bit + 8u * bytes;
    if (bytes == before.stored_bytes) {
      sh_state = end_block(sh_state);
    } else {
      sh_state.status = select(kCorrupt, kTooSmall, bytes == room);
    }
  }
}

@compute @workgroup_size(kThreads)
fn restore(@builtin(workgroup_id) id: vec3u, @builtin(num_workgroups) size: vec3u,
           @builtin(local_invocation_index) thread: u32) {
  let number = workgroup_number(id, size, parameters.stream_count);
  if (number >= parameters.stream_count) {
    return;
  }
  let stream = streams[number];
  open_stream(stream);
  if (thread == 0u) {
    sh_state = State(kUnfinished, 0u, (stream.begin + stream.history_bytes) % 4u * 8u, 0u, kHeader, 0u, 0u);
    if (parameters.turn > 0u) {
      sh_state = states[number];
    }
  }
  var has_tables = false;
  for (var steps = 0u; steps < kTurnSteps;) {
    let state = workgroupUniformLoad(&sh_state);
    if (state.status != kUnfinished) {
      break;
    }
    if (state.part == kStored) {
      restore_stored(stream, state, thread);
      steps += state.stored_bytes / kChunkBytes * kBatchSteps + kBatchSteps;
    } else if (state.part == kTokens && has_tables) {
      steps += restore_window(stream, state, thread);
    } else {
      begin_block(state, thread);
      has_tables = true;
      steps += kHeaderSteps;
    }
    workgroupBarrier();
    has_tables = has_tables && workgroupUniformLoad(&sh_state).part == kTokens;
  }
  if (thread == 0u) {
    states[number] = sh_state;
  }
}
