// optimal: the cheapest way through each segment of 1024 positions (contract: optimal.hpp, parse_optimal).
//
// Passes      solve    a lane solves a segment, which is a tile, backwards over itself and 256 positions more; the lanes of a
//                      workgroup do so in step
//             take     an invocation turns the edges that were chosen for four positions into matches
// Buffers     blocks, tiles (read); records (read) 4 bytes a position; decisions (written by solve, read and written by take) 4
//             bytes a position: the match to take there, 0 for a literal. In between each word holds the edge chosen at its
//             position, the cost from there on, and the cost from the position 1024 further on, which the segment looks ahead to
// Workgroup   solve: 32 invocations, 12.4 KB: for each lane a ring of 96 positions, and where its segment is. take: 256 invocations, none
// Records. Lanes read records 4 KB apart, so the workgroup fetches 32 positions of 32 segments at a time, a row after another, to
// where the costs of these positions will be. The lanes then replace them by costs, from the last to the first.
//
// Costs. Most matches are short: the ring holds the costs of the 64 positions behind the 32 that are being solved. Longer matches
// look costs up in `decisions`, where those of finished positions stand. The 256 positions looked ahead to are those of
// another segment, so their costs stand in the words of this segment's first 256, which are solved last.
//
// Deciding. A cost is kept times 8, and each edge adds its number in the order of preference, 0 for the literal: the smallest sum
// is then the cheapest edge, and on equal cost the preferred one, in one minimum an edge.

#import device/webgpu/shared/workgroup.wgsl
#import device/webgpu/shared/blocks.wgsl
#import device/webgpu/shared/records.wgsl
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
const kStaged = 32u;  // positions that are fetched at a time
const kNear = 64u;    // costs of that many positions behind them are in the ring
const kRing = kNear + kStaged;
const kRow = kRing + 1u;  // along a row and down a column, neighbouring lanes use different banks
const kLookAheadPositions = 256u;
const kStages = (kTilePositions + kLookAheadPositions) / kStaged;

// Sums: a cost above the number of an edge. Costs have 15 bits, those of positions looked ahead to 13.
const kEdgeBits = 3u;
const kEdgeMask = 7u;
const kCostShift = 16u;
const kAheadShift = 3u;
const kAheadMask = 0xFFF8u;

var<workgroup> sh_words: array<u32, kLanes * kRow>;
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

// The ring's place that is `distance`, at most kNear, behind another.
fn ring_behind(place: u32, distance: u32) -> u32 {
  let sum = place + distance;
  return select(sum, sum - kRing, sum >= kRing);
}

@compute @workgroup_size(kLanes)
fn solve(@builtin(workgroup_id) id: vec3u, @builtin(num_workgroups) size: vec3u,
         @builtin(local_invocation_index) lane: u32) {
  let tile = workgroup_number(id, size, parameters.workgroup_count) * kLanes + lane;
  var begin = 0u;
  var solved = 0u;
  // Positions from the segment's begin on: before which a match may begin, and where it must end.
  var starts_end = 0u;
  var matches_end = 0u;
  if (tile < parameters.tile_count) {
    let block = blocks[tiles[tile]];
    begin = tile_begin(block, tile);
    let left = block_end(block) - begin;
    solved = min(left, kTilePositions + kLookAheadPositions);
    matches_end = left - min(left, parameters.plan.last_match_end_gap);
    let gap = max(parameters.plan.last_match_start_gap, parameters.plan.last_match_end_gap);
    starts_end = (left + 1u) - min(left + 1u, gap);
  }
  sh_begin[lane] = begin;
  sh_solved[lane] = solved;
  let shortest = max(parameters.plan.min_match_length, 1u);
  let ring = lane * kRow;
  // Costs beyond all horizons. (Memory that WGSL says is zeroed is not on every driver.)
  for (var i = 0u; i < kRing; i++) {
    sh_words[ring + i] = 0u;
  }
  workgroupBarrier();

  var cost = 0u;  // from the position to the right on
  for (var left = kStages; left > 0u; left--) {
    let first = (left - 1u) * kStaged;
    let first_in_ring = first % kRing;
    for (var r = 0u; r < kLanes; r++) {
      if (first + lane < sh_solved[r]) {
        sh_words[r * kRow + first_in_ring + lane] = records[sh_begin[r] + first + lane];
      }
    }
    // The words that the stage before wrote to `decisions` are there for all lanes as well.
    storageBarrier();
    workgroupBarrier();

    for (var i = kStaged; i > 0u; i--) {
      let in_ring = first_in_ring + i - 1u;
      let position = first + i - 1u;
      var best = 0u;
      if (position < solved) {
        best = cost + (literal_cost() << kEdgeBits);
        let record = sh_words[ring + in_ring];
        if (record != 0u && position < starts_end && record_offset(record) <= parameters.plan.max_offset) {
          let full = min(min(record_length(record), parameters.plan.max_match_length), matches_end - position);
          // priced_length() of optimal.hpp: no more than lies before the horizon.
          let most_priced = max(solved - position, shortest);
          if (full >= shortest && full <= kNear) {
            for (var edge = 1u; edge <= tried_length_count(); edge++) {
              let length = edge_length(full, edge);
              let behind = sh_words[ring + ring_behind(in_ring, length)] & ~kEdgeMask;
              best = min(best, behind + edge_price(length, edge, most_priced));
            }
          } else if (full >= shortest) {
            for (var edge = 1u; edge <= tried_length_count(); edge++) {
              let length = edge_length(full, edge);
              var behind = 0u;
              if (length <= kNear) {  // not all are in `decisions` yet
                behind = sh_words[ring + ring_behind(in_ring, length)] & ~kEdgeMask;
              } else {
                behind = far_cost(begin, solved, position + length);
              }
              best = min(best, behind + edge_price(length, edge, most_priced));
            }
          }
        }
      }
      cost = best & ~kEdgeMask;
      sh_words[ring + in_ring] = best;
    }
    workgroupBarrier();

    let place = first + lane;
    for (var r = 0u; r < kLanes; r++) {
      if (place < sh_solved[r]) {
        let sum = sh_words[r * kRow + first_in_ring + lane];
        let word = sh_begin[r] + (place & (kTilePositions - 1u));
        if (place >= kTilePositions) {
          decisions[word] = (sum >> kEdgeBits) << kAheadShift;
        } else if (place < kLookAheadPositions && place + kTilePositions < sh_solved[r]) {
          decisions[word] = (decisions[word] & kAheadMask) | ((sum >> kEdgeBits) << kCostShift) | (sum & kEdgeMask);
        } else {
          decisions[word] = ((sum >> kEdgeBits) << kCostShift) | (sum & kEdgeMask);
        }
      }
    }
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
