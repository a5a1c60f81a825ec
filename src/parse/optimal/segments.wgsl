// Segments solved by the lanes of a workgroup: what optimal.wgsl and optimal_table.wgsl share. The importing shader has the bindings
// `blocks`, `tiles`, `records` and `decisions`, a model of costs (cost_model.wgsl, cost_table.wgsl) and a place where costs are kept
// (narrow_costs.wgsl, wide_costs.wgsl).
//
// Each workgroup waits for one cost after the other. So it uses little workgroup memory, which lets many of them share a processor.
//
// Records. A lane reads its own records, 8 at a time, while it works on the 8 before; neighbouring ones are in the cache by then.
// Its decisions for 8 positions go through workgroup memory, so that they are written 32 bytes at a time and not 4.
//
// Costs. Most matches are short: workgroup memory holds the costs from the nearest 63 positions on. Longer matches look costs up in
// `decisions`, where those of finished positions stand, with the number of the edge that was chosen, until take makes matches of them.
//
// Deciding. A cost is kept times 8, and each edge adds its number in the order of preference, 0 for the literal: the smallest sum
// is then the cheapest edge, and on equal cost the preferred one, in one minimum an edge.

const kLanes = 32u;
const kStaged = 8u;  // positions whose decisions leave together
const kRow = kStaged + 1u;
const kNear = 63u;  // positions behind one whose costs are in workgroup memory
const kLookAheadPositions = 256u;
const kStages = (kTilePositions + kLookAheadPositions) / kStaged;

// Sums: a cost above the number of an edge.
const kEdgeBits = 3u;
const kEdgeMask = 7u;

var<workgroup> sh_staged: array<u32, kLanes * kRow>;
var<workgroup> sh_begin: array<u32, kLanes>;   // byte of the data that is the segment's first position
var<workgroup> sh_solved: array<u32, kLanes>;  // positions of the segment, and those looked ahead to

// The length of an edge; edges count from 1. A missing edge, or one shorter than the format's shortest match, gets the length of
// the first edge, which then costs the same and is preferred.
fn edge_length(full: u32, edge: u32) -> u32 {
  let tried = tried_length(full, edge - 1u);
  return select(full, tried, tried >= parameters.plan.min_match_length && tried > 0u);
}

fn edge_price(length: u32, edge: u32, most_priced: u32) -> u32 {
  return (match_cost(min(length, most_priced)) << kEdgeBits) + edge;
}

// A segment as its lane knows it.
struct Segment {
  tile: u32,
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
    behind = far_cost(segment, position + length);
  }
  return behind + edge_price(length, edge, most_priced);
}

// The same where no edge is longer than kNear.
fn near_sum(lane: u32, position: u32, full: u32, edge: u32, most_priced: u32) -> u32 {
  let length = edge_length(full, edge);
  return near_cost(lane, position + length) + edge_price(length, edge, most_priced);
}

// The smallest sum of a position's edges; `cost` is the cost from the next position on.
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
  // priced_length() of optimal.hpp: only the part before the horizon.
  let most_priced = max(segment.solved - position, shortest);
  let offset_price = offset_cost(record_offset(record)) << kEdgeBits;
  if (full <= kNear) {
    best = min(best, near_sum(lane, position, full, 1u, most_priced) + offset_price);
    if (tries_shorter_lengths()) {
      best = min(best, min(near_sum(lane, position, full, 2u, most_priced), near_sum(lane, position, full, 3u, most_priced)) + offset_price);
      best = min(best, min(near_sum(lane, position, full, 4u, most_priced), near_sum(lane, position, full, 5u, most_priced)) + offset_price);
    }
  } else {
    for (var edge = 1u; edge <= tried_length_count(); edge++) {
      best = min(best, edge_sum(lane, segment, position, full, edge, most_priced) + offset_price);
    }
  }
  return best;
}

fn four_words(begin: u32, position: u32) -> vec4u {
  let first = begin + position;
  return vec4u(records[first], records[first + 1u], records[first + 2u], records[first + 3u]);
}

fn solve_segments(id: vec3u, size: vec3u, lane: u32) {
  let first_tile = workgroup_number(id, size, parameters.workgroup_count) * kLanes;
  let tile = first_tile + lane;
  var segment = Segment(tile, 0u, 0u, 0u, 0u);
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
  clear_near(lane);

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
      keep_odd(lane, position + 1u, cost_b);
      let sum_a = best_sum(lane, segment, position, high.z, cost_b);
      cost = sum_a & ~kEdgeMask;
      keep_even(lane, position, cost, cost_b);
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
        keep_far(first_tile + r, sh_begin[r], sh_solved[r], place, sh_staged[r * kRow + lane % kStaged]);
      }
    }
    // All lanes see what was written, and have read what was staged.
    storageBarrier();
    workgroupBarrier();
  }
}

const kThreads = 256u;

fn take_matches(id: vec3u, size: vec3u, thread: u32) {
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
