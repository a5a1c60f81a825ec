// The part of a record that a format allows (parse/parse.hpp, usable_match). Needs records.wgsl.

struct Plan {  // core/block_plan.hpp
  min_match_length: u32,
  max_match_length: u32,
  max_offset: u32,
  last_match_start_gap: u32,
  last_match_end_gap: u32,
  unused_a: u32,  // a uniform block's parts are multiples of 16 bytes
  unused_b: u32,
  unused_c: u32,
}

// `position` counts from the block's first byte. 0 if nothing may be used.
fn usable_match(record: u32, position: u32, block_bytes: u32, plan: Plan) -> u32 {
  if (record == 0u || record_offset(record) > plan.max_offset || position + plan.last_match_start_gap > block_bytes ||
      position + plan.last_match_end_gap > block_bytes) {
    return 0u;
  }
  let room = block_bytes - plan.last_match_end_gap - position;
  let length = min(min(record_length(record), plan.max_match_length), room);
  return select(pack_match(record_offset(record), length), 0u, length < plan.min_match_length);
}
