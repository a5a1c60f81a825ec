// optimal: the cheapest way through each segment of 1024 positions (contract: optimal.hpp, parse_optimal).
//
// Passes      solve    a lane solves a segment, which is a tile, backwards over itself and 256 positions more; the lanes of a
//                      workgroup do so in step
//             take     an invocation turns the edges that were chosen for four positions into matches
// Buffers     blocks, tiles (read); records (read) 4 bytes a position; decisions (written by solve, read and written by take) 4
//             bytes a position: the match to take there, 0 for a literal. In between each word holds the edge chosen at its
//             position, the cost from there on, and the cost from the position 1024 further on, which the segment looks ahead to
// Workgroup   solve: 32 invocations, 5.4 KB: for each lane the costs from 64 positions on, two in a word (4 KB), what 8 positions
//             are to write (1.1 KB), and where its segment is. take: 256 invocations, none
// Little workgroup memory lets many workgroups share a processor, each of which waits for one cost after the other.
//
// Records. A lane reads its own, 8 at a time, while it works on the 8 before; neighbouring ones are in the cache by then. What it
// finds for 8 positions leaves through workgroup memory, so that it is written 32 bytes at a time and not 4.
//
// Costs. Most matches are short: workgroup memory holds the costs from the nearest 63 positions on. Longer matches look costs up in
// `decisions`, where those of finished positions stand. The 256 positions looked ahead to are those of another segment, so their
// costs stand in the words of this segment's first 256, which are solved last.
//
// Deciding. A cost is kept times 8, and each edge adds its number in the order of preference, 0 for the literal: the smallest sum
// is then the cheapest edge, and on equal cost the preferred one, in one minimum an edge.

#import gpu/webgpu/shared/workgroup.wgsl
#import match/common/blocks.wgsl
#import match/common/records.wgsl
#import parse/shared/usable.wgsl

struct Parameters {
  plan: Plan,
  tile_count: u32,
  workgroup_count: u32,  // of solve
  literal_cost: u32,     // bits
  match_cost: u32,
}

@group(0) @binding(0) var<uniform> parameters: Parameters;
@group(0) @binding(1) var<storage, read> blocks: array<Block>;
@group(0) @binding(2) var<storage, read> tiles: array<u32>;
@group(0) @binding(3) var<storage, read> records: array<u32>;
@group(0) @binding(4) var<storage, read_write> decisions: array<u32>;

#import parse/optimal/cost_model.wgsl

const kLanes = 32u;
const kStaged = 8u;  // positions whose decisions leave together
const kRow = kStaged + 1u;
const kNear = 63u;   // positions behind one whose costs are in workgroup memory
const kPairs = 32u;  // words that hold them
const kLookAheadPositions = 256u;
const kStages = (kTilePositions + kLookAheadPositions) / kStaged;

// Sums: a cost above the number of an edge. Costs have 15 bits, those of positions looked ahead to 13.
const kEdgeBits = 3u;
const kEdgeMask = 7u;
const kCostShift = 16u;
const kAheadShift = 3u;
const kAheadMask = 0xFFF8u;

var<workgroup> sh_pairs: array<u32, kLanes * kPairs>;
var<workgroup> sh_staged: array<u32, kLanes * kRow>;
var<workgroup> sh_begin: array<u32, kLanes>;   // byte of the data that is the segment's first position
var<workgroup> sh_solved: array<u32, kLanes>;  // positions of the segment, and those looked ahead to

// The length that an edge from 1 on stands for. One that would be shorter than the format's shortest match, or that there is
// not, is that of the first edge, which then costs the same and is preferred.
fn edge_length(full: u32, edge: u32) -> u32 {
  let tried = tried_length(full, edge - 1u);
  return select(full, tried, tried >= parameters.plan.min_match_length && tried > 0u);
}

fn edge_price(length: u32, edge: u32, most_priced: u32) -> u32 {
  return (match_cost(min(length, most_priced)) << kEdgeBits) + edge;
}

