// Blocks of a frame of Zstandard restored (contract: zstd_restore_reference.hpp; the frame's last block must end where its bytes do).
//
// Passes      restore  a workgroup restores a frame, block after block; a run ends after some 30,000 steps, and the next one goes on there,
//                      so that none takes long; what is not done in the last run stays unfinished
// Buffers     data_words (read) histories and frames; frames (read) 24 bytes a frame; states (written) 104 bytes a frame; output
//             (written, and read where matches lead); literals (written, and read) those of a block, for each frame
// Workgroup   64 invocations, 13.8 KB in arrays: the tables of FSE (5.2 KB, with that of weights) and of Huffman codes (4 KB), the
//             weights (1 KB) and counts (1 KB) of which they are made, the codes of lengths (0.5 KB), of the sequences at hand the
//             places, literals and offsets (1 KB), and of the bytes that they say the sources (1 KB)
// Nothing is read outside a frame and its history or written outside its room.
//
// Sections are those of RFC 8878. A block goes through four parts: its header; its literals, which four invocations decode, one of the four
// streams each; its tables, which three invocations fill, one each; and its sequences. One invocation reads up to 64 of these, with repeat
// offsets in place, and checks that they fit. Then each invocation makes words of the output, as lz4_restore.wgsl does: a byte is a
// literal, or comes from the history, or from an earlier byte of the output; if that byte is itself being made, its source is used instead. A
// match that overlaps itself repeats its first bytes, so no chain is longer than the 64 sequences. Raw blocks and those of one byte are
// literals without sequences.
//
// Tables that later blocks may use again are remembered by the places of their descriptions, and made anew by a run that goes on inside a block.
//
// Codes of literals have at most 11 bits (4.2.1). libzstd also reads 12, though nothing writes them: such frames are left to others.

#import gpu/webgpu/shared/workgroup.wgsl
#import gpu/webgpu/shared/bytes.wgsl

struct Parameters {
  frame_count: u32,
  turn: u32,
}

struct Frame {
  begin: u32,  // byte of the data where the history begins
  history_bytes: u32,  // the frame's blocks begin behind them
  frame_bytes: u32,  // below 2^28
  room_bytes: u32,  // below 2^28, with the history
  output_begin: u32,  // a whole word
  literals_begin: u32,  // the same, of the literals
}

struct State {
  status: u32,
  restored_bytes: u32,
  part: u32,
  last: u32,         // 1: the block is the last one
  at: u32,           // byte of the data that is read next
  block_end: u32,    // of its data
  most_end: u32,     // of its content: it may not be longer
  // Literals of the block.
  literal_type: u32,
  literal_at: u32,      // where raw ones are; the byte that is repeated; where coded ones are described, or their streams begin
  literals_end: u32,    // of coded ones
  literal_streams: u32,
  literal_count: u32,
  literals_used: u32,
  // Places of descriptions: see kNoTable.
  huffman_at: u32,
  tables: array<u32, 3>,
  // Sequences of the block.
  sequences_left: u32,
  bits_begin: u32,  // byte of the data
  bits_left: i32,
  states: array<u32, 3>,
  repeats: array<u32, 3>,
}

@group(0) @binding(0) var<uniform> parameters: Parameters;
@group(0) @binding(1) var<storage, read> data_words: array<u32>;
@group(0) @binding(2) var<storage, read> frames: array<Frame>;
@group(0) @binding(3) var<storage, read_write> states: array<State>;
@group(0) @binding(4) var<storage, read_write> output: array<u32>;
@group(0) @binding(5) var<storage, read_write> literals: array<u32>;

const kOk = 0u;
const kCorrupt = 1u;
const kUnfinished = 3u;
const kLeftToOthers = 4u;

// Parts of a block.
const kHeader = 0u;
const kLiterals = 1u;
const kTables = 2u;
const kSequences = 3u;

// About how many steps of loops a turn may take: a driver may stop a shader that runs long (lavapipe stops loops after 65,535
// steps). No part takes more than a second turn's: literals an eighth of a step each, and the bytes of a part's sequences, which are
// 128 KB at most, 48 steps for each chunk; more where short sequences of a chunk repeat each other, which is not counted: a turn that a
// driver stops is a fault of the device (staged_batch_webgpu.hpp).
const kTurnSteps = 32768u;
const kHeaderSteps = 16u;
const kHuffmanSteps = 1500u;
const kTableSteps = 600u;
const kBatchSteps = 96u;
const kChunkSteps = 48u;

const kThreads = 64u;
const kNone = 0xFFFFFFFFu;

const kMostBlockBytes = 131072u;  // 3.1.1.2.4
const kBlockHeaderBytes = 3u;

// ---- What the workgroup shares ----

// Kinds of codes, in the order of their descriptions; the weights of Huffman codes are a fourth kind.
const kLiteralKind = 0u;
const kOffsetKind = 1u;
const kMatchKind = 2u;
const kWeightKind = 3u;
const kKinds = 3u;
const kCountRoom = 64u;  // symbols of a kind

// A cell: the symbol, 8 bits of how many bits the next state takes, 16 of its base.
const kCellCount = 512u + 256u + 512u + 64u;
const kCellBitsAt = 8u;
const kCellBaseAt = 16u;

