// Turns sequences into the bytes of an LZ4 block.
//
// The size of a sequence depends only on its two counts (lz4_token.hpp). So a device encodes in three steps:
// sizes, their prefix sum, and then all sequences at once, each at its own place. The twin writes one after
// the other.
//
// Joining. A record's length is at most 65535, and a parse may cut a match in two. Neighbouring sequences
// with no literals between them and the same offset are one match of both lengths, so the encoder joins them.
// So no limit of a record shows in the output, and a block of zeros of any size is two sequences.
//
// End of the block (LZ4 block format): the last sequence has only literals, the last 5 bytes always are
// literals, and no match starts in the last 12 bytes. A parse with lz4_block_plan() ensures the latter two,
// and the encoder relies on it.
#pragma once

#include <cstddef>
#include <span>

#include "core/sequence.hpp"
#include "format/encoded_block.hpp"

namespace hemstitch {

// Encodes `block` as `sequences`, which must cover it and end with literals only. Needs no more room than it
// fills; if there is less, `output` is unspecified.
EncodedBlock encode_lz4_block(std::span<const std::byte> block, std::span<const Sequence> sequences,
                              std::span<std::byte> output);

}  // namespace hemstitch
