// Sequences of LZ4 blocks that are restored: how they are listed, and how lengths are read. The importing shader declares
// `data_words`, and imports bytes.wgsl.

struct Block {
  begin: u32,           // byte of the data where the history begins
  history_bytes: u32,   // the compressed block begins behind them
  block_bytes: u32,     // compressed
  room_bytes: u32,      // what it may restore to
  first_sequence: u32,
  output_begin: u32,    // a whole word
}

struct Sequence {
  output: u32,    // where its literals go, from the block's output on
  literals: u32,  // byte of the data
  count: u32,     // of literals; the two bytes after them are the offset
}

const kMinMatchBytes = 4u;
const kInput = 0x80000000u;  // marks a source as a byte of the data

const kOk = 0u;
const kCorrupt = 1u;
const kTooSmall = 2u;
const kUnfinished = 3u;
const kNone = 0xFFFFFFFFu;

// A number that began in a token's nibble: its value, and the place after it; or the fact that the input ended.
struct Number {
  value: u32,
  place: u32,
  ended: bool,
}

fn read_number(nibble: u32, first: u32, end: u32) -> Number {
  var value = nibble;
  var place = first;
  if (nibble == 15u) {
    // Four bytes of 255 at once: a run of 4 MB has 16448.
    while (place + 4u <= end && data_word(place) == 0xFFFFFFFFu) {
      value += 4u * 255u;
      place += 4u;
    }
    loop {
      if (place >= end) {
        return Number(0u, place, true);
      }
      let more = data_byte(place);
      place++;
      value += more;
      if (more != 255u) {
        break;
      }
    }
  }
  return Number(value, place, false);
}

// Links: positions from the window's begin on, in 16 bits.
const kStops = 0x8000u;
const kBothHalves = 0x10001u;
const kExtensions = 4u;

// A sequence that would begin at a position, if no chain stops there.
struct Passed {
  stops: bool,
  next: u32,  // place behind it
  literals: u32,
  literal_extensions: u32,  // bytes after the token that the number of literals takes
  restored: u32,            // literals and match
}

// The bytes that follow a nibble of 15: their sum and their number, which is above kExtensions if there are more.
fn extension(first: u32) -> vec2u {
  var sum = 0u;
  for (var count = 1u; count <= kExtensions; count++) {
    let more = data_byte(first + count - 1u);
    sum += more;
    if (more != 255u) {
      return vec2u(sum, count);
    }
  }
  return vec2u(sum, kExtensions + 1u);
}

fn passed(place: u32, token: u32, end: u32) -> Passed {
  var literals = vec2u(token >> 4u, 0u);
  if (literals.x == 15u) {
    literals += extension(place + 1u);
  }
  var next = place + 3u + literals.y + literals.x;
  var length = vec2u((token & 15u) + kMinMatchBytes, 0u);
  if ((token & 15u) == 15u) {
    length += extension(next);
  }
  next += length.y;
  let stops = max(literals.y, length.y) > kExtensions || next > end;
  return Passed(stops, next, literals.x, literals.y, literals.x + length.x);
}
