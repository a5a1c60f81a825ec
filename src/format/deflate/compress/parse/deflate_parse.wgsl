// The parse of DEFLATE's chunks (contract: parse/optimal/optimal.hpp with the costs of deflate_cost.hpp): two candidates a position,
// a price for each literal, each length and each class of distances, from the codes of the pass before.
//
// Passes      solve    a lane solves a segment, which is a tile, backwards over itself and 256 positions more; a workgroup takes the
//                      segments of half a chunk, in step
// Buffers     data_words, chunks (read); records (read) 4 bytes a position: the first candidates; near_records (read) 4 bytes a
//             position: the second ones; decisions (written) 4 bytes a position: the match to take there, 0 for a literal; costs
//             (written and read) 131072 bytes a chunk: from the last 512 positions on; parts (read) 1640 bytes a part: whose codes
//             give the prices, unless this is the first pass
// Workgroup   32 invocations, 7.5 KB in arrays: for each lane the costs from 64 positions on, two in a word (4 KB), the prices of four units,
//             a byte each (2.2 KB), what 8 positions are to write (1.1 KB), and where the segments are
//
// All prices are whole bits, and the cheapest way never costs more than all literals, so a cost has 15 bits. Costs from farther away than
// workgroup memory holds stand in `costs`, those of the 32 lanes side by side; a lane reads what it wrote itself.
//
// Deciding. A cost and a rank make one number, the cost in the upper bits. The literal has rank 0, then longer matches come before
// shorter ones, and of equal lengths the nearer one. The smallest number is the decision.

#import gpu/webgpu/shared/workgroup.wgsl
#import gpu/webgpu/shared/bytes.wgsl
#import match/common/webgpu/blocks.wgsl
#import match/common/webgpu/records.wgsl
#import format/deflate/block/deflate_symbols.wgsl

struct Parameters {
  workgroup_count: u32,
  parts_a_chunk: u32,  // 0 in the first pass
}

@group(0) @binding(0) var<uniform> parameters: Parameters;
@group(0) @binding(1) var<storage, read> data_words: array<u32>;
@group(0) @binding(2) var<storage, read> chunks: array<Block>;
@group(0) @binding(3) var<storage, read> records: array<u32>;
@group(0) @binding(4) var<storage, read> near_records: array<u32>;
@group(0) @binding(5) var<storage, read_write> decisions: array<u32>;
@group(0) @binding(6) var<storage, read_write> costs: array<u32>;
@group(0) @binding(7) var<storage, read> parts: array<Part>;

#import format/deflate/compress/deflate_parts.wgsl

const kLanes = 32u;
const kHalves = kChunkTiles / kLanes;
const kHalfUnits = kLanes / kUnitTiles;
const kStaged = 8u;  // positions whose decisions leave together
const kRow = kStaged + 1u;
const kLookAheadPositions = 256u;
const kStages = (kTilePositions + kLookAheadPositions) / kStaged;
const kNear = 63u;  // positions behind one whose costs are in workgroup memory
const kPairs = 32u;
const kRing = 512u;  // positions whose costs are in `costs`

const kTriedLengths = 4u;

// Prices of symbols that the pass before did not use.
const kUnusedLiteralBits = 13u;
const kUnusedLengthBits = 12u;
const kUnusedDistanceBits = 10u;

// Entries of a table of prices, a byte each: literals, lengths from 0 on, distances by their symbol.
const kLengthPrices = 256u;
const kDistancePrices = 516u;
const kPriceWords = 137u;

const kRankBits = 10u;
const kRankMask = 1023u;
const kRankedLength = kMaxMatch + 1u;

var<workgroup> sh_prices: array<u32, kHalfUnits * kPriceWords>;
var<workgroup> sh_pairs: array<u32, kLanes * kPairs>;
var<workgroup> sh_staged: array<u32, kLanes * kRow>;
var<workgroup> sh_begin: array<u32, kLanes>;  // byte of the data that is the segment's first position
var<workgroup> sh_count: array<u32, kLanes>;  // its positions

fn code_bits(part: u32, symbol: u32, unused_bits: u32) -> u32 {
  let bits = parts[part].codes[symbol] >> 16u;
  return select(bits, unused_bits, bits == 0u);
}