var<workgroup> sh_cells: array<u32, kCellCount>;
var<workgroup> sh_counts: array<i32, 256>;  // 64 for each kind
var<workgroup> sh_logs: array<u32, 4>;
var<workgroup> sh_symbols: array<u32, 4>;  // how many counts there are

// Huffman codes: what their bits begin with, two entries in a word. An entry is a symbol, and 8 bits of how many bits it takes.
const kMostCodeBits = 11u;
const kEntryBitsAt = 8u;

var<workgroup> sh_huffman: array<u32, 1024>;
var<workgroup> sh_weights: array<u32, 256>;  // and where each symbol's entries begin, above 8 bits
var<workgroup> sh_weight_count: u32;
var<workgroup> sh_code_bits: u32;

// The bases of lengths, and their extra bits above.
const kCodeBitsAt = 24u;
var<workgroup> sh_codes: array<u32, 128>;  // of literals, then of matches

// Sequences and bytes at hand.
const kChunkBytes = 4u * kThreads;
const kLiteral = 0x80000000u;  // marks the number of a literal instead of a place

var<workgroup> sh_begins: array<u32, kThreads>;  // where each sequence's bytes go; places count from the history's begin
var<workgroup> sh_matches: array<u32, kThreads>;
var<workgroup> sh_literals: array<u32, kThreads>;
var<workgroup> sh_offsets: array<u32, kThreads>;
var<workgroup> sh_sources: array<u32, kChunkBytes>;

var<workgroup> sh_state: State;
var<workgroup> sh_bad: atomic<u32>;
var<workgroup> sh_told: u32;

// ---- Bits that are read from their end (4.1) ----

struct Bits {
  begin: u32,  // byte of the data
  left: i32,   // negative: more were taken than there are
}

// `left` is negative if there is no mark.
fn open_bits(begin: u32, end: u32) -> Bits {
  if (begin >= end) {
    return Bits(begin, -1);
  }
  let last = data_byte(end - 1u);
  if (last == 0u) {
    return Bits(begin, -1);
  }
  return Bits(begin, i32(8u * (end - 1u - begin) + firstLeadingBit(last)));
}

// The next 32 bits, the first one highest; zeros stand before the first byte.
fn next_bits(begin: u32, left: i32) -> u32 {
  if (left <= 0) {
    return 0u;
  }
  let low = left - 32;
  let bit = (begin & 3u) * 8u + u32(max(low, 0));
  let word = begin / 4u + bit / 32u;
  let bits = joined(data_words[word], data_words[word + 1u], bit % 32u);
  return bits << u32(max(-low, 0));
}

// `count` bits behind the first `before` of them; both together at most 32.
fn bits_behind(bits: u32, before: u32, count: u32) -> u32 {
  return select(0u, (bits << (before & 31u)) >> ((32u - count) & 31u), count != 0u);
}

// ---- Tables of FSE (4.1.1) ----

fn cells_of(kind: u32) -> u32 {
  return select(select(select(1280u, 768u, kind == kMatchKind), 512u, kind == kOffsetKind), 0u, kind == kLiteralKind);
}

// Where a table's description is, above the two bits of its mode (3.1.1.3.2.1).
const kPredefined = 0u;
const kOneSymbol = 1u;
const kOwn = 2u;
const kRepeat = 3u;
const kNoTable = kRepeat;
const kModeBits = 3u;
const kPlaceAt = 2u;

fn most_symbol(kind: u32) -> u32 {
  return select(select(select(11u, 52u, kind == kMatchKind), 31u, kind == kOffsetKind), 35u, kind == kLiteralKind);
}

fn most_log(kind: u32) -> u32 {
  return select(select(6u, 8u, kind == kOffsetKind), 9u, kind == kLiteralKind || kind == kMatchKind);
}

// 3.1.1.3.2.2
fn predefined_count(kind: u32, symbol: u32) -> i32 {
  if (kind == kOffsetKind) {
    return select(select(1, 2, symbol >= 6u && symbol < 9u), -1, symbol >= 24u);
  }
  if (kind == kMatchKind) {
    return select(select(select(1, 2, symbol >= 3u && symbol < 9u), 5 - i32(symbol), symbol == 1u || symbol == 2u), -1, symbol >= 46u);
  }
  if (symbol >= 32u) {
    return -1;
  }
  if (symbol == 0u) {
    return 4;
  }
  if (symbol == 1u || symbol == 25u) {
    return 3;
  }
  return select(2, 1, (symbol >= 13u && symbol < 16u) || symbol >= 27u);
}

