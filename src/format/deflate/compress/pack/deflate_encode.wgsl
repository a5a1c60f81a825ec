// DEFLATE blocks from tokens and codes (contract: deflate_encode.hpp, deflate_compress_reference.hpp).
//
// Passes      size_tiles   a workgroup takes a tile: the bits of the tokens that begin there, and whose part they are
//             place_parts  an invocation goes over the parts of its block, whose sizes are known: where each begins, and whether the
//                          block fits its room. (Then scan.wgsl over `padded`: where each block's output begins)
//             clear        an invocation clears one word of the output
//             pack         a workgroup takes a tile: its tokens or bytes are assembled in workgroup memory, with the
//                          head of a part that begins there and the end of a part or block that ends there; words that it shares
//                          with its neighbours are joined in the output
// Buffers     data_words, blocks, chunks (read); block_chunks (read) 4 bytes a block, and the total: its first chunk; chunk_tiles
//             (read) 4 bytes a tile: the number of its chunk; decisions (read) 4 bytes a position; tokens (read and written by
//             size_tiles) 136 bytes a tile; marked_tokens (the same, read by pack) 136 bytes a tile; parts (read and written by
//             place_parts) 1640 bytes a part; placed_parts (the same, read by size_tiles and pack) 1640 bytes a part; sizes
//             (written) 4 bytes a block; padded (written) 4 bytes a block: the same in whole words; begins (read) 4 bytes a block,
//             and the total; output (written)
// Workgroup   size_tiles: 256 invocations, 4 bytes. place_parts: 64. clear: 256. pack: 256 invocations, 4.6 KB in arrays: what it puts together
//             (2.4 KB), the codes of the part (1.3 KB), and where tokens begin (1 KB)

#import gpu/webgpu/shared/workgroup.wgsl
#import gpu/webgpu/shared/bytes.wgsl
#import match/common/webgpu/blocks.wgsl
#import match/common/webgpu/records.wgsl
#import format/deflate/block/deflate_symbols.wgsl

struct Parameters {
  tile_count: u32,
  block_count: u32,
  workgroup_count: u32,
  parts_a_chunk: u32,
  is_final: u32,  // 1: every block ends a stream
  unused_a: u32,
  unused_b: u32,
  unused_c: u32,
}

@group(0) @binding(0) var<uniform> parameters: Parameters;
@group(0) @binding(1) var<storage, read> data_words: array<u32>;
@group(0) @binding(2) var<storage, read> blocks: array<Block>;
@group(0) @binding(3) var<storage, read> chunks: array<Block>;
@group(0) @binding(4) var<storage, read> chunk_tiles: array<u32>;
@group(0) @binding(5) var<storage, read> block_chunks: array<u32>;
@group(0) @binding(6) var<storage, read> decisions: array<u32>;
@group(0) @binding(7) var<storage, read_write> tokens: array<TileTokens>;
@group(0) @binding(7) var<storage, read> marked_tokens: array<TileTokens>;  // the same, as pack reads it
@group(0) @binding(8) var<storage, read_write> parts: array<Part>;
@group(0) @binding(8) var<storage, read> placed_parts: array<Part>;  // the same, as size_tiles and pack read it
@group(0) @binding(9) var<storage, read_write> sizes: array<u32>;
@group(0) @binding(10) var<storage, read_write> padded: array<u32>;
@group(0) @binding(11) var<storage, read> begins: array<u32>;
@group(0) @binding(12) var<storage, read_write> output: array<atomic<u32>>;

#import format/deflate/compress/deflate_parts.wgsl

const kThreads = 256u;
const kPlaceThreads = 64u;
const kTooLarge = 0xFFFFFFFFu;
const kBlockHeadBits = 3u;
const kStoredSizeBits = 32u;  // of a stored block's content, twice

// The end of a block if the stream goes on after it: an empty stored block.
fn end_of_flush(bit: u32) -> u32 {
  return ((bit + kBlockHeadBits + 7u) & ~7u) + kStoredSizeBits;
}

// Where the content of a stored block begins.
fn stored_begin(bit: u32) -> u32 {
  return end_of_flush(bit);
}

// A token as bits: a literal, or a length with its extra bits and then a distance with its own.
struct Token {
  first: u32,
  first_bits: u32,
  second: u32,
  second_bits: u32,
}

var<workgroup> sh_bits: atomic<u32>;