fn made_price(part: u32, entry: u32) -> u32 {
  let first_pass = parameters.parts_a_chunk == 0u;
  if (entry < kLengthPrices) {
    if (first_pass) {
      return 8u;
    }
    return code_bits(part, entry, kUnusedLiteralBits);
  }
  if (entry < kDistancePrices) {
    let length = entry - kLengthPrices;
    if (length < kMinMatch || length > kMaxMatch) {
      return 0u;
    }
    let symbol = length_symbol(length);
    let extra_bits = length_extra_bits(symbol);
    if (first_pass) {
      return 6u + (symbol - kFirstLengthSymbol) / 4u + extra_bits;
    }
    return code_bits(part, symbol, kUnusedLengthBits) + extra_bits;
  }
  let symbol = entry - kDistancePrices;
  if (symbol >= kDistanceCount) {
    return 0u;
  }
  if (first_pass) {
    return 5u + distance_extra_bits(symbol);
  }
  return code_bits(part, kDistanceCodes + symbol, kUnusedDistanceBits) + distance_extra_bits(symbol);
}

// The last part of the chunk that begins in the unit or before it.
fn part_of_unit(chunk: u32, unit: u32) -> u32 {
  let first = chunk * parameters.parts_a_chunk;
  var part = first;
  let end_unit = unit_count(chunks[chunk].block_bytes);
  while (part + 1u < first + parameters.parts_a_chunk && parts[part].unit_end < end_unit && parts[part].unit_end <= unit) {
    part++;
  }
  return part;
}

// Where a chunk is one part, one table is enough.
fn table_count() -> u32 {
  return select(1u, kHalfUnits, parameters.parts_a_chunk > 1u);
}

fn make_prices(chunk: u32, half: u32, lane: u32) {
  for (var table = 0u; table < table_count(); table++) {
    let part = part_of_unit(chunk, half * kHalfUnits + table);
    for (var word = lane; word < kPriceWords; word += kLanes) {
      var four = 0u;
      for (var i = 0u; i < 4u; i++) {
        four |= made_price(part, word * 4u + i) << (8u * i);
      }
      sh_prices[table * kPriceWords + word] = four;
    }
  }
}

// A segment as its lane knows it.
struct Segment {
  begin: u32,   // byte of the data that is its first position
  solved: u32,  // its positions and those looked ahead to
  left: u32,    // positions from its first to the chunk's end
  table: u32,   // of prices: its first word
  ring: u32,    // of costs: its first word
}

fn price(segment: Segment, entry: u32) -> u32 {
  return (sh_prices[segment.table + entry / 4u] >> (8u * (entry % 4u))) & 0xFFu;
}

// The cost from `length` positions after `position` on; 0 at the horizon and beyond.
fn cost_behind(segment: Segment, lane: u32, position: u32, length: u32) -> u32 {
  let there = position + length;
  if (there >= segment.solved) {
    return 0u;
  }
  if (length <= kNear) {
    return (sh_pairs[((there / 2u) % kPairs) * kLanes + lane] >> (16u * (there % 2u))) & 0xFFFFu;
  }
  return costs[segment.ring + (there % kRing) * kLanes];
}

// From the last position to the first.
fn keep_cost(segment: Segment, lane: u32, position: u32, cost: u32) {
  let pair = ((position / 2u) % kPairs) * kLanes + lane;
  if (position % 2u == 1u) {
    sh_pairs[pair] = cost << 16u;
  } else {
    sh_pairs[pair] |= cost;
  }
  costs[segment.ring + (position % kRing) * kLanes] = cost;
}

fn match_sum(segment: Segment, lane: u32, position: u32, length: u32, distance_price: u32, farther: u32) -> u32 {
  // priced_length() of optimal.hpp: only the part before the horizon.
  let priced = min(length, max(segment.solved - position, kMinMatch));
  let cost = cost_behind(segment, lane, position, length) + price(segment, kLengthPrices + priced) + distance_price;
  return (cost << kRankBits) | ((kRankedLength - length) << 1u) | farther;
}

struct Decided {
  cost: u32,
  decision: u32,
}

