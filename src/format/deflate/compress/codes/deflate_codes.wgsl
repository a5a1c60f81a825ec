// The codes of DEFLATE's chunks (contract: block/deflate_codes.hpp, compress/codes/deflate_block.hpp, deflate_chunk.hpp), from how often symbols
// occur.
//
// Passes      size_parts  a workgroup takes a part that a chunk may have, a row of its units: how many bits it would take
//             make_parts  a workgroup takes a part that a chunk has: how it is written, its codes, and the header that says them. Where
//                         chunks are split, it first looks for the cuts with the smallest sum
// Buffers     chunks (read); tokens (read) 136 bytes a tile; histograms (read) 10240 bytes a chunk; part_bits (written
//             by size_parts, read by make_parts) 256 bytes a chunk: for each pair of a first and a last unit; parts (written by
//             make_parts) 1640 bytes a part
// Workgroup   128 invocations, 9.4 KB in arrays: for each symbol of the three codes its frequency, key, place among the sorted ones, node,
//             links and length (8 KB), the items of the header (1.3 KB), and how many codes have each length
//
// To sort, each symbol counts the smaller ones. One lane does what depends on the step before: the two queues of Huffman's
// algorithm and the items of the header. They take a few hundred steps each, those of both codes side by side.

#import gpu/webgpu/shared/workgroup.wgsl
#import match/common/webgpu/blocks.wgsl
#import format/deflate/block/deflate_symbols.wgsl

struct Parameters {
  workgroup_count: u32,
  parts_a_chunk: u32,
}

@group(0) @binding(0) var<uniform> parameters: Parameters;
@group(0) @binding(1) var<storage, read> chunks: array<Block>;
@group(0) @binding(2) var<storage, read> tokens: array<TileTokens>;
@group(0) @binding(3) var<storage, read> histograms: array<u32>;
@group(0) @binding(4) var<storage, read_write> part_bits: array<u32>;
@group(0) @binding(5) var<storage, read_write> parts: array<Part>;

#import format/deflate/compress/deflate_parts.wgsl

const kThreads = 128u;
const kPairs = kChunkUnits * kChunkUnits;
const kNone = 0xFFFFFFFFu;

const kMaxCodeBits = 15u;
const kMaxPrecodeBits = 7u;
const kSymbolBits = 9u;
const kSymbolMask = (1u << kSymbolBits) - 1u;

// The third code, of the code lengths; 0 is that of literals and lengths, 1 that of distances. Each has its place in the arrays.
const kPrecode = 2u;
const kPrecodeFirst = kCodeCount;
const kPrecodeCount = 19u;
const kSymbolRoom = kPrecodeFirst + kPrecodeCount;
const kRepeatLast = 16u;
const kRepeatZero = 17u;
const kRepeatZeroLong = 18u;
const kMostItems = kLitlenCount + kDistanceCount;

const kStoredHeadBits = 40u;
const kBlockHeadBits = 3u;
const kFixedDistanceBits = 5u;

fn code_first(code: u32) -> u32 {
  return select(select(kPrecodeFirst, kDistanceCodes, code == 1u), 0u, code == 0u);
}

fn code_symbols(code: u32) -> u32 {
  return select(select(kPrecodeCount, kDistanceCount, code == 1u), kLitlenCount, code == 0u);
}

fn max_bits(code: u32) -> u32 {
  return select(kMaxCodeBits, kMaxPrecodeBits, code == kPrecode);
}

// Which code the element of the arrays belongs to.
fn code_at(index: u32) -> u32 {
  return select(0u, 1u, index >= kDistanceCodes) + select(0u, 1u, index >= kPrecodeFirst);
}

fn is_symbol(index: u32) -> bool {
  let code = code_at(index);
  return index - code_first(code) < code_symbols(code);
}

