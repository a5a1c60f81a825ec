// DEFLATE by the twins: one block of a frame, from its content to bits. Every GPU backend must write the same
// bytes.
//
// A frame's block, with up to 1 MiB of content, is a sequence of DEFLATE blocks that begins and ends at a
// byte, so that the blocks of a frame can be processed in parallel. docs/formats/deflate-encoder.md defines
// the bytes. In short:
//
//   find     hash_chain and near_three over the whole content and its history
//   chunks   64 KB of content each; from here on nothing of another chunk is looked at
//   parse    the cheapest way through the chunk; in further passes by the code lengths of the pass before
//   codes    dynamic, fixed or none: the smallest; level 12 may split a chunk into several blocks
//   pack     one block after the other, without padding bits
//
// So the bytes of a chunk depend only on the level, on 32 KB of history and, through the finders' windows, on
// the content of its frame's block up to the ends of its matches. They do not depend on the bytes of other
// chunks, or on where the first bit is.
#pragma once

#include <cstddef>
#include <span>

#include "format/deflate/block/deflate_stored.hpp"
#include "format/deflate/compress/codes/deflate_block.hpp"
#include "format/deflate/compress/deflate_tuning.hpp"
#include "format/deflate/compress/pack/deflate_end.hpp"
#include "format/deflate/deflate_levels.hpp"
#include "format/encoded_block.hpp"
#include "match/common/finder.hpp"

namespace hemstitch {

// No block takes more than the room for its content (block/deflate_stored.hpp). A full chunk that is stored
// takes two DEFLATE blocks. After one that ends inside a byte, the first takes up to two bits more than it
// counts, and so does the empty one at the end.
static_assert((kDeflateMostBlockBytes / kDeflateChunkBytes * (std::size_t{2} * kDeflateStoredHeadBits + 2) +
               std::size_t{2} * (kDeflateStoredHeadBits + 2) + 7) /
                  8 <=
              deflate_data_room(kDeflateMostBlockBytes) - kDeflateMostBlockBytes);

// Compresses the block of `input`, at most kDeflateMostBlockBytes, with the content before it in the frame as
// history. Writes nothing outside `output`; returns kOutputTooSmall if it does not fit, and then `output` is
// unspecified. Throws std::bad_alloc. Thread safety: any number of calls at once.
EncodedBlock compress_deflate_block_reference(const FinderInput& input, const DeflateLevel& level,
                                              DeflateEnd end, std::span<std::byte> output);

}  // namespace hemstitch
