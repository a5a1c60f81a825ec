// The chunks of HDF5's filters 32004 (LZ4) and 32008 (bitshuffle, with LZ4 or Zstandard), as the sources of these
// filters and The HDF Group's list of registered filters describe them. Both begin alike:
//
//   content bytes 8 | block bytes 4 | blocks: size 4, data
//
// Numbers are big-endian. Filter 32004: all blocks but the last have that size; data as large as its content is the
// content. Filter 32008: blocks have a multiple of eight elements, the last one as many as are left; what does not fill
// eight elements follows as it is; no block is stored.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "hemstitch/arrays.hpp"

namespace hemstitch {

inline constexpr std::size_t kHdf5ChunkHeaderBytes = 12, kHdf5BlockSizeBytes = 4;

ChunkLayout read_hdf5_lz4_layout(std::span<const std::byte> chunk);
ChunkLayout read_hdf5_bitshuffle_layout(std::span<const std::byte> chunk, const ChunkCoding& coding);

void write_hdf5_header(std::uint64_t content_bytes, std::uint32_t block_bytes, std::byte* at);
void write_hdf5_block_size(std::uint32_t bytes, std::byte* at);

// Of that much content, how much is in blocks of filter 32008: what fills eight elements.
constexpr std::uint64_t bitshuffled_bytes(std::uint64_t content_bytes, std::uint32_t element_bytes) {
  const std::uint64_t eight = std::uint64_t{8} * element_bytes;
  return content_bytes / eight * eight;
}

// The filter's block size where none is given: about 8 KB, of at least 128 elements.
constexpr std::uint32_t default_bitshuffle_block_bytes(std::uint32_t element_bytes) {
  constexpr std::uint32_t kBlockBytes = 8192, kLeastElements = 128;
  const std::uint32_t elements = kBlockBytes / element_bytes / 8 * 8;
  return (elements > kLeastElements ? elements : kLeastElements) * element_bytes;
}

}  // namespace hemstitch