var<workgroup> sh_frequencies: array<u32, kSymbolRoom>;
var<workgroup> sh_keys: array<u32, kSymbolRoom>;
var<workgroup> sh_sorted: array<u32, kSymbolRoom>;
var<workgroup> sh_nodes: array<u32, kSymbolRoom>;    // weights, then depths; of the code of the code lengths, its codes
var<workgroup> sh_parents: array<u32, kSymbolRoom>;  // lower half: of the leaf with that number; upper half: of the node
var<workgroup> sh_lengths: array<u32, kSymbolRoom>;
var<workgroup> sh_items: array<u32, kMostItems>;     // a symbol, and from bit 8 on its extra bits
var<workgroup> sh_depths: array<atomic<u32>, 48>;    // 16 for each code: how many codes have that many bits
var<workgroup> sh_used: array<atomic<u32>, 3>;
var<workgroup> sh_dynamic_bits: atomic<u32>;         // of tokens
var<workgroup> sh_fixed_bits: atomic<u32>;
var<workgroup> sh_item_bits: atomic<u32>;

// What one lane finds, for all.
struct Found {
  litlen_count: u32,
  distance_count: u32,
  precode_count: u32,
  item_count: u32,
}
var<workgroup> sh_found: Found;

// One lane: makes the tree over the sorted keys. Its nodes hold depths afterwards, the root's 0.
fn build_tree(first: u32, leaf_count: u32) {
  var leaf = 0u;
  var node = 0u;
  for (var made = 0u; made + 1u < leaf_count; made++) {
    var weight = 0u;
    for (var child = 0u; child < 2u; child++) {
      var leaf_weight = kNone;
      if (leaf < leaf_count) {
        leaf_weight = sh_sorted[first + leaf] >> kSymbolBits;
      }
      var node_weight = kNone;
      if (node < made) {
        node_weight = sh_nodes[first + node];
      }
      if (leaf_weight <= node_weight) {
        weight += leaf_weight;
        sh_parents[first + leaf] = (sh_parents[first + leaf] & 0xFFFF0000u) | made;
        leaf++;
      } else {
        weight += node_weight;
        sh_parents[first + node] = (sh_parents[first + node] & 0xFFFFu) | (made << 16u);
        node++;
      }
    }
    sh_nodes[first + made] = weight;
  }
  sh_nodes[first + leaf_count - 2u] = 0u;
  for (var left = leaf_count - 2u; left > 0u; left--) {
    sh_nodes[first + left - 1u] = sh_nodes[first + (sh_parents[first + left - 1u] >> 16u)] + 1u;
  }
}

// One lane: makes the code complete again after leaves deeper than the limit were moved up to it.
fn repair_depths(code: u32) {
  let depths = 16u * code;
  let limit = max_bits(code);
  var sum = 0u;
  for (var bits = 1u; bits <= limit; bits++) {
    sum += atomicLoad(&sh_depths[depths + bits]) << (limit - bits);
  }
  for (; sum > 1u << limit; sum--) {
    var bits = limit - 1u;
    while (atomicLoad(&sh_depths[depths + bits]) == 0u) {
      bits--;
    }
    atomicSub(&sh_depths[depths + bits], 1u);
    atomicAdd(&sh_depths[depths + bits + 1u], 2u);
    atomicSub(&sh_depths[depths + limit], 1u);
  }
}

