// The bytes that a match of at least `min_match_len` has to have, four at most, as a mask of the word at its position.
fn leading_mask(min_match_len: u32) -> u32 {
  return select(0xFFFFFFFFu, 0x00FFFFFFu, min_match_len == 3u);
}
