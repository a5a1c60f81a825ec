// How the content of the LZ4 frames that we write is divided into blocks.
//
// In some frames the content's last byte is a block of its own, which is always stored. The reason is liblz4
// 1.9.4. When a compressed block with a checksum comes in pieces, liblz4 requests 4 bytes more than the block
// and the next size word have, and so on from block to block. A content checksum uses up these 4 bytes.
// Without one they are the first bytes after the frame, and the `lz4` tool, which reads exactly what is
// requested, loses them: of `cat a.lz4 b.lz4` it restores only a. For a stored block liblz4 requests the
// exact size, so after a frame that ends with one, the next byte is right. A block that fits into the tool's
// buffer of 64 KB, with its size word, its checksum and the end mark, comes in one piece, so small frames
// need no such block.
#pragma once

#include <cstdint>

#include "format/frame_layout.hpp"

namespace hemstitch {

// The most content that a frame may have in one block with nothing after it. The block takes at most 8 bytes
// more, and the end mark 4.
inline constexpr std::uint64_t kMostUnsplitBytes = 60 << 10;
static_assert(kMostUnsplitBytes + 4 + 4 + 4 <= 64 << 10, "comes in one piece");

constexpr FrameLayout lz4_frame_layout(std::uint64_t content_bytes, std::uint64_t block_bytes,
                                       bool block_checksums, bool content_checksum) {
  return {content_bytes, block_bytes,
          block_checksums && !content_checksum && content_bytes > kMostUnsplitBytes};
}

}  // namespace hemstitch