// The lengths of `code_count` codes from `first_code` on, for the frequencies there.
fn make_lengths(first_code: u32, code_count: u32, thread: u32) {
  let begin = code_first(first_code);
  let last = first_code + code_count - 1u;
  let end = code_first(last) + code_symbols(last);
  if (thread < code_count) {
    atomicStore(&sh_used[first_code + thread], 0u);
  }
  if (thread < 16u * code_count) {
    atomicStore(&sh_depths[16u * first_code + thread], 0u);
  }
  workgroupBarrier();
  for (var i = begin + thread; i < end; i += kThreads) {
    sh_lengths[i] = 0u;
    sh_keys[i] = kNone;
    let code = code_at(i);
    if (is_symbol(i) && sh_frequencies[i] != 0u) {
      sh_keys[i] = (sh_frequencies[i] << kSymbolBits) | (i - code_first(code));
      atomicAdd(&sh_used[code], 1u);
    }
  }
  workgroupBarrier();
  // There are at least two symbols: if need be, some of the first three that do not occur.
  if (thread < code_count) {
    let code = first_code + thread;
    for (var symbol = 0u; symbol < 3u && atomicLoad(&sh_used[code]) < 2u; symbol++) {
      let i = code_first(code) + symbol;
      if (sh_keys[i] == kNone) {
        sh_keys[i] = symbol;
        atomicAdd(&sh_used[code], 1u);
      }
    }
  }
  workgroupBarrier();
  for (var i = begin + thread; i < end; i += kThreads) {
    let key = sh_keys[i];
    if (key != kNone) {
      let first = code_first(code_at(i));
      var rank = 0u;
      for (var other = first; other < first + code_symbols(code_at(i)); other++) {
        rank += select(0u, 1u, sh_keys[other] < key);
      }
      sh_sorted[first + rank] = key;
    }
  }
  workgroupBarrier();
  if (thread < code_count) {
    build_tree(code_first(first_code + thread), atomicLoad(&sh_used[first_code + thread]));
  }
  workgroupBarrier();
  for (var i = begin + thread; i < end; i += kThreads) {
    let code = code_at(i);
    let first = code_first(code);
    if (i - first < atomicLoad(&sh_used[code])) {
      let depth = sh_nodes[first + (sh_parents[i] & 0xFFFFu)] + 1u;
      atomicAdd(&sh_depths[16u * code + min(depth, max_bits(code))], 1u);
    }
  }
  workgroupBarrier();
  if (thread < code_count) {
    repair_depths(first_code + thread);
  }
  workgroupBarrier();
  // The longest codes go to the first of the sorted symbols.
  for (var i = begin + thread; i < end; i += kThreads) {
    let code = code_at(i);
    let first = code_first(code);
    if (i - first < atomicLoad(&sh_used[code])) {
      var bits = max_bits(code);
      var longer = atomicLoad(&sh_depths[16u * code + bits]);
      while (longer <= i - first) {
        bits--;
        longer += atomicLoad(&sh_depths[16u * code + bits]);
      }
      sh_lengths[first + (sh_sorted[i] & kSymbolMask)] = bits;
    }
  }
  workgroupBarrier();
}

// The canonical code of a symbol, as it is packed.
fn canonical_code(index: u32) -> u32 {
  let length = sh_lengths[index];
  if (length == 0u) {
    return 0u;
  }
  let code = code_at(index);
  var value = 0u;
  for (var bits = 1u; bits < length; bits++) {
    value = (value + atomicLoad(&sh_depths[16u * code + bits])) << 1u;
  }
  for (var other = code_first(code); other < index; other++) {
    value += select(0u, 1u, sh_lengths[other] == length);
  }
  return (reverseBits(value) >> (32u - length)) | (length << 16u);
}

fn fixed_length(symbol: u32) -> u32 {
  return select(select(select(8u, 7u, symbol >= 256u), 9u, symbol >= 144u && symbol < 256u), 8u, symbol >= 280u);
}

// The same of the fixed codes.
fn fixed_code(index: u32) -> u32 {
  if (index >= kDistanceCodes) {
    return (reverseBits(index - kDistanceCodes) >> (32u - kFixedDistanceBits)) | (kFixedDistanceBits << 16u);
  }
  var value = 0x30u + index;
  if (index >= 280u) {
    value = 0xC0u + index - 280u;
  } else if (index >= 256u) {
    value = index - 256u;
  } else if (index >= 144u) {
    value = 0x190u + index - 144u;
  }
  let length = fixed_length(index);
  return (reverseBits(value) >> (32u - length)) | (length << 16u);
}

// An element of the header's list: the code lengths of both codes, each without the zeros at its end.
fn listed_length(found: Found, place: u32) -> u32 {
  return sh_lengths[select(kDistanceCodes + place - found.litlen_count, place, place < found.litlen_count)];
}

