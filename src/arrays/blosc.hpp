// Blosc 1's chunks, as c-blosc's README_CHUNK_FORMAT.rst describes them:
//
//   format version 1 | codec version 1 | flags 1 | element bytes 1 | content bytes 4 | block bytes 4 | chunk bytes 4
//   | where each block begins, 4 bytes each | blocks
//
// A block is one or more parts, each its size, 4 bytes, and data of the codec; data as large as its content is
// the content. Numbers are little-endian. A block has as many parts as an element has bytes, all of the same size, unless a
// flag says otherwise, and the last block, if it is shorter, has one.
//
// Flags: 1 shuffled, 2 the content follows as it is, 4 bit-shuffled, 16 blocks have one part; the upper three bits are the
// codec. A chunk of Blosc 2 has 1 and 4 both.
#pragma once

#include <cstddef>
#include <span>

#include "hemstitch/arrays.hpp"

namespace hemstitch {

inline constexpr std::size_t kBloscHeaderBytes = 16, kBloscSizeBytes = 4;
// So that a chunk of stored content has a size of 31 bits.
inline constexpr std::size_t kBloscMostContentBytes = 0x7FFFFFFF - kBloscHeaderBytes;
inline constexpr std::uint32_t kBloscMostElementBytes = 255;

ChunkLayout read_blosc_layout(std::span<const std::byte> chunk);

// The header of a chunk; `stored`: without blocks. `parts`: of each full block, 1 or as many as an element has bytes.
struct BloscHeader {
  std::size_t content_bytes, block_bytes, chunk_bytes, parts;
  bool stored;
};
void write_blosc_header(const ChunkCoding& coding, const BloscHeader& header, std::byte* at);

}  // namespace hemstitch
