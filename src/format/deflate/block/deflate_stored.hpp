// Stored blocks of DEFLATE (RFC 1951, section 3.2.4): unchanged content, at most 65,535 bytes in each. They
// hold content that does not shrink. An empty one, whose header may begin anywhere in a byte, aligns what
// follows to a byte.
//
//   final bit and type (00), 3 bits | zeros to the end of the byte | bytes, 2 bytes | the same, inverted | content
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>

#include "format/deflate/block/deflate_symbols.hpp"

namespace hemstitch {

inline constexpr std::size_t kDeflateStoredHeaderBytes = 5;  // if it begins at a byte

// The room that a compressor needs for this much content. It suffices for stored blocks, with at most 64 KB
// of content in two of them, and for the empty one after them.
constexpr std::size_t deflate_data_room(std::size_t content_bytes) {
  return content_bytes + (content_bytes / 65536 + 2) * 2 * kDeflateStoredHeaderBytes;
}

// Writes the part of the header after its first byte. Returns where it ends.
inline std::byte* write_deflate_stored_size(std::size_t bytes, std::byte* to) {
  to[0] = static_cast<std::byte>(bytes);
  to[1] = static_cast<std::byte>(bytes >> 8);
  to[2] = ~to[0];
  to[3] = ~to[1];
  return to + 4;
}

// Writes content, at least one byte, in stored blocks; `is_last`: the last one ends the stream. Returns the
// number of bytes.
inline std::size_t write_deflate_stored(std::span<const std::byte> content, bool is_last, std::byte* to) {
  std::byte* at = to;
  while (!content.empty()) {
    const auto part = content.first(std::min<std::size_t>(content.size(), kDeflateMostStoredBytes));
    content = content.subspan(part.size());
    *at++ = std::byte(content.empty() && is_last ? 1 : 0);
    at = write_deflate_stored_size(part.size(), at);
    std::memcpy(at, part.data(), part.size());
    at += part.size();
  }
  return static_cast<std::size_t>(at - to);
}

}  // namespace hemstitch