// For one invocation: reads the counts of a table that is described in [begin, end). Returns where the description ends, or kNone:
// damage.
fn read_counts(kind: u32, begin: u32, end: u32) -> u32 {
  if (begin >= end) {
    return kNone;
  }
  let first = kind * kCountRoom;
  let most = most_symbol(kind);
  let log = 5u + (data_byte(begin) & 15u);
  if (log > most_log(kind)) {
    return kNone;
  }
  var bit = 4u;
  var symbol = 0u;
  var remaining = (1u << log) + 1u;  // what is left to share out, and 1
  while (remaining > 1u) {
    if (symbol > most) {
      return kNone;
    }
    let bits = data_word(begin + bit / 8u) >> (bit % 8u);
    // A value up to `remaining`: the lowest ones take a bit less than the others.
    let width = firstLeadingBit(remaining) + 1u;
    let half = 1u << (width - 1u);
    let short_values = 2u * half - 1u - remaining;
    var value = bits & (2u * half - 1u);
    if ((value & (half - 1u)) < short_values) {
      value &= half - 1u;
      bit += width - 1u;
    } else {
      if (value >= half) {
        value -= short_values;
      }
      bit += width;
    }
    sh_counts[first + symbol] = i32(value) - 1;
    symbol++;
    remaining -= select(value - 1u, 1u, value == 0u);
    // Two bits after a 0 say how many more follow; 3 means that two more bits come.
    var zeros = select(0u, 3u, value == 1u);
    while (zeros == 3u) {
      zeros = (data_word(begin + bit / 8u) >> (bit % 8u)) & 3u;
      bit += 2u;
      if (symbol + zeros > most + 1u) {
        return kNone;
      }
      for (var i = 0u; i < zeros; i++) {
        sh_counts[first + symbol] = 0;
        symbol++;
      }
    }
    if (begin + (bit + 7u) / 8u > end) {
      return kNone;
    }
  }
  sh_logs[kind] = log;
  sh_symbols[kind] = symbol;
  return begin + (bit + 7u) / 8u;
}

// For one invocation: fills the cells as the counts say.
fn spread(kind: u32) {
  let first = kind * kCountRoom;
  let cells = cells_of(kind);
  let log = sh_logs[kind];
  let symbols = sh_symbols[kind];
  let size = 1u << log;
  // What is rarer than one cell has one at the end.
  var end = size;
  for (var symbol = 0u; symbol < symbols; symbol++) {
    if (sh_counts[first + symbol] == -1) {
      end--;
      sh_cells[cells + end] = symbol;
    }
  }
  let step = (size >> 1u) + (size >> 3u) + 3u;
  var at = 0u;
  for (var symbol = 0u; symbol < symbols; symbol++) {
    for (var i = sh_counts[first + symbol]; i > 0; i--) {
      sh_cells[cells + at] = symbol;
      at = (at + step) & (size - 1u);
      while (at >= end) {
        at = (at + step) & (size - 1u);
      }
    }
  }
  for (var i = 0u; i < size; i++) {
    let symbol = sh_cells[cells + i];
    let count = sh_counts[first + symbol];
    let state = select(u32(count), 1u, count == -1);
    sh_counts[first + symbol] = i32(state + 1u);
    let bits = log - firstLeadingBit(state);
    sh_cells[cells + i] = symbol | (bits << kCellBitsAt) | (((state << bits) - size) << kCellBaseAt);
  }
}

// For one invocation: what a table's cells are made of. Returns where its description ends, or kNone: damage.
fn read_table(kind: u32, table: u32, end: u32) -> u32 {
  let at = table >> kPlaceAt;
  let mode = table & kModeBits;
  if (mode == kOwn) {
    return read_counts(kind, at, end);
  }
  if (mode == kOneSymbol) {
    if (at >= end || data_byte(at) > most_symbol(kind)) {
      return kNone;
    }
    sh_logs[kind] = 0u;
    sh_symbols[kind] = data_byte(at);
    return at + 1u;
  }
  sh_logs[kind] = select(6u, 5u, kind == kOffsetKind);
  sh_symbols[kind] = select(select(53u, 29u, kind == kOffsetKind), 36u, kind == kLiteralKind);
  for (var symbol = 0u; symbol < sh_symbols[kind]; symbol++) {
    sh_counts[kind * kCountRoom + symbol] = predefined_count(kind, symbol);
  }
  return at;
}

// For one invocation, after read_table().
fn make_table(kind: u32, table: u32) {
  if ((table & kModeBits) == kOneSymbol) {
    sh_cells[cells_of(kind)] = sh_symbols[kind];
  } else {
    spread(kind);
  }
}

// ---- Huffman codes (4.2.1) ----

// For one invocation: weights as symbols of FSE, in two states that take turns (4.2.1.2). The stream ends where a state lacks bits; the other
// state then gives the last weight. Returns how many there are, or kNone: damage.
fn read_coded_weights(begin: u32, end: u32) -> u32 {
  let stream = read_counts(kWeightKind, begin, end);
  if (stream == kNone) {
    return kNone;
  }
  spread(kWeightKind);
  let cells = cells_of(kWeightKind);
  let log = sh_logs[kWeightKind];
  let bits = open_bits(stream, end);
  var left = bits.left;
  var state = bits_behind(next_bits(stream, left), 0u, log);
  left -= i32(log);
  var other = bits_behind(next_bits(stream, left), 0u, log);
  left -= i32(log);
  if (bits.left < 0 || left < 0) {
    return kNone;
  }
  var count = 0u;
  loop {
    let cell = sh_cells[cells + state];
    if (count + 1u >= 255u) {
      return kNone;
    }
    sh_weights[count] = cell & 0xFFu;
    count++;
    let taken = (cell >> kCellBitsAt) & 0xFFu;
    let next = (cell >> kCellBaseAt) + bits_behind(next_bits(stream, left), 0u, taken);
    left -= i32(taken);
    state = other;
    other = next;
    if (left < 0) {
      break;
    }
  }
  sh_weights[count] = sh_cells[cells + state] & 0xFFu;
  return count + 1u;
}

