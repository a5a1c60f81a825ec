// What literals and matches cost, and which lengths of a match are tried: the flat model of founding document 000
// (docs/founding.md), with a match at its full length alone (optimal.hpp, FullLengthCostModel), in bits; or LZ4's (format/lz4/compress/lz4_cost.hpp), in bytes. Both
// models give whole bits and bytes, so these order costs as sixteenths of a bit do. The importing shader's `parameters` have literal_cost and match_cost.
override lz4_costs: bool = false;

const kLz4LongestInToken = 18u;

fn literal_cost() -> u32 {
  return select(parameters.literal_cost, 1u, lz4_costs);
}

fn match_cost(length: u32) -> u32 {
  // The extension bytes: 1 for 19 to 273 bytes, then one more for each 255.
  return select(parameters.match_cost, 3u + (length + 236u) / 255u, lz4_costs);
}

fn offset_cost(offset: u32) -> u32 {
  return 0u;
}

fn tries_shorter_lengths() -> bool {
  return lz4_costs;
}

fn tried_length_count() -> u32 {
  return select(1u, 5u, lz4_costs);
}

fn tried_length(full: u32, index: u32) -> u32 {
  if (index <= 3u) {
    return select(0u, full - index, full > index);
  }
  return select(0u, kLz4LongestInToken, full > kLz4LongestInToken);
}
