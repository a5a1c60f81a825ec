// Where segments.wgsl keeps costs of up to 29 bits: one in a word. Those of the 256 positions of look-ahead, which belong to
// another segment, are in a binding of their own, `ahead`.

const kSlots = 64u;  // words of near costs

var<workgroup> sh_costs: array<u32, kLanes * kSlots>;

// Costs beyond all horizons. (Not every driver zeroes memory, although WGSL requires it.)
fn clear_near(lane: u32) {
  for (var i = 0u; i < kSlots; i++) {
    sh_costs[i * kLanes + lane] = 0u;
  }
}

// The cost of an odd position, and then of the even one before it.
fn keep_odd(lane: u32, position: u32, cost: u32) {
  sh_costs[position % kSlots * kLanes + lane] = cost;
}

fn keep_even(lane: u32, position: u32, cost: u32, cost_behind: u32) {
  sh_costs[position % kSlots * kLanes + lane] = cost;
}

fn near_cost(lane: u32, position: u32) -> u32 {
  return sh_costs[position % kSlots * kLanes + lane];
}

// The cost from a position of the segment that keep_far() was given; 0 at the horizon and beyond.
fn far_cost(segment: Segment, position: u32) -> u32 {
  if (position >= segment.solved) {
    return 0u;
  }
  if (position >= kTilePositions) {
    return ahead[segment.tile * kLookAheadPositions + position - kTilePositions];
  }
  return decisions[segment.begin + position] & ~kEdgeMask;
}

// A position's sum: of the segment `tile`, which begins at byte `begin` of the data and has `solved` positions.
fn keep_far(tile: u32, begin: u32, solved: u32, position: u32, sum: u32) {
  if (position >= kTilePositions) {
    ahead[tile * kLookAheadPositions + position - kTilePositions] = sum & ~kEdgeMask;
  } else {
    decisions[begin + position] = sum;
  }
}