// The cost from a position of the segment whose words are finished in `decisions`; none at the horizon and beyond.
fn far_cost(begin: u32, solved: u32, position: u32) -> u32 {
  if (position >= solved) {
    return 0u;
  }
  let word = decisions[begin + (position & (kTilePositions - 1u))];
  return select(word >> kCostShift, (word & kAheadMask) >> kAheadShift, position >= kTilePositions) << kEdgeBits;
}

fn near_cost(lane: u32, position: u32) -> u32 {
  let pair = sh_pairs[((position / 2u) % kPairs) * kLanes + lane];
  return ((pair >> (16u * (position % 2u))) & 0xFFFFu) << kEdgeBits;
}

// A segment as its lane knows it.
struct Segment {
  begin: u32,        // byte of the data that is its first position
  solved: u32,       // its positions and those looked ahead to
  starts_end: u32,   // position before which a match may begin
  matches_end: u32,  // where it must end
}

fn edge_sum(lane: u32, segment: Segment, position: u32, full: u32, edge: u32, most_priced: u32) -> u32 {
  let length = edge_length(full, edge);
  var behind = 0u;
  if (length <= kNear) {
    behind = near_cost(lane, position + length);
  } else {
    behind = far_cost(segment.begin, segment.solved, position + length);
  }
  return behind + edge_price(length, edge, most_priced);
}

// The same where no edge is longer than kNear.
fn near_sum(lane: u32, position: u32, full: u32, edge: u32, most_priced: u32) -> u32 {
  let length = edge_length(full, edge);
  return near_cost(lane, position + length) + edge_price(length, edge, most_priced);
}

// The smallest sum of a position's edges; `cost` is that from the position behind it on.
fn best_sum(lane: u32, segment: Segment, position: u32, record: u32, cost: u32) -> u32 {
  if (position >= segment.solved) {
    return 0u;
  }
  var best = cost + (literal_cost() << kEdgeBits);
  if (record == 0u || position >= segment.starts_end || record_offset(record) > parameters.plan.max_offset) {
    return best;
  }
  let shortest = max(parameters.plan.min_match_length, 1u);
  let full = min(min(record_length(record), parameters.plan.max_match_length), segment.matches_end - position);
  if (full < shortest) {
    return best;
  }
  // priced_length() of optimal.hpp: no more than lies before the horizon.
  let most_priced = max(segment.solved - position, shortest);
  if (full <= kNear) {
    best = min(best, near_sum(lane, position, full, 1u, most_priced));
    if (lz4_costs) {
      best = min(best, min(near_sum(lane, position, full, 2u, most_priced), near_sum(lane, position, full, 3u, most_priced)));
      best = min(best, min(near_sum(lane, position, full, 4u, most_priced), near_sum(lane, position, full, 5u, most_priced)));
    }
  } else {
    for (var edge = 1u; edge <= tried_length_count(); edge++) {
      best = min(best, edge_sum(lane, segment, position, full, edge, most_priced));
    }
  }
  return best;
}

fn four_words(begin: u32, position: u32) -> vec4u {
  let first = begin + position;
  return vec4u(records[first], records[first + 1u], records[first + 2u], records[first + 3u]);
}

