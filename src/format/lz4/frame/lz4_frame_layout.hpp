// How the LZ4 frames that we write lay their content out into blocks.
//
// In some frames the content's last byte is a block of its own, which is always stored. That is for liblz4 1.9.4:
// where a compressed block with a checksum comes in pieces, it asks for 4 bytes more than the block and the next size
// word have, and so on from block to block. A content checksum takes those 4 bytes; without one they are the first of
// what stands behind the frame, and the `lz4` tool, which reads just what it is asked for, loses them: of
// `cat a.lz4 b.lz4` it restores a alone. A stored block is asked for as it is, so a frame that ends in one is left where
// it ends. A block that the tool's buffer of 64 KB takes at once, with its size word, its checksum and the end mark,
// comes in one piece: small frames do without.
#pragma once

#include <cstdint>

#include "format/frame_layout.hpp"

namespace hemstitch {

// What a frame may hold in one block that nothing follows. Its block takes 8 bytes more at most, and 4 for the end
// mark.
inline constexpr std::uint64_t kMostUnsplitBytes = 60 << 10;
static_assert(kMostUnsplitBytes + 4 + 4 + 4 <= 64 << 10, "comes in one piece");

constexpr FrameLayout lz4_frame_layout(std::uint64_t content_bytes, std::uint64_t block_bytes,
                                       bool block_checksums, bool content_checksum) {
  return {content_bytes, block_bytes,
          block_checksums && !content_checksum && content_bytes > kMostUnsplitBytes};
}

}  // namespace hemstitch