// For one invocation: reads the weights, and says where each symbol's entries are. Returns where the description ends; kNone: damage;
// kNone - 1: longer codes than ours.
fn read_weights(begin: u32, end: u32) -> u32 {
  if (begin >= end) {
    return kNone;
  }
  let head = data_byte(begin);
  var count = 0u;
  var after = begin + 1u;
  if (head < 128u) {
    after += head;
    if (after > end) {
      return kNone;
    }
    count = read_coded_weights(begin + 1u, after);
    if (count == kNone) {
      return kNone;
    }
  } else {
    // Half bytes, the higher one first (4.2.1.1).
    count = head - 127u;
    after += (count + 1u) / 2u;
    if (after > end) {
      return kNone;
    }
    for (var i = 0u; i < count; i++) {
      let pair = data_byte(begin + 1u + i / 2u);
      sh_weights[i] = select(pair & 15u, pair >> 4u, i % 2u == 0u);
    }
  }
  var sum = 0u;
  var most = 0u;
  for (var i = 0u; i < count; i++) {
    let weight = sh_weights[i];
    most = max(most, weight);
    sum += (1u << weight) >> 1u;
  }
  if (most > kMostCodeBits + 1u || sum == 0u) {
    return kNone;
  }
  let code_bits = firstLeadingBit(sum) + 1u;
  let rest = (1u << code_bits) - sum;
  if (code_bits > kMostCodeBits + 1u || (rest & (rest - 1u)) != 0u) {
    return kNone;
  }
  if (code_bits > kMostCodeBits) {
    return kNone - 1u;
  }
  sh_weights[count] = firstLeadingBit(rest) + 1u;
  count++;
  // Entries of the lowest weight come first. Their symbols share words, two by two.
  var place = 0u;
  for (var weight = 1u; weight <= code_bits; weight++) {
    sh_counts[kWeightKind * kCountRoom + weight] = 0;
  }
  for (var i = 0u; i < count; i++) {
    sh_counts[kWeightKind * kCountRoom + sh_weights[i]] += 1;
  }
  let longest = sh_counts[kWeightKind * kCountRoom + 1u];
  if (longest < 2 || longest % 2 != 0) {
    return kNone;
  }
  for (var weight = 1u; weight <= code_bits; weight++) {
    let entries = u32(sh_counts[kWeightKind * kCountRoom + weight]) << (weight - 1u);
    sh_counts[kWeightKind * kCountRoom + weight] = i32(place);
    place += entries;
  }
  for (var i = 0u; i < count; i++) {
    let weight = sh_weights[i];
    if (weight == 0u) {
      continue;
    }
    let entry = u32(sh_counts[kWeightKind * kCountRoom + weight]);
    sh_counts[kWeightKind * kCountRoom + weight] = i32(entry + (1u << (weight - 1u)));
    sh_weights[i] = weight | (entry << 8u);
    if (weight == 1u) {
      let bits = (i | (code_bits << kEntryBitsAt)) << (16u * (entry % 2u));
      sh_huffman[entry / 2u] = select(bits, sh_huffman[entry / 2u] | bits, entry % 2u == 1u);
    }
  }
  sh_weight_count = count;
  sh_code_bits = code_bits;
  return after;
}

// Together: the entries that fill words.
fn fill_huffman(thread: u32) {
  let count = workgroupUniformLoad(&sh_weight_count);
  for (var symbol = 0u; symbol < count; symbol++) {
    let weight = sh_weights[symbol] & 0xFFu;
    if (weight >= 2u) {
      let word = sh_weights[symbol] >> 9u;
      let entry = symbol | ((sh_code_bits + 1u - weight) << kEntryBitsAt);
      for (var i = thread; i < 1u << (weight - 2u); i += kThreads) {
        sh_huffman[word + i] = entry * 0x10001u;
      }
    }
  }
  workgroupBarrier();
}

fn huffman_entry(bits: u32, code_bits: u32) -> u32 {
  let index = bits >> (32u - code_bits);
  return (sh_huffman[index / 2u] >> (16u * (index % 2u))) & 0xFFFFu;
}

// For one invocation: a stream of literals, which gives so many and then is used up (4.2.2). `word` is where they go. False: damage.
fn read_literals(begin: u32, end: u32, count: u32, word: u32) -> bool {
  let bits = open_bits(begin, end);
  if (bits.left < 0) {
    return false;
  }
  let code_bits = sh_code_bits;
  var left = bits.left;
  for (var i = 0u; i < count; i += 4u) {
    // Two codes have at most 22 bits.
    var value = 0u;
    for (var pair = 0u; pair < 4u; pair += 2u) {
      var next = next_bits(begin, left);
      let first = huffman_entry(next, code_bits);
      let first_bits = first >> kEntryBitsAt;
      next <<= first_bits;
      let second = huffman_entry(next, code_bits);
      left -= i32(select(0u, first_bits, i + pair < count) + select(0u, second >> kEntryBitsAt, i + pair + 1u < count));
      value |= ((first & 0xFFu) | ((second & 0xFFu) << 8u)) << (8u * pair);
    }
    literals[word + i / 4u] = value;
  }
  return left == 0;
}

