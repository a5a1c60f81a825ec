// The Zstandard encoder's twin: from content to the blocks of a part of a frame. It defines the bytes of every device.
//
//   find    hash_chain, near_three and, as the level says, far, in pieces of kZstdFindBytes, each with the window of the finder before it as history
//   parse   each block of kZstdOwnBlockBytes by itself: a lazy parse (parse/zstd_lazy.hpp), then as many passes of the optimal one as the level says
//           (parse/zstd_optimal.hpp), each with the prices of the parse before it
//   write   each block by itself (entropy/zstd_block_writer.hpp)
//
// Blocks depend on each other only through the content. docs/formats/zstd-encoder.md explains the whole.
#pragma once

#include <cstddef>
#include <span>

#include "format/encoded_block.hpp"
#include "format/zstd/zstd_levels.hpp"
#include "match/common/finder.hpp"

namespace hemstitch {

inline constexpr std::size_t kZstdNearWindowBytes = kMaxRecordOffset;
// Where a search begins anew: matches are not carried over it, and its history is entered again. A multiple of a block's content.
inline constexpr std::size_t kZstdFindBytes = 1 << 20;

// Writes the part's blocks, none of which is marked as the last one. Needs zstd_data_room(); kOutputTooSmall if there is less and the blocks
// do not fit. Thread safety: any number of calls at once.
EncodedBlock compress_zstd_part_reference(const FinderInput& input, const ZstdLevel& level,
                                          std::span<std::byte> output);

}  // namespace hemstitch
