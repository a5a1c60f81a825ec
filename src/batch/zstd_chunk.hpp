// A chunk of Zstandard as the batch interface writes it: a frame in memory. The twin defines its bytes.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

#include "format/encoded_block.hpp"
#include "format/zstd/zstd_levels.hpp"

namespace hemstitch {

inline constexpr std::size_t kZstdChunkHeaderBytes = 9;
// The header's last bytes: the content's size, the lowest byte first.
inline constexpr std::size_t kZstdChunkSizeAt = 5;

// What a chunk begins with: the window is the content, and there is no checksum.
std::array<std::byte, kZstdChunkHeaderBytes> zstd_chunk_header(std::uint32_t content_bytes);

// The largest chunk of so much content: that of raw blocks alone.
std::size_t zstd_chunk_bound(std::size_t content_bytes);

// Writes a frame: the header, then the blocks of compress_zstd_part_reference() without history, the last one of which is marked; no content is
// one empty raw block. kOutputTooSmall if that does not fit. Thread safety: any number of calls at once.
EncodedBlock compress_zstd_chunk_reference(std::span<const std::byte> content, const ZstdLevel& level,
                                           std::span<std::byte> output);

}  // namespace hemstitch