// How many literals each of the streams has but the last one; each stream's begin at a whole word.
fn stream_literals(count: u32, streams: u32) -> u32 {
  return select(count, (count + 3u) / 4u, streams == 4u);
}

// ---- The parts of a block ----

fn damaged(before: State) -> State {
  var state = before;
  state.status = kCorrupt;
  return state;
}

// For one invocation: the headers of the block and of its literals (3.1.1.2, 3.1.1.3.1).
fn read_header(frame: Frame, before: State) -> State {
  var state = before;
  let end = frame.begin + frame.history_bytes + frame.frame_bytes;
  if (end - state.at < kBlockHeaderBytes) {
    return damaged(state);
  }
  let header = data_word(state.at) & 0xFFFFFFu;
  state.at += kBlockHeaderBytes;
  state.last = header & 1u;
  let block_type = (header >> 1u) & 3u;
  let size = header >> 3u;
  // The window is all of the content.
  let most = min(frame.history_bytes + frame.room_bytes, kMostBlockBytes);
  let bytes = select(size, 1u, block_type == 1u);
  if (block_type == 3u || size > most || (block_type == 2u && size == 0u) || bytes > end - state.at) {
    return damaged(state);
  }
  state.block_end = state.at + bytes;
  state.most_end = min(frame.room_bytes, state.restored_bytes + most);
  state.literals_used = 0u;
  state.sequences_left = 0u;
  state.literal_streams = 1u;
  if (block_type != 2u) {
    state.literal_type = block_type;
    state.literal_count = size;
    state.literal_at = state.at;
    state.part = kSequences;
    return state;
  }
  let low = data_word(state.at);
  let size_format = (low >> 2u) & 3u;
  state.literal_type = low & 3u;
  if (state.literal_type < 2u) {
    let header_bytes = select(select(1u, 2u, size_format == 1u), 3u, size_format == 3u);
    if (header_bytes > bytes) {
      return damaged(state);
    }
    let head = low & (kNone >> (32u - 8u * header_bytes));
    state.literal_count = select(head >> 4u, head >> 3u, header_bytes == 1u);
    state.literal_at = state.at + header_bytes;
    let literal_bytes = select(state.literal_count, 1u, state.literal_type == 1u);
    if (state.literal_count > most || literal_bytes > state.block_end - state.literal_at) {
      return damaged(state);
    }
    state.at = state.literal_at + literal_bytes;
    state.part = kTables;
    return state;
  }
  let header_bytes = select(3u, size_format + 2u, size_format >= 2u);
  if (header_bytes > bytes) {
    return damaged(state);
  }
  let width = select(select(10u, 14u, size_format == 2u), 18u, size_format == 3u);
  let mask = (1u << width) - 1u;
  let high = joined(low, data_byte(state.at + 4u), (4u + width) % 32u);
  state.literal_count = (low >> 4u) & mask;
  let literal_bytes = high & mask;
  state.literal_at = state.at + header_bytes;
  if (state.literal_count > most || literal_bytes > state.block_end - state.literal_at) {
    return damaged(state);
  }
  state.literals_end = state.literal_at + literal_bytes;
  state.literal_streams = select(4u, 1u, size_format == 0u);
  state.part = kLiterals;
  return state;
}

// Together: the literals of the block (3.1.1.3.1). `made` is the place of the description that the entries are of, and so is what it
// returns.
fn restore_literals(frame: Frame, before: State, made: u32, thread: u32) -> u32 {
  let is_described = before.literal_type == 2u;
  let table = select(before.huffman_at, before.literal_at, is_described);
  if (is_described || (made != table && table != kNone)) {
    if (thread == 0u) {
      let end = select(frame.begin + frame.history_bytes + frame.frame_bytes, before.literals_end, is_described);
      let after = read_weights(table, end);
      sh_state.huffman_at = table;
      if (is_described) {
        sh_state.literal_at = after;
      }
      if (after >= kNone - 1u) {
        sh_state.status = select(kLeftToOthers, kCorrupt, after == kNone);
      }
    }
  } else if (thread == 0u && table == kNone) {
    sh_state.status = kCorrupt;
  }
  let state = workgroupUniformLoad(&sh_state);
  if (state.status != kUnfinished) {
    return kNone;
  }
  if (made != table || is_described) {
    fill_huffman(thread);
  }
  if (thread < state.literal_streams) {
    let each = stream_literals(state.literal_count, state.literal_streams);
    var begin = state.literal_at;
    var end = state.literals_end;
    var count = each;
    var is_right = true;
    if (state.literal_streams == 4u) {
      // Three sizes, and four streams, of which the last one gives the rest (3.1.1.3.1.6).
      let bytes = end - begin;
      is_right = bytes >= 6u && state.literal_count >= 6u && 3u * each <= state.literal_count;
      let sizes = vec3u(data_word(begin) & 0xFFFFu, data_word(begin) >> 16u, data_word(begin + 4u) & 0xFFFFu);
      is_right = is_right && sizes.x + sizes.y + sizes.z <= bytes - 6u;
      begin += 6u;
      if (thread > 0u) {
        begin += sizes.x;
      }
      if (thread > 1u) {
        begin += sizes.y;
      }
      if (thread > 2u) {
        begin += sizes.z;
        count = state.literal_count - 3u * each;
      } else {
        end = begin + sizes[thread];
      }
    }
    let word = frame.literals_begin / 4u + thread * ((each + 3u) / 4u);
    if (!is_right || !read_literals(begin, end, count, word)) {
      atomicStore(&sh_bad, 1u);
    }
  }
  storageBarrier();
  workgroupBarrier();
  if (thread == 0u) {
    sh_state.at = state.literals_end;
    sh_state.part = kTables;
    if (atomicLoad(&sh_bad) != 0u) {
      sh_state.status = kCorrupt;
    }
  }
  return table;
}

