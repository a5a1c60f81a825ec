// The number of bytes in which the data agrees at two places, up to `limit`; the first `known` are known to. Needs bytes.wgsl.
// Each turn compares eight bytes, and loads the two further words that this takes on either side, all at once.
fn common_length(a: u32, b: u32, known: u32, limit: u32) -> u32 {
  var length = known;
  if (length >= limit) {
    return limit;
  }
  var index_a = (a + known) >> 2u;
  var index_b = (b + known) >> 2u;
  let shift_a = ((a + known) & 3u) * 8u;
  let shift_b = ((b + known) & 3u) * 8u;
  var first_a = data_words[index_a];
  var first_b = data_words[index_b];
  while (length < limit) {
    let second_a = data_words[index_a + 1u];
    let second_b = data_words[index_b + 1u];
    let third_a = data_words[index_a + 2u];
    let third_b = data_words[index_b + 2u];
    let low = joined(first_a, second_a, shift_a) ^ joined(first_b, second_b, shift_b);
    let high = joined(second_a, third_a, shift_a) ^ joined(second_b, third_b, shift_b);
    if ((low | high) != 0u) {
      let agreed = select(4u + countTrailingZeros(high) / 8u, countTrailingZeros(low) / 8u, low != 0u);
      return min(length + agreed, limit);
    }
    first_a = third_a;
    first_b = third_b;
    index_a += 2u;
    index_b += 2u;
    length += 8u;
  }
  return limit;
}
