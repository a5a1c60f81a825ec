// A mask for the word at a position: the bytes, at most four, in which a match of at least `min_match_len` must agree.
fn leading_mask(min_match_len: u32) -> u32 {
  return select(0xFFFFFFFFu, 0x00FFFFFFu, min_match_len == 3u);
}