@compute @workgroup_size(kThreads)
fn size_tiles(@builtin(workgroup_id) id: vec3u, @builtin(num_workgroups) size: vec3u,
              @builtin(local_invocation_index) thread: u32) {
  let tile = workgroup_number(id, size, parameters.tile_count);
  if (tile >= parameters.tile_count) {
    return;
  }
  let number = chunk_tiles[tile];
  let chunk = chunks[number];
  let unit = min((tile - chunk.first_tile) / kUnitTiles, unit_count(chunk.block_bytes) - 1u);
  var part = number * parameters.parts_a_chunk;
  // An empty chunk has no parts: its first one represents it.
  if (chunk.block_bytes > 0u) {
    for (var more = 1u; more < parameters.parts_a_chunk && placed_parts[part].unit_end <= unit; more++) {
      part++;
    }
  }
  if (thread == 0u) {
    atomicStore(&sh_bits, 0u);
  }
  workgroupBarrier();
  let begin = tile_begin(chunk, tile);
  let count = tile_end(chunk, tile) - begin;
  var bits = 0u;
  for (var position = thread; position < count; position += kThreads) {
    if (((tokens[tile].starts[position / 32u] >> (position % 32u)) & 1u) == 0u) {
      continue;
    }
    let decision = decisions[begin + position];
    if (decision == 0u) {
      bits += placed_parts[part].codes[data_byte(begin + position)] >> 16u;
    } else {
      let length = length_symbol(record_length(decision));
      let distance = distance_symbol(record_offset(decision));
      bits += (placed_parts[part].codes[length] >> 16u) + length_extra_bits(length);
      bits += (placed_parts[part].codes[kDistanceCodes + distance] >> 16u) + distance_extra_bits(distance);
    }
  }
  atomicAdd(&sh_bits, bits);
  workgroupBarrier();
  if (thread == 0u) {
    tokens[tile].bits = atomicLoad(&sh_bits);
    tokens[tile].part = part;
  }
}

@compute @workgroup_size(kPlaceThreads)
fn place_parts(@builtin(workgroup_id) id: vec3u, @builtin(num_workgroups) size: vec3u,
               @builtin(local_invocation_index) thread: u32) {
  let number = workgroup_number(id, size, parameters.workgroup_count) * kPlaceThreads + thread;
  if (number >= parameters.block_count) {
    return;
  }
  let block = blocks[number];
  var bit = 0u;
  var last = block_chunks[number] * parameters.parts_a_chunk;
  for (var chunk = block_chunks[number]; chunk < block_chunks[number + 1u] && block.block_bytes > 0u; chunk++) {
    let end_unit = unit_count(chunks[chunk].block_bytes);
    for (var part = chunk * parameters.parts_a_chunk; part < (chunk + 1u) * parameters.parts_a_chunk; part++) {
      parts[part].begin_bit = bit;
      parts[part].block = number;
      parts[part].ends_block = 0u;
      last = part;
      if (parts[part].kind == kStored) {
        let bytes = parts[part].content_end - parts[part].content_begin;
        bit = stored_begin(bit) + 8u * min(bytes, kMostStoredBytes);
        if (bytes > kMostStoredBytes) {
          bit = stored_begin(bit) + 8u * (bytes - kMostStoredBytes);
        }
      } else {
        bit += parts[part].bits;
      }
      if (parts[part].unit_end == end_unit) {
        break;
      }
    }
  }
  parts[last].ends_block = 1u;
  if (block.block_bytes == 0u) {
    parts[last].begin_bit = 0u;
    parts[last].block = number;
  }
  if (parameters.is_final == 0u) {
    bit = end_of_flush(bit);
  } else if (block.block_bytes == 0u) {
    bit = 10u;
  }
  let bytes = (bit + 7u) / 8u;
  let fits = bytes <= block.room_bytes;
  sizes[number] = select(kTooLarge, bytes, fits);
  padded[number] = select(0u, (bytes + 3u) & ~3u, fits);
  if (!fits) {
    for (var part = block_chunks[number] * parameters.parts_a_chunk; part <= last; part++) {
      parts[part].begin_bit = kNoPlace;
    }
  }
}

@compute @workgroup_size(kThreads)
fn clear(@builtin(workgroup_id) id: vec3u, @builtin(num_workgroups) size: vec3u,
         @builtin(local_invocation_index) thread: u32) {
  let word = workgroup_number(id, size, parameters.workgroup_count) * kThreads + thread;
  if (word < begins[parameters.block_count] / 4u) {
    atomicStore(&output[word], 0u);
  }
}

const kOwn = kTilePositions / kThreads;
// Tokens of up to 16,432 bits, a header of up to 2,286, and the bits around them.
const kPackedWords = 608u;

