// Match records (core/match.hpp): offset in the upper half, length in the lower, 0 for no match.

const kMaxRecordLength = 65535u;
const kMaxRecordOffset = 65535u;

fn record_offset(record: u32) -> u32 {
  return record >> 16u;
}

fn record_length(record: u32) -> u32 {
  return record & 0xFFFFu;
}

fn pack_match(offset: u32, length: u32) -> u32 {
  return select((offset << 16u) | min(length, kMaxRecordLength), 0u, length == 0u);
}

// The longer match is better, of equals the one with the smaller offset: larger numbers are better matches.
fn match_rank(record: u32) -> u32 {
  return (record << 16u) | (0xFFFFu - (record >> 16u));
}
