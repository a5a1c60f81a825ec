// How the frames that we write lay their content out into blocks: by sizes alone, so that the layout is the same on
// every backend and is known before anything is compressed.
//
// Every block is full, but the last one. In some frames the content's last byte is a block of its own besides, which
// is always stored. That is for liblz4 1.9.4: where a compressed block with a checksum comes in pieces, it asks for 4
// bytes more than the block and the next size word have, and so on from block to block. A content checksum takes
// those 4 bytes; without one they are the first of what stands behind the frame, and the `lz4` tool, which reads just
// what it is asked for, loses them: of `cat a.lz4 b.lz4` it restores a alone. A stored block is asked for as it is,
// so a frame that ends in one is left where it ends. A block that the tool's buffer of 64 KB takes at once, with its
// size word, its checksum and the end mark, comes in one piece: small frames do without.
#pragma once

#include <cstdint>

#include "core/host_device.hpp"

namespace hemstitch {

// What a frame may hold in one block that nothing follows. Its block takes 8 bytes more at most, and 4 for the end
// mark.
inline constexpr std::uint64_t kMostUnsplitBytes = 60 << 10;
static_assert(kMostUnsplitBytes + 4 + 4 + 4 <= 64 << 10, "comes in one piece");

struct Lz4FrameLayout {
  struct Block {
    std::uint64_t at = 0;  // in the content
    std::uint64_t bytes = 0;
  };

  std::uint64_t content_bytes = 0;
  std::uint64_t block_bytes = 0;
  bool last_byte_apart = false;

  // Without the last byte, where that is a block of its own.
  HEMSTITCH_HOST_DEVICE constexpr std::uint64_t body_bytes() const {
    return content_bytes - (last_byte_apart ? 1 : 0);
  }
  HEMSTITCH_HOST_DEVICE constexpr std::uint64_t body_block_count() const {
    return body_bytes() / block_bytes + (body_bytes() % block_bytes != 0);
  }
  HEMSTITCH_HOST_DEVICE constexpr std::uint64_t block_count() const {
    return body_block_count() + (last_byte_apart ? 1 : 0);
  }
  // From 0; the last byte's own is the last one.
  HEMSTITCH_HOST_DEVICE constexpr Block block(std::uint64_t number) const {
    const std::uint64_t at = number * block_bytes;
    if (at >= body_bytes()) return {body_bytes(), 1};
    const std::uint64_t left = body_bytes() - at;
    return {at, left < block_bytes ? left : block_bytes};
  }
};

constexpr Lz4FrameLayout lz4_frame_layout(std::uint64_t content_bytes, std::uint64_t block_bytes,
                                          bool block_checksums, bool content_checksum) {
  return {content_bytes, block_bytes,
          block_checksums && !content_checksum && content_bytes > kMostUnsplitBytes};
}

}  // namespace hemstitch