var<workgroup> sh_packed: array<atomic<u32>, kPackedWords>;
var<workgroup> sh_codes: array<u32, kCodeCount>;
var<workgroup> sh_ends: array<u32, kThreads>;  // bits of the tokens up to those of each invocation

// Writes `value`, which has no bits from `count` on, to sh_packed from `bit` on.
fn put(bit: u32, value: u32, count: u32) {
  if (value == 0u) {
    return;
  }
  let word = bit / 32u;
  let shift = bit % 32u;
  atomicOr(&sh_packed[word], value << shift);
  if (shift + count > 32u) {
    atomicOr(&sh_packed[word + 1u], value >> (32u - shift));
  }
}

fn token_at(place: u32, decision: u32) -> Token {
  if (decision == 0u) {
    let code = sh_codes[data_byte(place)];
    return Token(code & 0xFFFFu, code >> 16u, 0u, 0u);
  }
  let length = record_length(decision);
  let offset = record_offset(decision);
  let length_at = length_symbol(length);
  let distance_at = distance_symbol(offset);
  let length_code = sh_codes[length_at];
  let distance_code = sh_codes[kDistanceCodes + distance_at];
  let length_bits = length_code >> 16u;
  let distance_bits = distance_code >> 16u;
  return Token((length_code & 0xFFFFu) | ((length - length_base(length_at)) << length_bits),
               length_bits + length_extra_bits(length_at),
               (distance_code & 0xFFFFu) | ((offset - distance_base(distance_at)) << distance_bits),
               distance_bits + distance_extra_bits(distance_at));
}

// The head of a stored block and how much it holds; returns where its content begins. Bits count from the first of `word`.
fn put_stored_head(bit: u32, word: u32, bytes: u32, is_last: bool) -> u32 {
  let content = stored_begin(bit);
  put(bit - 32u * word, select(0u, 1u, is_last), 1u);
  put(content - kStoredSizeBits - 32u * word, bytes | ((bytes ^ 0xFFFFu) << 16u), kStoredSizeBits);
  return content;
}