// For one invocation: the header of the sequences, and their tables' descriptions (3.1.1.3.2.1). Bits of sh_told then say which tables are
// to be made.
fn read_sequences_header(before: State, made: vec3u) -> State {
  var state = before;
  sh_told = 0u;
  if (state.at >= state.block_end) {
    return damaged(state);
  }
  let bytes = state.block_end - state.at;
  let low = data_word(state.at);
  let head = low & 0xFFu;
  var count = head;
  var count_bytes = 1u;
  if (head == 255u) {
    count = 0x7F00u + ((low >> 8u) & 0xFFFFu);
    count_bytes = 3u;
  } else if (head >= 128u) {
    count = ((head - 128u) << 8u) + ((low >> 8u) & 0xFFu);
    count_bytes = 2u;
  }
  if (count_bytes > bytes) {
    return damaged(state);
  }
  state.at += count_bytes;
  state.sequences_left = count;
  state.part = kSequences;
  if (count == 0u) {
    state.status = select(kCorrupt, kUnfinished, state.at == state.block_end);
    return state;
  }
  if (state.at == state.block_end) {
    return damaged(state);
  }
  let modes = data_byte(state.at);
  state.at++;
  if ((modes & 3u) != 0u) {
    return damaged(state);
  }
  for (var kind = 0u; kind < kKinds; kind++) {
    let mode = (modes >> (6u - 2u * kind)) & 3u;
    if (mode == kRepeat) {
      if (state.tables[kind] == kNoTable) {
        return damaged(state);
      }
    } else {
      state.tables[kind] = mode | select(state.at << kPlaceAt, 0u, mode == kPredefined);
    }
    if (mode != kRepeat && mode != kPredefined) {
      state.at = read_table(kind, state.tables[kind], state.block_end);
      if (state.at == kNone) {
        return damaged(state);
      }
      sh_told |= 1u << kind;
    } else if (state.tables[kind] != made[kind]) {
      read_table(kind, state.tables[kind], kNone);
      sh_told |= 1u << kind;
    }
  }
  let bits = open_bits(state.at, state.block_end);
  if (bits.left < 0) {
    return damaged(state);
  }
  state.bits_begin = bits.begin;
  state.bits_left = bits.left;
  for (var kind = 0u; kind < kKinds; kind++) {
    state.states[kind] = bits_behind(next_bits(bits.begin, state.bits_left), 0u, sh_logs[kind]);
    state.bits_left -= i32(sh_logs[kind]);
  }
  return state;
}

// Together: the tables of the block's sequences; of tables that were made before, `made` are the descriptions. Where a run goes on inside a block,
// this is done again.
fn make_tables(before: State, made: vec3u, thread: u32) {
  if (thread == 0u) {
    if (before.part == kTables) {
      sh_state = read_sequences_header(before, made);
    } else {
      sh_told = 7u;
      for (var kind = 0u; kind < kKinds; kind++) {
        read_table(kind, sh_state.tables[kind], kNone);
      }
    }
  }
  workgroupBarrier();
  if (thread < kKinds && ((sh_told >> thread) & 1u) != 0u && sh_state.status == kUnfinished) {
    make_table(thread, sh_state.tables[thread]);
  }
  workgroupBarrier();
}

// ---- Sequences ----