// One lane: the items of the header, and how often each occurs.
fn list_items() {
  var found = Found(kLitlenCount, kDistanceCount, 0u, 0u);
  while (found.litlen_count > kEndOfBlock + 1u && sh_lengths[found.litlen_count - 1u] == 0u) {
    found.litlen_count--;
  }
  while (found.distance_count > 1u && sh_lengths[kDistanceCodes + found.distance_count - 1u] == 0u) {
    found.distance_count--;
  }
  for (var symbol = 0u; symbol < kPrecodeCount; symbol++) {
    sh_frequencies[kPrecodeFirst + symbol] = 0u;
  }
  let count = found.litlen_count + found.distance_count;
  var begin = 0u;
  while (begin < count) {
    let length = listed_length(found, begin);
    var end = begin + 1u;
    while (end < count && listed_length(found, end) == length) {
      end++;
    }
    // Takes the longest item that fits, until the run has ended.
    var left = end - begin;
    var is_first = true;
    while (left > 0u) {
      var symbol = length;
      var extra = 0u;
      var taken = 1u;
      if (length == 0u && left >= 11u) {
        symbol = kRepeatZeroLong;
        taken = min(left, 138u);
        extra = taken - 11u;
      } else if (length == 0u && left >= 3u) {
        symbol = kRepeatZero;
        taken = left;
        extra = taken - 3u;
      } else if (length != 0u && !is_first && left >= 3u) {
        symbol = kRepeatLast;
        taken = min(left, 6u);
        extra = taken - 3u;
      }
      sh_items[found.item_count] = symbol | (extra << 8u);
      found.item_count++;
      sh_frequencies[kPrecodeFirst + symbol]++;
      left -= taken;
      is_first = false;
    }
    begin = end;
  }
  sh_found = found;
}

fn item_extra_bits(symbol: u32) -> u32 {
  return select(select(select(0u, 7u, symbol == kRepeatZeroLong), 3u, symbol == kRepeatZero), 2u, symbol == kRepeatLast);
}

// The symbol whose length is at `index` of the code of the code lengths: 16, 17, 18, 0, then from 8 outwards.
fn precode_symbol(index: u32) -> u32 {
  if (index < 3u) {
    return 16u + index;
  }
  if (index == 3u) {
    return 0u;
  }
  return select(8u - (index - 3u) / 2u, 8u + (index - 4u) / 2u, index % 2u == 0u);
}

// Where the first token of a unit begins. For the number after the last unit, where the chunk ends.
fn unit_begin_position(chunk: Block, unit: u32) -> u32 {
  if (unit == 0u) {
    return 0u;
  }
  if (unit == unit_count(chunk.block_bytes)) {
    return chunk.block_bytes;
  }
  let tile = chunk.first_tile + unit * kUnitTiles;
  for (var word = 0u; word < kTilePositions / 32u; word++) {
    let starts = tokens[tile].starts[word];
    if (starts != 0u) {
      return unit * kUnitBytes + word * 32u + countTrailingZeros(starts);
    }
  }
  return unit * kUnitBytes;
}

struct Choice {
  kind: u32,
  bits: u32,
  header_bits: u32,
}

