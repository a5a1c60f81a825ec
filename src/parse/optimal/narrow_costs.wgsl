// Where segments.wgsl keeps costs of up to 15 bits, those of positions looked ahead to of up to 13: two in a word.
//
// Until take has passed, each word of `decisions` holds the edge chosen at its position, the cost from there on, and the cost from the
// position 1024 further on, which the segment looks ahead to: those 256 positions are another segment's, so their costs stand in
// the words of this segment's first 256, which are solved last.

const kPairs = 32u;  // words of near costs
const kCostShift = 16u;
const kAheadShift = 3u;
const kAheadMask = 0xFFF8u;

var<workgroup> sh_pairs: array<u32, kLanes * kPairs>;

// Costs beyond all horizons. (Not every driver zeroes memory, although WGSL requires it.)
fn clear_near(lane: u32) {
  for (var i = 0u; i < kPairs; i++) {
    sh_pairs[i * kLanes + lane] = 0u;
  }
}

// The cost of an odd position, and then of the even one before it.
fn keep_odd(lane: u32, position: u32, cost: u32) {
  sh_pairs[(position / 2u) % kPairs * kLanes + lane] = (cost >> kEdgeBits) << 16u;
}

fn keep_even(lane: u32, position: u32, cost: u32, cost_behind: u32) {
  sh_pairs[(position / 2u) % kPairs * kLanes + lane] = ((cost_behind >> kEdgeBits) << 16u) | (cost >> kEdgeBits);
}

fn near_cost(lane: u32, position: u32) -> u32 {
  let pair = sh_pairs[((position / 2u) % kPairs) * kLanes + lane];
  return ((pair >> (16u * (position % 2u))) & 0xFFFFu) << kEdgeBits;
}

// The cost from a position of the segment that keep_far() was given; 0 at the horizon and beyond.
fn far_cost(segment: Segment, position: u32) -> u32 {
  if (position >= segment.solved) {
    return 0u;
  }
  let word = decisions[segment.begin + (position & (kTilePositions - 1u))];
  return select(word >> kCostShift, (word & kAheadMask) >> kAheadShift, position >= kTilePositions) << kEdgeBits;
}

// A position's sum: of the segment `tile`, which begins at byte `begin` of the data and has `solved` positions.
fn keep_far(tile: u32, begin: u32, solved: u32, position: u32, sum: u32) {
  let word = begin + (position & (kTilePositions - 1u));
  if (position >= kTilePositions) {
    decisions[word] = (sum >> kEdgeBits) << kAheadShift;
  } else {
    var ahead = 0u;
    if (position < kLookAheadPositions && position + kTilePositions < solved) {
      ahead = decisions[word] & kAheadMask;
    }
    decisions[word] = ((sum >> kEdgeBits) << kCostShift) | ahead | (sum & kEdgeMask);
  }
}
