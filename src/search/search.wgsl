// search: every match of some fixed strings in texts that lie one behind the other (contract: search.hpp).
//
// Passes      count    how many matches each tile has; scan then says where they go
//             write    the matches of each tile, at their places
// Buffers     data_vectors (read) 1 byte a position; table (read), the patterns (search/pattern_table.hpp);
//             text_begins (read) 4 bytes a text, and the end of the last; tile_counts (written by count) 4 bytes for 4096
//             positions; tile_begins (read by write) as many, and the total; matches (written) 8 bytes a match
// Workgroup   256 invocations, 1 KB: the matches of each
// An invocation judges 16 positions by their first bytes, and compares the remaining ones in full. Only for those, the text of a
// position is found by bisection. Words are assembled as in search/search_words.hpp.

#import gpu/webgpu/shared/workgroup.wgsl

struct Parameters {
  position_count: u32,  // matches begin below; what follows belongs to the next piece
  text_count: u32,
  tile_count: u32,
  pattern_count: u32,
  ignore_case: u32,
  first_word: u32,  // of the only pattern
  first_mask: u32,
  filter_at: u32,
  first_at: u32,
  lists_at: u32,
  first_match: u32,  // write: the first match that is wanted, and how many
  room: u32,
}

@group(0) @binding(0) var<uniform> parameters: Parameters;
@group(0) @binding(1) var<storage, read> data_vectors: array<vec4u>;
@group(0) @binding(2) var<storage, read> table: array<u32>;
@group(0) @binding(3) var<storage, read> text_begins: array<u32>;
@group(0) @binding(4) var<storage, read_write> tile_counts: array<u32>;
@group(0) @binding(5) var<storage, read> tile_begins: array<u32>;
@group(0) @binding(6) var<storage, read_write> matches: array<vec2u>;

const kThreads = 256u;
const kThreadPositions = 16u;

var<workgroup> sh_counts: array<u32, kThreads>;

// A-Z become a-z, where case is ignored.
fn folded(word: u32) -> u32 {
  if (parameters.ignore_case == 0u) {
    return word;
  }
  let low = word & 0x7F7F7F7Fu;
  return word | (((low + 0x3F3F3F3Fu) & ~(low + 0x25252525u) & ~word & 0x80808080u) >> 2u);
}

fn passes(word: u32) -> bool {
  if (parameters.pattern_count == 1u) {
    return ((word ^ parameters.first_word) & parameters.first_mask) == 0u;
  }
  let pair = word & 0xFFFFu;
  return ((table[parameters.filter_at + pair / 32u] >> (pair % 32u)) & 1u) != 0u;
}

// The four bytes from `place` on, at any alignment.
fn data_word(place: u32) -> u32 {
  let index = place / 4u;
  let low = data_vectors[index / 4u][index % 4u];
  let high = data_vectors[(index + 1u) / 4u][(index + 1u) % 4u];
  let shift = (place % 4u) * 8u;
  // Two shifts on the left, since one by 32 bits is not defined.
  return (low >> shift) | ((high << 1u) << (31u - shift));
}

// The positions that pass, of 16, a bit each.
fn passing(first: u32) -> u32 {
  if (first >= parameters.position_count) {
    return 0u;
  }
  let own = data_vectors[first / 16u];
  var words = array<u32, 5>(own.x, own.y, own.z, own.w, data_vectors[first / 16u + 1u].x);
  var mask = 0u;
  var low = folded(words[0]);
  for (var i = 0u; i < 4u; i++) {
    let high = folded(words[i + 1u]);
    mask |= select(0u, 1u, passes(low)) << (4u * i);
    for (var byte = 1u; byte < 4u; byte++) {
      let word = (low >> (8u * byte)) | (high << (32u - 8u * byte));
      mask |= select(0u, 1u, passes(word)) << (4u * i + byte);
    }
    low = high;
  }
  let left = parameters.position_count - first;
  return select(mask, mask & ((1u << (left % 16u)) - 1u), left < kThreadPositions);
}