// `cost` is the cost from the next position on.
fn decide(segment: Segment, lane: u32, position: u32, record: u32, near_record: u32, literal: u32, cost: u32) -> Decided {
  if (position >= segment.solved) {
    return Decided(0u, 0u);
  }
  let room = segment.left - position;
  let length = min(min(record_length(record), kMaxMatch), room);
  let offset = select(0u, record_offset(record), length >= kMinMatch);
  let near_length = min(record_length(near_record), room);
  var near_offset = select(0u, record_offset(near_record), near_length >= kMinMatch);
  if (near_offset == offset) {
    near_offset = 0u;
  }
  // The rank tells the candidate, where both are tried.
  let first_is_farther = select(0u, 1u, near_offset != 0u && offset > near_offset);
  var best = (cost + price(segment, literal)) << kRankBits;
  if (offset != 0u) {
    let distance_price = price(segment, kDistancePrices + distance_symbol(offset));
    for (var shorter = 0u; shorter < kTriedLengths; shorter++) {
      if (length >= kMinMatch + shorter) {
        best = min(best, match_sum(segment, lane, position, length - shorter, distance_price, first_is_farther));
      }
    }
  }
  if (near_offset != 0u) {
    let distance_price = price(segment, kDistancePrices + distance_symbol(near_offset));
    best = min(best, match_sum(segment, lane, position, near_length, distance_price, 1u - first_is_farther));
    best = min(best, match_sum(segment, lane, position, kMinMatch, distance_price, 1u - first_is_farther));
  }
  let rank = best & kRankMask;
  var decision = 0u;
  if (rank != 0u) {
    let is_first = near_offset == 0u || (offset != 0u && (rank & 1u) == first_is_farther);
    decision = pack_match(select(near_offset, offset, is_first), kRankedLength - (rank >> 1u));
  }
  return Decided(best >> kRankBits, decision);
}

@compute @workgroup_size(kLanes)
fn solve(@builtin(workgroup_id) id: vec3u, @builtin(num_workgroups) size: vec3u,
         @builtin(local_invocation_index) lane: u32) {
  let number = workgroup_number(id, size, parameters.workgroup_count);
  if (number >= parameters.workgroup_count) {
    return;
  }
  let chunk = number / kHalves;
  let half = number % kHalves;
  let row = chunks[chunk];
  if (half * kLanes >= row.tile_count) {
    return;
  }
  make_prices(chunk, half, lane);
  var segment = Segment(0u, 0u, 0u, 0u, number * kRing * kLanes + lane);
  var count = 0u;
  let in_chunk = half * kLanes + lane;
  if (in_chunk < row.tile_count) {
    let tile = row.first_tile + in_chunk;
    segment.begin = tile_begin(row, tile);
    segment.left = block_end(row) - segment.begin;
    segment.solved = min(segment.left, kTilePositions + kLookAheadPositions);
    segment.table = min(lane / kUnitTiles, table_count() - 1u) * kPriceWords;
    count = tile_end(row, tile) - segment.begin;
  }
  sh_begin[lane] = segment.begin;
  sh_count[lane] = count;
  workgroupBarrier();

  var cost = 0u;  // from the position to the right on
  for (var left = kStages; left > 0u; left--) {
    let first = (left - 1u) * kStaged;
    if (first < segment.solved) {
      let place = segment.begin + first;
      var low = vec4u(records[place], records[place + 1u], records[place + 2u], records[place + 3u]);
      var high = vec4u(records[place + 4u], records[place + 5u], records[place + 6u], records[place + 7u]);
      var near_low = vec4u(near_records[place], near_records[place + 1u], near_records[place + 2u], near_records[place + 3u]);
      var near_high = vec4u(near_records[place + 4u], near_records[place + 5u], near_records[place + 6u], near_records[place + 7u]);
      var bytes_low = data_word(place);
      var bytes_high = data_word(place + 4u);
      for (var i = kStaged; i > 0u; i--) {
        let position = first + i - 1u;
        let decided = decide(segment, lane, position, high.w, near_high.w, bytes_high >> 24u, cost);
        cost = decided.cost;
        keep_cost(segment, lane, position, cost);
        sh_staged[lane * kRow + i - 1u] = decided.decision;
        high = vec4u(low.w, high.xyz);
        low = vec4u(0u, low.xyz);
        near_high = vec4u(near_low.w, near_high.xyz);
        near_low = vec4u(0u, near_low.xyz);
        bytes_high = (bytes_high << 8u) | (bytes_low >> 24u);
        bytes_low = bytes_low << 8u;
      }
    }
    workgroupBarrier();
    // Four segments at a time, 8 positions of each.
    let position = first + lane % kStaged;
    for (var r = lane / kStaged; r < kLanes; r += kLanes / kStaged) {
      if (position < sh_count[r]) {
        decisions[sh_begin[r] + position] = sh_staged[r * kRow + lane % kStaged];
      }
    }
    // All have read what was staged.
    workgroupBarrier();
  }
}
