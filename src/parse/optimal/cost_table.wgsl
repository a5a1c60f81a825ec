// What literals and matches cost, in sixteenths of a bit, by a table in the binding `prices` (cost_table.hpp): a price for each
// length of a match, and one for each class of its offset. Tried are a match's full length and the three below it.

const kLastLength = 1u;  // words of `prices`: the literal's price, the last length that has one of its own,
const kOffsetPrices = 2u;   // one for each of 32 classes of offsets,
const kLengthPrices = 34u;  // and one for each length from 0 on

fn literal_cost() -> u32 {
  return prices[0];
}

fn match_cost(length: u32) -> u32 {
  return prices[kLengthPrices + min(length, prices[kLastLength])];
}

fn offset_cost(offset: u32) -> u32 {
  let distance = offset - 1u;
  if (distance < 2u) {
    return prices[kOffsetPrices + distance];
  }
  let log = firstLeadingBit(distance);
  return prices[kOffsetPrices + 2u * log + ((distance >> (log - 1u)) & 1u)];
}

fn tries_shorter_lengths() -> bool {
  return true;
}

fn tried_length_count() -> u32 {
  return 4u;
}

fn tried_length(full: u32, index: u32) -> u32 {
  return select(0u, full - index, index < 4u && full > index);
}