// For one invocation: notes up to 64 sequences, and, behind the last one, the literals that are left, which end the block.
fn read_sequences(frame: Frame, before: State) -> State {
  var state = before;
  var place = state.restored_bytes;
  var number = 0u;
  var repeats = vec3u(state.repeats[0], state.repeats[1], state.repeats[2]);
  var cells = vec3u(state.states[0], state.states[1], state.states[2]);
  var left = state.bits_left;
  var used = state.literals_used;
  var sequences = state.sequences_left;
  while (sequences > 0u && number < kThreads) {
    let literal_cell = sh_cells[cells.x];
    let offset_cell = sh_cells[512u + cells.y];
    let match_cell = sh_cells[768u + cells.z];
    let literal_code = sh_codes[literal_cell & 0xFFu];
    let match_code = sh_codes[64u + (match_cell & 0xFFu)];
    // The bits of the offset, then of the match, then of the literals (3.1.1.3.2.1.2).
    let offset_bits = offset_cell & 0xFFu;
    let value = (1u << offset_bits) + bits_behind(next_bits(state.bits_begin, left), 0u, offset_bits);
    left -= i32(offset_bits);
    let match_bits = match_code >> kCodeBitsAt;
    let literal_bits = literal_code >> kCodeBitsAt;
    let lengths = next_bits(state.bits_begin, left);
    let length = (match_code & 0xFFFFFFu) + bits_behind(lengths, 0u, match_bits);
    let count = (literal_code & 0xFFFFFFu) + bits_behind(lengths, match_bits, literal_bits);
    left -= i32(match_bits + literal_bits);
    sequences--;
    // The last sequence changes no state, and uses the stream up.
    if (sequences > 0u) {
      let literal_next = (literal_cell >> kCellBitsAt) & 0xFFu;
      let match_next = (match_cell >> kCellBitsAt) & 0xFFu;
      let offset_next = (offset_cell >> kCellBitsAt) & 0xFFu;
      let next = next_bits(state.bits_begin, left);
      cells.x = (literal_cell >> kCellBaseAt) + bits_behind(next, 0u, literal_next);
      cells.z = (match_cell >> kCellBaseAt) + bits_behind(next, literal_next, match_next);
      cells.y = (offset_cell >> kCellBaseAt) + bits_behind(next, literal_next + match_next, offset_next);
      left -= i32(literal_next + match_next + offset_next);
    }
    // Repeat offsets (3.1.1.5): without literals, the one that was used last is passed over, and the last value is that one minus 1.
    var offset = value - 3u;
    var shifts = 2u;
    if (value <= 3u) {
      let which = value - 1u + select(0u, 1u, count == 0u);
      shifts = min(which, 2u);
      offset = select(select(select(repeats.x - 1u, repeats.z, which == 2u), repeats.y, which == 1u), repeats.x, which == 0u);
    }
    if (shifts == 2u) {
      repeats.z = repeats.y;
    }
    if (shifts >= 1u) {
      repeats.y = repeats.x;
      repeats.x = offset;
    }
    let match_begin = place + count;
    if (left < 0 || (sequences == 0u && left != 0) || count > state.literal_count - used || count > state.most_end - place ||
        length > state.most_end - match_begin || offset == 0u || offset > frame.history_bytes + match_begin) {
      return damaged(state);
    }
    sh_begins[number] = frame.history_bytes + place;
    sh_matches[number] = frame.history_bytes + match_begin;
    sh_literals[number] = used;
    sh_offsets[number] = offset;
    number++;
    used += count;
    place = match_begin + length;
  }
  state.states = array<u32, 3>(cells.x, cells.y, cells.z);
  state.repeats = array<u32, 3>(repeats.x, repeats.y, repeats.z);
  state.bits_left = left;
  state.literals_used = used;
  state.sequences_left = sequences;
  if (number < kThreads) {
    let rest = state.literal_count - used;
    if (rest > state.most_end - place) {
      return damaged(state);
    }
    sh_begins[number] = frame.history_bytes + place;
    sh_matches[number] = kNone;
    sh_literals[number] = used;
    place += rest;
    state.at = state.block_end;
    state.part = kHeader;
    if (state.last == 1u) {
      let end = frame.begin + frame.history_bytes + frame.frame_bytes;
      state.status = select(kCorrupt, kOk, state.at == end);
    }
  }
  state.restored_bytes = place;
  return state;
}

fn literal_byte(frame: Frame, state: State, number: u32) -> u32 {
  if (state.literal_type < 2u) {
    return data_byte(state.literal_at + select(0u, number, state.literal_type == 0u));
  }
  // Each stream's literals begin at a whole word.
  let each = stream_literals(state.literal_count, state.literal_streams);
  let gap = (each + 3u) / 4u * 4u - each;
  let before = select(0u, 1u, number >= each) + select(0u, 1u, number >= 2u * each) + select(0u, 1u, number >= 3u * each);
  let at = frame.literals_begin + number + gap * before;
  return (literals[at / 4u] >> (8u * (at % 4u))) & 0xFFu;
}

