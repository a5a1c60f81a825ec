// Bytes in a buffer of words, least significant byte first. The importing shader declares `data_words: array<u32>`.

fn data_byte(place: u32) -> u32 {
  return (data_words[place >> 2u] >> ((place & 3u) * 8u)) & 0xFFu;
}

// The four bytes from `place` on, at any alignment. Reads up to three bytes further: buffers have slack behind them.
fn data_word(place: u32) -> u32 {
  let index = place >> 2u;
  let shift = (place & 3u) * 8u;
  let low = data_words[index];
  if (shift == 0u) {
    return low;
  }
  return (low >> shift) | (data_words[index + 1u] << (32u - shift));
}