@compute @workgroup_size(kLanes)
fn solve(@builtin(workgroup_id) id: vec3u, @builtin(num_workgroups) size: vec3u,
         @builtin(local_invocation_index) lane: u32) {
  let tile = workgroup_number(id, size, parameters.workgroup_count) * kLanes + lane;
  var segment = Segment(0u, 0u, 0u, 0u);
  if (tile < parameters.tile_count) {
    let block = blocks[tiles[tile]];
    segment.begin = tile_begin(block, tile);
    let left = block_end(block) - segment.begin;
    segment.solved = min(left, kTilePositions + kLookAheadPositions);
    segment.matches_end = left - min(left, parameters.plan.last_match_end_gap);
    let gap = max(parameters.plan.last_match_start_gap, parameters.plan.last_match_end_gap);
    segment.starts_end = (left + 1u) - min(left + 1u, gap);
  }
  sh_begin[lane] = segment.begin;
  sh_solved[lane] = segment.solved;
  // Costs beyond all horizons. (Memory that WGSL says is zeroed is not on every driver.)
  for (var i = 0u; i < kPairs; i++) {
    sh_pairs[i * kLanes + lane] = 0u;
  }

  var cost = 0u;  // from the position to the right on
  var high = vec4u(0u);
  var low = vec4u(0u);
  if (segment.solved > (kStages - 1u) * kStaged) {
    low = four_words(segment.begin, (kStages - 1u) * kStaged);
    high = four_words(segment.begin, (kStages - 1u) * kStaged + kStaged / 2u);
  }
  for (var left = kStages; left > 0u; left--) {
    let first = (left - 1u) * kStaged;
    // The records of the next turn.
    var next_high = vec4u(0u);
    var next_low = vec4u(0u);
    if (first >= kStaged && first - kStaged < segment.solved) {
      next_low = four_words(segment.begin, first - kStaged);
      next_high = four_words(segment.begin, first - kStaged / 2u);
    }
    for (var i = kStaged; i > 0u; i -= 2u) {
      let position = first + i - 2u;
      let sum_b = best_sum(lane, segment, position + 1u, high.w, cost);
      let cost_b = sum_b & ~kEdgeMask;
      let pair = (position / 2u) % kPairs * kLanes + lane;
      sh_pairs[pair] = (cost_b >> kEdgeBits) << 16u;
      let sum_a = best_sum(lane, segment, position, high.z, cost_b);
      cost = sum_a & ~kEdgeMask;
      sh_pairs[pair] = ((cost_b >> kEdgeBits) << 16u) | (cost >> kEdgeBits);
      sh_staged[lane * kRow + i - 1u] = sum_b;
      sh_staged[lane * kRow + i - 2u] = sum_a;
      high = vec4u(low.zw, high.xy);
      low = vec4u(high.zw, low.xy);
    }
    high = next_high;
    low = next_low;
    workgroupBarrier();

    // Four segments at a time, 8 positions of each.
    let place = first + lane % kStaged;
    for (var r = lane / kStaged; r < kLanes; r += kLanes / kStaged) {
      if (place < sh_solved[r]) {
        let sum = sh_staged[r * kRow + lane % kStaged];
        let word = sh_begin[r] + (place & (kTilePositions - 1u));
        if (place >= kTilePositions) {
          decisions[word] = (sum >> kEdgeBits) << kAheadShift;
        } else {
          var ahead = 0u;
          if (place < kLookAheadPositions && place + kTilePositions < sh_solved[r]) {
            ahead = decisions[word] & kAheadMask;
          }
          decisions[word] = ((sum >> kEdgeBits) << kCostShift) | ahead | (sum & kEdgeMask);
        }
      }
    }
    // What was written is there for all lanes, and what was staged has been read.
    storageBarrier();
    workgroupBarrier();
  }
}

const kThreads = 256u;

@compute @workgroup_size(kThreads)
fn take(@builtin(workgroup_id) id: vec3u, @builtin(num_workgroups) size: vec3u,
        @builtin(local_invocation_index) thread: u32) {
  let tile = workgroup_number(id, size, parameters.tile_count);
  if (tile >= parameters.tile_count) {
    return;
  }
  let block = blocks[tiles[tile]];
  for (var place = tile_begin(block, tile) + thread; place < tile_end(block, tile); place += kThreads) {
    let edge = decisions[place] & kEdgeMask;
    var decision = 0u;
    if (edge != 0u) {
      let full = usable_match(records[place], place - block_begin(block), block.block_bytes, parameters.plan);
      decision = pack_match(record_offset(full), edge_length(record_length(full), edge));
    }
    decisions[place] = decision;
  }
}
