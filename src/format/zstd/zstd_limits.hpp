// What Hemstitch's own frames of Zstandard are made of, and what it allows in others'.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "format/zstd/block/zstd_symbols.hpp"

namespace hemstitch {

inline constexpr std::uint32_t kZstdMagic = 0xFD2FB528;  // what a frame begins with
inline constexpr std::size_t kZstdMagicBytes = 4;

// A part of a frame is compressed by itself, with the content before it as history.
inline constexpr std::array<std::size_t, 2> kZstdPartSizes{1 << 20, 4 << 20};
inline constexpr std::size_t kZstdDefaultPartBytes = 4 << 20;
// How much history: libzstd's own threads take an eighth of the window at most levels. To take in history
// costs time, and the high levels make more of it.
// `cpu` uses no more, whatever it is given: with the largest part it is within the window that our own bytes have.
constexpr std::size_t zstd_history_bytes(int level) {
  constexpr int kFirstHighLevel = 13;
  return level < kFirstHighLevel ? std::size_t{512} << 10 : std::size_t{4} << 20;
}

// Content of the blocks that the twin writes, at most. Each has tables of its own: with 32 KB, output would be 0.15 % larger.
inline constexpr std::size_t kZstdOwnBlockBytes = 64 << 10;

// Data may take this much more than its content: the header of each raw block, that of the frame which
// libzstd makes of a part, and a little room for it to work in.
constexpr std::size_t zstd_data_room(std::size_t content_bytes,
                                     std::size_t most_block_bytes = kZstdOwnBlockBytes) {
  constexpr std::size_t kBeside = 64;
  return content_bytes + (content_bytes / most_block_bytes + 1) * kZstdBlockHeaderBytes + kBeside;
}

// An empty raw block that is marked as the last one: the end of blocks of which none is.
inline constexpr std::array kZstdEndOfBlocks{std::byte{1}, std::byte{0}, std::byte{0}};

// A suitable piece of a stream.
inline constexpr std::size_t kZstdPieceBytes = std::size_t{256} << 10;
inline constexpr std::uint64_t kZstdMostWindowBytes = std::uint64_t{1} << 31;  // libzstd's limit
// No offset reaches back farther.
inline constexpr std::size_t kZstdMostDictionaryBytes = std::size_t{2} << 30;

}  // namespace hemstitch
