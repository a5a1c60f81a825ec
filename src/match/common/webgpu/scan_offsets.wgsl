// Trying one offset after the other, upwards. Nearly all fail in their first bytes, so a word of the data is loaded once and
// serves four candidates. Needs bytes.wgsl. The importing shader declares
//   fn try_offset(offset: u32) -> bool    called where the leading bytes agree; true ends the scan

// Offsets first..last, at least 1 and at most `place`. True where one ended the scan.
fn scan_offsets(place: u32, first: u32, last: u32, mask: u32) -> bool {
  if (first > last) {
    return false;
  }
  let wanted = data_word(place) & mask;
  let nearest = place - first;
  let farthest = place - last;
  var index = nearest >> 2u;
  var high = data_words[index + 1u];
  for (var left_words = index - (farthest >> 2u) + 1u; left_words > 0u; left_words--) {
    let low = data_words[index];
    // The words at the four bytes of this one, the farthest first.
    let words = vec4u(low, (low >> 8u) | (high << 24u), (low >> 16u) | (high << 16u), (low >> 24u) | (high << 8u));
    let agree = (words & vec4u(mask)) == vec4u(wanted);
    if (any(agree)) {
      for (var left = 4u; left > 0u; left--) {
        let candidate = index * 4u + left - 1u;
        if (agree[left - 1u] && candidate >= farthest && candidate <= nearest && try_offset(place - candidate)) {
          return true;
        }
      }
    }
    high = low;
    index--;
  }
  return false;
}