// Chooses how a part of these units is written. Its codes stay in workgroup memory.
fn choose(number: u32, chunk: Block, unit_begin: u32, unit_end: u32, thread: u32) -> Choice {
  var last_slot = unit_end;
  if (unit_end == unit_count(chunk.block_bytes)) {
    last_slot = (chunk.tile_count + kUnitTiles - 1u) / kUnitTiles;
  }
  for (var i = thread; i < kCodeCount; i += kThreads) {
    var sum = 0u;
    for (var slot = unit_begin; slot < last_slot; slot++) {
      sum += histograms[(number * kChunkUnits + slot) * kCodeCount + i];
    }
    sh_frequencies[i] = select(sum, 1u, i == kEndOfBlock);
  }
  if (thread == 0u) {
    atomicStore(&sh_dynamic_bits, 0u);
    atomicStore(&sh_fixed_bits, 0u);
    atomicStore(&sh_item_bits, 0u);
  }
  workgroupBarrier();
  make_lengths(0u, 2u, thread);
  if (thread == 0u) {
    list_items();
  }
  workgroupBarrier();
  make_lengths(kPrecode, 1u, thread);

  for (var i = thread; i < kCodeCount; i += kThreads) {
    let frequency = sh_frequencies[i];
    if (frequency != 0u) {
      var extra_bits = 0u;
      var fixed_bits = kFixedDistanceBits;
      if (i >= kDistanceCodes) {
        extra_bits = distance_extra_bits(i - kDistanceCodes);
      } else {
        fixed_bits = fixed_length(i);
        if (i >= kFirstLengthSymbol) {
          extra_bits = length_extra_bits(i);
        }
      }
      atomicAdd(&sh_dynamic_bits, frequency * (sh_lengths[i] + extra_bits));
      atomicAdd(&sh_fixed_bits, frequency * (fixed_bits + extra_bits));
    }
  }
  for (var i = thread; i < sh_found.item_count; i += kThreads) {
    let symbol = sh_items[i] & 0xFFu;
    atomicAdd(&sh_item_bits, sh_lengths[kPrecodeFirst + symbol] + item_extra_bits(symbol));
  }
  workgroupBarrier();

  var precode_count = kPrecodeCount;
  while (precode_count > 4u && sh_lengths[kPrecodeFirst + precode_symbol(precode_count - 1u)] == 0u) {
    precode_count--;
  }
  if (thread == 0u) {
    sh_found.precode_count = precode_count;
  }
  let header_bits = 14u + 3u * precode_count + atomicLoad(&sh_item_bits);
  let content_bytes = unit_begin_position(chunk, unit_end) - unit_begin_position(chunk, unit_begin);
  let fixed_bits = kBlockHeadBits + atomicLoad(&sh_fixed_bits);
  let stored_bits = kStoredHeadBits * ((content_bytes + kMostStoredBytes - 1u) / kMostStoredBytes) + 8u * content_bytes;
  var best = Choice(kDynamic, kBlockHeadBits + header_bits + atomicLoad(&sh_dynamic_bits), header_bits);
  if (fixed_bits <= best.bits) {
    best = Choice(kFixed, fixed_bits, 0u);
  }
  return best_with_stored(best, stored_bits);
}

fn best_with_stored(best: Choice, stored_bits: u32) -> Choice {
  if (stored_bits <= best.bits) {
    return Choice(kStored, stored_bits, best.header_bits);
  }
  return best;
}

@compute @workgroup_size(kThreads)
fn size_parts(@builtin(workgroup_id) id: vec3u, @builtin(num_workgroups) size: vec3u,
              @builtin(local_invocation_index) thread: u32) {
  let number = workgroup_number(id, size, parameters.workgroup_count);
  if (number >= parameters.workgroup_count) {
    return;
  }
  let chunk_number = number / kPairs;
  let chunk = chunks[chunk_number];
  let unit_begin = (number % kPairs) / kChunkUnits;
  let unit_end = number % kChunkUnits + 1u;
  if (unit_end <= unit_begin || unit_end > unit_count(chunk.block_bytes) || chunk.block_bytes == 0u) {
    return;
  }
  let choice = choose(chunk_number, chunk, unit_begin, unit_end, thread);
  if (thread == 0u) {
    part_bits[number] = choice.bits;
  }
}

struct Cut {
  unit_begin: u32,
  unit_end: u32,
}
var<workgroup> sh_cut: Cut;
var<workgroup> sh_best: array<u32, kChunkUnits + 1u>;  // the least bits of the units before
var<workgroup> sh_from: array<u32, kChunkUnits + 1u>;  // where the part that ends there begins

// One lane: the `index`-th part of the cheapest way to cut the chunk; none where it has fewer.
fn find_cut(number: u32, units: u32, index: u32) -> Cut {
  sh_best[0] = 0u;
  for (var end = 1u; end <= units; end++) {
    sh_best[end] = kNone;
    for (var begin = 0u; begin < end; begin++) {
      // The smallest sum; of equals, the one whose last part begins first.
      let bits = sh_best[begin] + part_bits[number * kPairs + begin * kChunkUnits + end - 1u];
      if (bits < sh_best[end]) {
        sh_best[end] = bits;
        sh_from[end] = begin;
      }
    }
  }
  var count = 0u;
  for (var end = units; end > 0u; end = sh_from[end]) {
    count++;
  }
  var cut = Cut(0u, 0u);
  var end = units;
  for (var left = count; left > index && end > 0u; left--) {
    cut = Cut(sh_from[end], end);
    end = sh_from[end];
  }
  return cut;
}

