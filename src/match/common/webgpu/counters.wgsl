// Counters of a search (match/common/find_counters.hpp), 64 bits each as two words. The importing shader declares
// `counters: array<atomic<u32>>`. Sums do not depend on the order in which invocations add to them.

const kProbes = 0u;
const kStitchProbes = 1u;
const kRepeatedProbes = 2u;
const kLookups = 3u;
const kByteComparisons = 4u;

// 64 bits, lower word first.
fn add_wide(sum: vec2u, value: u32) -> vec2u {
  let low = sum.x + value;
  return vec2u(low, sum.y + select(0u, 1u, low < value));
}

fn add_to_counter(counter: u32, value: vec2u) {
  let before = atomicAdd(&counters[2u * counter], value.x);
  let high = value.y + select(0u, 1u, before + value.x < before);
  if (high != 0u) {
    atomicAdd(&counters[2u * counter + 1u], high);
  }
}

// A comparison that reads bytes one by one also reads the pair that differs.
fn compared_bytes(length: u32, limit: u32) -> u32 {
  return length + select(0u, 1u, length < limit);
}
