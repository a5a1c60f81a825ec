// How a frame cuts its content into blocks: by sizes alone, so the layout is the same on every backend and is known before anything
// is compressed. Every block but the last one is full.
#pragma once

#include <cstdint>

#include "core/host_device.hpp"

namespace hemstitch {

struct FrameLayout {
  struct Block {
    std::uint64_t at = 0;  // in the content
    std::uint64_t bytes = 0;
  };

  std::uint64_t content_bytes = 0;
  std::uint64_t block_bytes = 0;
  // The content's last byte is a block of its own; format/lz4/frame/lz4_frame_layout.hpp says why a frame may need that.
  bool last_byte_apart = false;

  // Bytes of the content without a last byte that is a block of its own.
  HEMSTITCH_HOST_DEVICE constexpr std::uint64_t body_bytes() const {
    return content_bytes - (last_byte_apart ? 1 : 0);
  }
  HEMSTITCH_HOST_DEVICE constexpr std::uint64_t body_block_count() const {
    return body_bytes() / block_bytes + (body_bytes() % block_bytes != 0);
  }
  HEMSTITCH_HOST_DEVICE constexpr std::uint64_t block_count() const {
    return body_block_count() + (last_byte_apart ? 1 : 0);
  }
  // Counted from 0; a last byte's own block is the last one.
  HEMSTITCH_HOST_DEVICE constexpr Block block(std::uint64_t number) const {
    const std::uint64_t at = number * block_bytes;
    if (at >= body_bytes()) return {body_bytes(), 1};
    const std::uint64_t left = body_bytes() - at;
    return {at, left < block_bytes ? left : block_bytes};
  }
};

}  // namespace hemstitch