@compute @workgroup_size(kThreads)
fn pack(@builtin(workgroup_id) id: vec3u, @builtin(num_workgroups) size: vec3u,
        @builtin(local_invocation_index) thread: u32) {
  let tile = workgroup_number(id, size, parameters.tile_count);
  if (tile >= parameters.tile_count) {
    return;
  }
  let chunk = chunks[chunk_tiles[tile]];
  let part = marked_tokens[tile].part;
  let begin_bit = placed_parts[part].begin_bit;
  if (begin_bit == kNoPlace) {
    return;
  }
  let units = unit_count(chunk.block_bytes);
  let is_empty = chunk.block_bytes == 0u;
  let in_chunk = tile - chunk.first_tile;
  let is_stored = !is_empty && placed_parts[part].kind == kStored;
  let first_tile = select(placed_parts[part].unit_begin * kUnitTiles, 0u, is_empty);
  let end_tile = select(placed_parts[part].unit_end * kUnitTiles, chunk.tile_count, is_empty || placed_parts[part].unit_end == units);
  let is_first = in_chunk == first_tile;
  let is_last = in_chunk + 1u == end_tile;
  let ends_stream = parameters.is_final != 0u && placed_parts[part].ends_block != 0u;

  for (var i = thread; i < kPackedWords; i += kThreads) {
    atomicStore(&sh_packed[i], 0u);
  }
  for (var i = thread; i < kCodeCount; i += kThreads) {
    sh_codes[i] = placed_parts[part].codes[i];
  }
  // The part's bits before this tile.
  if (thread == 0u) {
    atomicStore(&sh_bits, 0u);
  }
  workgroupBarrier();
  if (first_tile + thread < in_chunk) {
    atomicAdd(&sh_bits, marked_tokens[chunk.first_tile + first_tile + thread].bits);
  }
  let begin = tile_begin(chunk, tile);
  let first_own = thread * kOwn;
  // The positions of this invocation at which tokens begin, as bits.
  var starts = 0u;
  if (!is_empty && !is_stored) {
    starts = (marked_tokens[tile].starts[first_own / 32u] >> (first_own % 32u)) & ((1u << kOwn) - 1u);
  }
  var own = array<Token, kOwn>();
  var own_bits = 0u;
  for (var i = 0u; i < kOwn; i++) {
    own[i] = Token(0u, 0u, 0u, 0u);
    if (((starts >> i) & 1u) != 0u) {
      own[i] = token_at(begin + first_own + i, decisions[begin + first_own + i]);
      own_bits += own[i].first_bits + own[i].second_bits;
    }
  }
  sh_ends[thread] = own_bits;
  for (var distance = 1u; distance < kThreads; distance *= 2u) {
    workgroupBarrier();
    var before = 0u;
    if (thread >= distance) {
      before = sh_ends[thread - distance];
    }
    workgroupBarrier();
    sh_ends[thread] += before;
  }
  workgroupBarrier();

  // In bits of the block's output: the tile's own, and what it ends with.
  var tile_bit = begin_bit;
  var tile_end_bit = begin_bit;
  var word = begin_bit / 32u;
  if (is_stored) {
    let content_begin = placed_parts[part].content_begin;
    let bytes = placed_parts[part].content_end - content_begin;
    let stored = stored_begin(begin_bit) / 8u;
    let from_byte = select(in_chunk * kTilePositions - content_begin, 0u, is_first);
    let to_byte = select((in_chunk + 1u) * kTilePositions - content_begin, bytes, is_last);
    if (!is_first) {
      tile_bit = 8u * (stored + from_byte);
      word = tile_bit / 32u;
    } else if (thread == 0u) {
      put_stored_head(begin_bit, word, min(bytes, kMostStoredBytes), ends_stream && bytes <= kMostStoredBytes);
    }
    // Content that does not fit one stored block continues in a second one.
    let second = select(0u, stored_begin(8u * (stored + kMostStoredBytes)) / 8u - stored - kMostStoredBytes, bytes > kMostStoredBytes);
    if (is_last && bytes > kMostStoredBytes && thread == 0u) {
      put_stored_head(8u * (stored + kMostStoredBytes), word, bytes - kMostStoredBytes, ends_stream);
    }
    let source = block_begin(chunk) + content_begin;
    for (var i = from_byte + thread; i < to_byte; i += kThreads) {
      let place = stored + i + select(0u, second, i >= kMostStoredBytes);
      put(8u * place - 32u * word, data_byte(source + i), 8u);
    }
    tile_end_bit = 8u * (stored + to_byte + select(0u, second, is_last));
  } else if (!is_empty) {
    let header_bits = placed_parts[part].header_bits;
    var bit = begin_bit + kBlockHeadBits + header_bits;
    if (is_first) {
      if (thread == 0u) {
        put(begin_bit - 32u * word, select(0u, 1u, ends_stream) | (placed_parts[part].kind << 1u), kBlockHeadBits);
      }
      for (var i = thread; i < (header_bits + 31u) / 32u; i += kThreads) {
        put(begin_bit + kBlockHeadBits + 32u * (i - word), placed_parts[part].header[i], 32u);
      }
    } else {
      bit += atomicLoad(&sh_bits);
      tile_bit = bit;
      word = tile_bit / 32u;
    }
    tile_end_bit = bit + sh_ends[kThreads - 1u];
    bit += sh_ends[thread] - own_bits - 32u * word;
    for (var i = 0u; i < kOwn; i++) {
      put(bit, own[i].first, own[i].first_bits);
      put(bit + own[i].first_bits, own[i].second, own[i].second_bits);
      bit += own[i].first_bits + own[i].second_bits;
    }
    if (is_last) {
      let code = sh_codes[kEndOfBlock];
      if (thread == 0u) {
        put(tile_end_bit - 32u * word, code & 0xFFFFu, code >> 16u);
      }
      tile_end_bit += code >> 16u;
    }
  }
  if (is_last && placed_parts[part].ends_block != 0u) {
    if (parameters.is_final == 0u) {
      if (thread == 0u) {
        put_stored_head(tile_end_bit, word, 0u, false);
      }
      tile_end_bit = end_of_flush(tile_end_bit);
    } else if (is_empty) {
      // Fixed codes and their end.
      if (thread == 0u) {
        put(0u, 3u, kBlockHeadBits);
      }
      tile_end_bit = 10u;
    }
  }
  workgroupBarrier();

  let first_word = begins[placed_parts[part].block] / 4u + word;
  let word_count = (tile_end_bit + 31u) / 32u - word;
  for (var i = thread; i < word_count; i += kThreads) {
    let value = atomicLoad(&sh_packed[i]);
    // Neighbours may have bits in the first word and in the last one.
    if (i == 0u || i + 1u == word_count) {
      atomicOr(&output[first_word + i], value);
    } else {
      atomicStore(&output[first_word + i], value);
    }
  }
}