// Writes [written, end) of the output, as the noted sequences describe it. `state` says where the literals are.
fn write_bytes(frame: Frame, state: State, end: u32, thread: u32) {
  let written = state.restored_bytes;
  for (var chunk = written / 4u * 4u; chunk < end; chunk += kChunkBytes) {
    let first = chunk + 4u * thread;
    let own_begin = clamp(written, first, first + 4u);
    let own_end = clamp(end, first, first + 4u);
    // The last sequence that begins at or before the first byte.
    var number = 0u;
    for (var stride = kThreads / 2u; stride > 0u; stride /= 2u) {
      if (sh_begins[number + stride] <= frame.history_bytes + own_begin) {
        number += stride;
      }
    }
    var sources: array<u32, 4>;
    for (var byte = own_begin; byte < own_end; byte++) {
      let place = frame.history_bytes + byte;
      while (number + 1u < kThreads && sh_begins[number + 1u] <= place) {
        number++;
      }
      let match_begin = sh_matches[number];
      var source = kLiteral | (sh_literals[number] + place - sh_begins[number]);
      if (place >= match_begin) {
        let offset = sh_offsets[number];
        var repeated = place - match_begin;
        if (repeated >= offset) {
          repeated %= offset;
        }
        source = match_begin - offset + repeated;
      }
      sources[byte - first] = source;
      sh_sources[byte - chunk] = source;
    }
    workgroupBarrier();

    if (own_begin < own_end) {
      // Places from here on are being made.
      let fresh = frame.history_bytes + max(chunk, written);
      let word = (frame.output_begin + first) / 4u;
      var value = 0u;
      if (own_end - own_begin < 4u) {
        value = output[word];
      }
      for (var byte = own_begin; byte < own_end; byte++) {
        var source = sources[byte - first];
        while (source < kLiteral && source >= fresh) {
          source = sh_sources[source - frame.history_bytes - chunk];
        }
        if (source >= kLiteral) {
          source = literal_byte(frame, state, source - kLiteral);
        } else if (source < frame.history_bytes) {
          source = data_byte(frame.begin + source);
        } else {
          let at = frame.output_begin + source - frame.history_bytes;
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

// Returns how many bytes it wrote.
fn restore_sequences(frame: Frame, before: State, thread: u32) -> u32 {
  sh_begins[thread] = kNone;
  workgroupBarrier();
  if (thread == 0u) {
    sh_state = read_sequences(frame, before);
  }
  let state = workgroupUniformLoad(&sh_state);
  if (state.status == kCorrupt && state.part == kSequences) {
    return 0u;
  }
  write_bytes(frame, before, state.restored_bytes, thread);
  return state.restored_bytes - before.restored_bytes;
}

// ---- A frame ----

// Lengths by their codes (3.1.1.3.2.1.1).
fn code_of_literals(code: u32) -> u32 {
  if (code < 16u) {
    return code;
  }
  if (code < 25u) {
    var bases = array<u32, 9>(16u, 18u, 20u, 22u, 24u, 28u, 32u, 40u, 48u);
    var extra = array<u32, 9>(1u, 1u, 1u, 1u, 2u, 2u, 3u, 3u, 4u);
    return bases[code - 16u] | (extra[code - 16u] << kCodeBitsAt);
  }
  return (1u << (code - 19u)) | ((code - 19u) << kCodeBitsAt);
}

fn code_of_match(code: u32) -> u32 {
  if (code < 32u) {
    return 3u + code;
  }
  if (code < 43u) {
    var bases = array<u32, 11>(35u, 37u, 39u, 41u, 43u, 47u, 51u, 59u, 67u, 83u, 99u);
    var extra = array<u32, 11>(1u, 1u, 1u, 1u, 2u, 2u, 3u, 3u, 4u, 4u, 5u);
    return bases[code - 32u] | (extra[code - 32u] << kCodeBitsAt);
  }
  return ((1u << (code - 36u)) + 3u) | ((code - 36u) << kCodeBitsAt);
}

@compute @workgroup_size(kThreads)
fn restore(@builtin(workgroup_id) id: vec3u, @builtin(num_workgroups) size: vec3u,
           @builtin(local_invocation_index) thread: u32) {
  let number = workgroup_number(id, size, parameters.frame_count);
  if (number >= parameters.frame_count) {
    return;
  }
  let frame = frames[number];
  if (thread == 0u) {
    atomicStore(&sh_bad, 0u);
    if (parameters.turn > 0u) {
      sh_state = states[number];
    } else {
      sh_state = State();
      sh_state.status = kUnfinished;
      sh_state.at = frame.begin + frame.history_bytes;
      sh_state.huffman_at = kNone;
      sh_state.tables = array<u32, 3>(kNoTable, kNoTable, kNoTable);
      // After history, they are those of blocks that are not known.
      sh_state.repeats = array<u32, 3>(1u, 4u, 8u);
      if (frame.history_bytes > 0u) {
        sh_state.repeats = array<u32, 3>(0xF0000000u, 0xE0000000u, 0xD0000000u);
      }
    }
  }
  sh_codes[thread] = code_of_literals(min(thread, 35u));
  sh_codes[64u + thread] = code_of_match(min(thread, 52u));
  var huffman = kNone;
  var tables = vec3u(kNoTable);
  for (var steps = 0u; steps < kTurnSteps;) {
    let state = workgroupUniformLoad(&sh_state);
    if (state.status != kUnfinished) {
      break;
    }
    if (state.part == kHeader) {
      if (thread == 0u) {
        sh_state = read_header(frame, state);
      }
      steps += kHeaderSteps;
    } else if (state.part == kLiterals) {
      huffman = restore_literals(frame, state, huffman, thread);
      steps += kHuffmanSteps + state.literal_count / 8u;
    } else if (state.part == kTables || (state.sequences_left > 0u && tables.x == kNoTable)) {
      make_tables(state, tables, thread);
      let made = workgroupUniformLoad(&sh_state);
      if (made.sequences_left > 0u) {
        tables = vec3u(made.tables[0], made.tables[1], made.tables[2]);
        steps += kTableSteps;
      }
    } else {
      steps += kBatchSteps + restore_sequences(frame, state, thread) / kChunkBytes * kChunkSteps;
    }
    workgroupBarrier();
  }
  if (thread == 0u) {
    states[number] = sh_state;
  }
}
