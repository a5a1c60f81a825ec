// Bytes in a buffer of words, least significant byte first. The importing shader declares `data_words: array<u32>`.

fn data_byte(place: u32) -> u32 {
  return (data_words[place >> 2u] >> ((place & 3u) * 8u)) & 0xFFu;
}

// The four bytes that begin `shift` bits (less than 32) into two consecutive words.
fn joined(low: u32, high: u32, shift: u32) -> u32 {
  // Two shifts on the left, since one by 32 bits is not defined.
  return (low >> shift) | ((high << 1u) << (31u - shift));
}

// The four bytes from `place` on, at any alignment. Reads up to four bytes further: buffers have slack at their end.
fn data_word(place: u32) -> u32 {
  let index = place >> 2u;
  return joined(data_words[index], data_words[index + 1u], (place & 3u) * 8u);
}