// Gathers bits into words of a header.
struct Packer {
  word: u32,
  held: u32,
  held_bits: u32,  // below 32
}

// `count` is at most 16. `held_bits` is at least 17 where a word is full.
fn packed(to_part: u32, before: Packer, value: u32, count: u32) -> Packer {
  var packer = before;
  packer.held |= value << packer.held_bits;
  let bits = packer.held_bits + count;
  if (bits < 32u) {
    packer.held_bits = bits;
    return packer;
  }
  parts[to_part].header[packer.word] = packer.held;
  return Packer(packer.word + 1u, value >> (32u - packer.held_bits), bits - 32u);
}

// One lane.
fn pack_header(part: u32) {
  let found = sh_found;
  var packer = packed(part, Packer(0u, 0u, 0u), found.litlen_count - 257u, 5u);
  packer = packed(part, packer, found.distance_count - 1u, 5u);
  packer = packed(part, packer, found.precode_count - 4u, 4u);
  for (var i = 0u; i < found.precode_count; i++) {
    packer = packed(part, packer, sh_lengths[kPrecodeFirst + precode_symbol(i)], 3u);
  }
  for (var i = 0u; i < found.item_count; i++) {
    let symbol = sh_items[i] & 0xFFu;
    let code = sh_nodes[kPrecodeFirst + symbol];
    packer = packed(part, packer, code & 0xFFFFu, code >> 16u);
    packer = packed(part, packer, sh_items[i] >> 8u, item_extra_bits(symbol));
  }
  parts[part].header[packer.word] = packer.held;
}

@compute @workgroup_size(kThreads)
fn make_parts(@builtin(workgroup_id) id: vec3u, @builtin(num_workgroups) size: vec3u,
              @builtin(local_invocation_index) thread: u32) {
  let number = workgroup_number(id, size, parameters.workgroup_count);
  if (number >= parameters.workgroup_count) {
    return;
  }
  let chunk_number = number / parameters.parts_a_chunk;
  let chunk = chunks[chunk_number];
  if (chunk.block_bytes == 0u) {
    return;
  }
  let units = unit_count(chunk.block_bytes);
  if (thread == 0u) {
    sh_cut = Cut(0u, units);
    if (parameters.parts_a_chunk > 1u) {
      sh_cut = find_cut(chunk_number, units, number % parameters.parts_a_chunk);
    }
  }
  let cut = workgroupUniformLoad(&sh_cut);
  if (cut.unit_end == 0u) {
    return;
  }
  let choice = choose(chunk_number, chunk, cut.unit_begin, cut.unit_end, thread);
  // A stored part keeps the smaller codes of the other two kinds: the next pass takes its prices from them.
  let is_fixed = choice.header_bits == 0u;
  for (var i = thread; i < kCodeCount; i += kThreads) {
    if (is_fixed) {
      parts[number].codes[i] = fixed_code(i);
    } else if (is_symbol(i)) {
      parts[number].codes[i] = canonical_code(i);
    } else {
      parts[number].codes[i] = 0u;
    }
  }
  if (thread < kPrecodeCount) {
    sh_nodes[kPrecodeFirst + thread] = canonical_code(kPrecodeFirst + thread);
  }
  workgroupBarrier();
  if (thread == 0u) {
    parts[number].kind = choice.kind;
    parts[number].bits = choice.bits;
    parts[number].header_bits = select(0u, choice.header_bits, choice.kind == kDynamic);
    parts[number].unit_begin = cut.unit_begin;
    parts[number].unit_end = cut.unit_end;
    parts[number].content_begin = unit_begin_position(chunk, cut.unit_begin);
    parts[number].content_end = unit_begin_position(chunk, cut.unit_end);
    if (choice.kind == kDynamic) {
      pack_header(number);
    }
  }
}
