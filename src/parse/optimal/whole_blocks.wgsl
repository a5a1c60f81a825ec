// Whole blocks solved by an invocation each: what optimal_exact.wgsl and optimal_exact_table.wgsl share. The importing shader has the
// bindings `blocks`, `records`, `costs` and `decisions`, and a model of costs (cost_model.wgsl, cost_table.wgsl).

const kPassPositions = 8192u;

// At the end of a block there is nothing left to pay.
fn cost_from(place: u32, end: u32) -> u32 {
  var cost = 0u;
  if (place < end) {
    cost = costs[place];
  }
  return cost;
}

fn solve_blocks(id: vec3u, size: vec3u) {
  let number = workgroup_number(id, size, parameters.block_count);
  if (number >= parameters.block_count) {
    return;
  }
  let block = blocks[number];
  if (parameters.solved >= block.block_bytes) {
    return;
  }
  let begin = block_begin(block);
  let end = block_end(block);
  let first = end - parameters.solved;
  let last = first - min(kPassPositions, first - begin);
  var cost_after = cost_from(first, end);
  for (var left = first; left > last; left--) {
    let place = left - 1u;
    var best_cost = literal_cost() + cost_after;
    var best = 0u;
    let full = usable_match(records[place], place - begin, block.block_bytes, parameters.plan);
    if (full != 0u) {
      let offset_price = offset_cost(record_offset(full));
      for (var index = 0u; index < tried_length_count(); index++) {
        let length = tried_length(record_length(full), index);
        if (length < parameters.plan.min_match_length || length == 0u) {
          continue;
        }
        let cost = match_cost(length) + offset_price + cost_from(place + length, end);
        if (cost < best_cost) {
          best_cost = cost;
          best = pack_match(record_offset(full), length);
        }
      }
    }
    costs[place] = best_cost;
    cost_after = best_cost;
    decisions[place] = best;
  }
}
