// The symbols of DEFLATE and their numbers (block/deflate_symbols.hpp).

const kEndOfBlock = 256u;
const kFirstLengthSymbol = 257u;
const kLitlenCount = 286u;
const kDistanceCount = 30u;
const kMinMatch = 3u;
const kMaxMatch = 258u;
const kMostStoredBytes = 65535u;

// Lengths 3 to 258.
fn length_symbol(length: u32) -> u32 {
  let above = length - kMinMatch;
  if (above < 8u) {
    return kFirstLengthSymbol + above;
  }
  if (length == kMaxMatch) {
    return kFirstLengthSymbol + 28u;
  }
  let log = firstLeadingBit(above);
  return kFirstLengthSymbol + 4u * (log - 1u) + ((above >> (log - 2u)) & 3u);
}

fn length_extra_bits(symbol: u32) -> u32 {
  let index = symbol - kFirstLengthSymbol;
  return select((index >> 2u) - 1u, 0u, index < 8u || index == 28u);
}

fn length_base(symbol: u32) -> u32 {
  let index = symbol - kFirstLengthSymbol;
  if (index < 8u) {
    return kMinMatch + index;
  }
  if (index == 28u) {
    return kMaxMatch;
  }
  return kMinMatch + ((4u + (index & 3u)) << ((index >> 2u) - 1u));
}

// Distances 1 to 32768.
fn distance_symbol(distance: u32) -> u32 {
  let above = distance - 1u;
  if (above < 4u) {
    return above;
  }
  let log = firstLeadingBit(above);
  return 2u * log + ((above >> (log - 1u)) & 1u);
}

fn distance_extra_bits(symbol: u32) -> u32 {
  return select((symbol >> 1u) - 1u, 0u, symbol < 4u);
}

fn distance_base(symbol: u32) -> u32 {
  if (symbol < 4u) {
    return 1u + symbol;
  }
  return 1u + ((2u + (symbol & 1u)) << ((symbol >> 1u) - 1u));
}