// The end of the text to which a position belongs.
fn text_end(position: u32) -> u32 {
  var low = 0u;
  var high = parameters.text_count;
  while (high - low > 1u) {
    let middle = (low + high) / 2u;
    if (text_begins[middle] <= position) {
      low = middle;
    } else {
      high = middle;
    }
  }
  return text_begins[low + 1u];
}

fn stands_at(position: u32, pattern: u32, bytes: u32) -> bool {
  for (var at = 0u; at < bytes; at += 4u) {
    let different = folded(data_word(position + at)) ^ table[pattern + at / 4u];
    let left = bytes - at;
    if ((different & select(0xFFFFFFFFu, (1u << (8u * (left % 4u))) - 1u, left < 4u)) != 0u) {
      return false;
    }
  }
  return true;
}

// The length of the longest pattern at a position that has passed; 0 for none.
fn longest_at(position: u32) -> u32 {
  let room = text_end(position) - position;
  if (parameters.pattern_count == 1u) {
    let bytes = table[1];
    return select(0u, bytes, bytes <= room && stands_at(position, table[0], bytes));
  }
  let pair = folded(data_word(position)) & 0xFFFFu;
  let end = table[parameters.first_at + pair + 1u];
  for (var i = table[parameters.first_at + pair]; i < end; i++) {
    let row = 2u * table[parameters.lists_at + i];
    let bytes = table[row + 1u];
    if (bytes <= room && stands_at(position, table[row], bytes)) {
      return bytes;
    }
  }
  return 0u;
}

// The matches among 16 positions, a bit each.
fn matching(first: u32) -> u32 {
  var mask = passing(first);
  for (var left = mask; left != 0u; left &= left - 1u) {
    let place = countTrailingZeros(left);
    if (longest_at(first + place) == 0u) {
      mask &= ~(1u << place);
    }
  }
  return mask;
}

@compute @workgroup_size(kThreads)
fn count(@builtin(workgroup_id) id: vec3u, @builtin(num_workgroups) size: vec3u,
         @builtin(local_invocation_index) thread: u32) {
  let tile = workgroup_number(id, size, parameters.tile_count);
  sh_counts[thread] = countOneBits(matching((tile * kThreads + thread) * kThreadPositions));
  for (var half = kThreads / 2u; half > 0u; half /= 2u) {
    workgroupBarrier();
    if (thread < half) {
      sh_counts[thread] += sh_counts[thread + half];
    }
  }
  if (thread == 0u && tile < parameters.tile_count) {
    tile_counts[tile] = sh_counts[0];
  }
}

@compute @workgroup_size(kThreads)
fn write(@builtin(workgroup_id) id: vec3u, @builtin(num_workgroups) size: vec3u,
         @builtin(local_invocation_index) thread: u32) {
  let tile = workgroup_number(id, size, parameters.tile_count);
  if (tile >= parameters.tile_count || tile_begins[tile] == tile_begins[tile + 1u]) {
    return;
  }
  let first = (tile * kThreads + thread) * kThreadPositions;
  var mask = matching(first);
  let found = countOneBits(mask);
  sh_counts[thread] = found;
  for (var distance = 1u; distance < kThreads; distance *= 2u) {
    workgroupBarrier();
    var before = 0u;
    if (thread >= distance) {
      before = sh_counts[thread - distance];
    }
    workgroupBarrier();
    sh_counts[thread] += before;
  }
  // Wraps around before the first wanted match; then it is not a place.
  var place = tile_begins[tile] + sh_counts[thread] - found - parameters.first_match;
  for (; mask != 0u; mask &= mask - 1u) {
    if (place < parameters.room) {
      let position = first + countTrailingZeros(mask);
      matches[place] = vec2u(position, longest_at(position));
    }
    place++;
  }
}
