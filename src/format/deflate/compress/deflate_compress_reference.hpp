// DEFLATE through the twins: one block of a frame, from its content to bits. What these bytes are, every GPU backend must write too.
//
// A frame's block, up to 1 MiB of content, is a row of DEFLATE blocks that begins and ends on a byte, so that blocks of a
// frame can be worked on side by side. docs/formats/deflate-encoder.md defines the bytes. In short:
//
//   find     hash_chain and near_three over the whole content and its history
//   chunks   64 KB of content each; from here on nothing of another chunk is looked at
//   parse    the cheapest way through the chunk; in further passes by the code lengths of the pass before
//   codes    dynamic, fixed or none: the smallest; level 12 may split a chunk into several blocks
//   pack     one block behind the other, to the bit
//
// So what a chunk becomes depends on the level and, by the finders' windows, on the content of its frame's block up to the match
// ends, on 32 KB of history, and on nothing else: not on what other chunks became, nor on where its first bit stands.
#pragma once

#include <cstddef>
#include <span>

#include "format/deflate/block/deflate_stored.hpp"
#include "format/deflate/compress/deflate_block.hpp"
#include "format/deflate/compress/deflate_end.hpp"
#include "format/deflate/compress/deflate_tuning.hpp"
#include "format/deflate/deflate_levels.hpp"
#include "format/encoded_block.hpp"
#include "match/common/finder.hpp"

namespace hemstitch {

// No block takes more than the room for its content (block/deflate_stored.hpp). A full chunk that is stored takes two DEFLATE blocks; behind
// one that ends inside a byte, the first takes up to two bits more than it counts, and so does the empty one at the end.
static_assert((kDeflateMostBlockBytes / kDeflateChunkBytes * (std::size_t{2} * kDeflateStoredHeadBits + 2) +
               std::size_t{2} * (kDeflateStoredHeadBits + 2) + 7) /
                  8 <=
              deflate_data_room(kDeflateMostBlockBytes) - kDeflateMostBlockBytes);

// Compresses the block of `input`, kDeflateMostBlockBytes at most, whose history is what the frame has before it. Writes nothing outside `output`; kOutputTooSmall
// where it does not fit, and then what stands there is unspecified.
// Throws std::bad_alloc. Thread safety: any number of calls at once.
EncodedBlock compress_deflate_block_reference(const FinderInput& input, const DeflateLevel& level,
                                              DeflateEnd end, std::span<std::byte> output);

}  // namespace hemstitch
