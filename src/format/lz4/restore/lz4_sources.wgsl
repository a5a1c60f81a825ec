// Where the bytes of 1024 bytes of a block's output come from. The importing shader declares `data_words` and `sequences`, and
// imports lz4_sequences.wgsl.

const kCopyThreads = 256u;
const kCopyBytes = kCopyThreads * 4u;
// A window begins in one sequence, and at most 256 sequences of four bytes or more begin in it; one more marks the end.
const kNoted = kCopyThreads + 2u;

var<workgroup> sh_begins: array<u32, kNoted>;  // where sequences begin in the block's output
var<workgroup> sh_matches: array<u32, kNoted>;  // where their matches do
var<workgroup> sh_literals: array<u32, kNoted>;
var<workgroup> sh_offsets: array<u32, kNoted>;
var<workgroup> sh_sources: array<u32, kCopyBytes>;

// Where a byte of the block's output comes from; `noted` is the sequence that it belongs to.
fn source_of(block: Block, noted: u32, place: u32) -> u32 {
  let match_begin = sh_matches[noted];
  if (place < match_begin) {
    return kInput | (sh_literals[noted] + (place - sh_begins[noted]));
  }
  let offset = sh_offsets[noted];
  var repeated = place - match_begin;
  if (repeated >= offset) {
    repeated %= offset;
  }
  let source = match_begin + repeated;
  if (source < offset) {
    // The history is directly before the compressed block.
    return kInput | (block.begin + block.history_bytes + source - offset);
  }
  return block.output_begin + source - offset;
}

// Takes note of the sequences from `first` on, as many as 1024 bytes of output can need. `count` is the number of all.
// For all invocations together; a barrier must follow.
fn note_sequences(block: Block, first: u32, count: u32, thread: u32) {
  for (var i = thread; i < kNoted; i += kCopyThreads) {
    sh_begins[i] = kNone;
    if (first + i < count) {
      let sequence = sequences[block.first_sequence + first + i];
      sh_begins[i] = sequence.output;
      sh_matches[i] = sequence.output + sequence.count;
      sh_literals[i] = sequence.literals;
      sh_offsets[i] = data_word(sequence.literals + sequence.count) & 0xFFFFu;
    }
  }
}

struct WordSources {
  sources: array<u32, 4>,
  noted: u32,  // the sequence of the last byte
}

// Where an invocation's four bytes, from `first` on, come from; kept in sh_sources too. Results for places after the block's end
// are not used.
fn find_sources(block: Block, first: u32, thread: u32) -> WordSources {
  var found: WordSources;
  for (var stride = kCopyThreads; stride > 0u; stride /= 2u) {
    if (found.noted + stride < kNoted && sh_begins[found.noted + stride] <= first) {
      found.noted += stride;
    }
  }
  for (var i = 0u; i < 4u; i++) {
    found.noted += select(0u, 1u, sh_begins[found.noted + 1u] <= first + i);
    found.sources[i] = source_of(block, found.noted, first + i);
    sh_sources[thread * 4u + i] = found.sources[i];
  }
  return found;
}

// The same byte's source outside the window that begins at this byte of the output.
fn source_outside(inside: u32, window: u32) -> u32 {
  var source = inside;
  while (source < kInput && source >= window) {
    source = sh_sources[source - window];
  }
  return source;
}
