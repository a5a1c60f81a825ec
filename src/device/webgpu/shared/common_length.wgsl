// How far the data agrees at two places, from `known` bytes that are known to, up to `limit`. Needs bytes.wgsl.
fn common_length(a: u32, b: u32, known: u32, limit: u32) -> u32 {
  var length = known;
  while (length < limit) {
    let difference = data_word(a + length) ^ data_word(b + length);
    if (difference != 0u) {
      return min(length + countTrailingZeros(difference) / 8u, limit);
    }
    length += 4u;
  }
  return limit;
}
