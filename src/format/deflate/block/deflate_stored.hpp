// Stored blocks of DEFLATE (RFC 1951, section 3.2.4): content as it is, at most 65,535 bytes in each. They are what is left for content
// that does not shrink; an empty one, whose header may begin anywhere in a byte, brings what follows to the beginning of one.
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

inline constexpr std::size_t kDeflateStoredHeaderBytes = 5;  // where it begins with a byte

// The room that whoever compresses so much content has for its blocks of DEFLATE: it suffices for stored ones, at most 64 KB of content
// in two of them, and for the empty one behind them.
constexpr std::size_t deflate_data_room(std::size_t content_bytes) {
  return content_bytes + (content_bytes / 65536 + 2) * 2 * kDeflateStoredHeaderBytes;
}

// Of the header, what stands behind the first byte. Returns where it ends.
inline std::byte* write_deflate_stored_size(std::size_t bytes, std::byte* to) {
  to[0] = static_cast<std::byte>(bytes);
  to[1] = static_cast<std::byte>(bytes >> 8);
  to[2] = ~to[0];
  to[3] = ~to[1];
  return to + 4;
}

// Writes content, of one byte at least, in stored blocks; `is_last`: the last one ends the stream. Returns how many bytes that took.
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
