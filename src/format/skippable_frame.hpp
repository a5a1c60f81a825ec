// Skippable frames: a magic number, the size of what follows, 4 bytes, and that. They hold no content, and any format's
// frames may follow them. The LZ4 frame format and Zstandard (RFC 8878, section 3.1.2) define them alike.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>

#include "core/bytes.hpp"

namespace hemstitch {

inline constexpr std::uint32_t kSkippableMagic = 0x184D2A50;  // to ...5F
inline constexpr std::size_t kSkippableMagicBytes = 4;
inline constexpr std::size_t kSkippableSizeBytes = 4;

constexpr bool is_skippable_magic(std::uint32_t word) { return (word & 0xFFFFFFF0) == kSkippableMagic; }

inline bool begins_skippable_frame(std::span<const std::byte> bytes) {
  return bytes.size() >= kSkippableMagicBytes && is_skippable_magic(load_le32(bytes.data()));
}

// Whether these bytes, after which the data ends, are less than a magic number, and would begin one.
inline bool is_cut_skippable_magic(std::span<const std::byte> bytes) {
  if (bytes.size() >= kSkippableMagicBytes) return false;
  std::byte magic[kSkippableMagicBytes];
  store_le32(magic, kSkippableMagic);
  std::copy(bytes.begin(), bytes.end(), magic);
  return begins_skippable_frame(magic);
}

}  // namespace hemstitch
