// Content of one block of Zstandard that is restored without the content before it: symbols of 32 bits, each a byte, or a mark, which
// is the place of the byte before the block that it repeats. Once symbols of all blocks are there, marks are followed until a byte.
//
// A mark is below its own block, so every chain of marks ends. CPU twin of zstd_frame_copy.cu and zstd_frame_resolve.cu.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "format/zstd/block/zstd_mark.hpp"
#include "format/zstd/stream/zstd_block_decoder.hpp"

namespace hemstitch {

// Writes the symbols of a block, whose content begins at place `begin`; `symbols` has room for block.content_bytes. `offsets`: the last three
// before the block. False if an offset reaches before place 0 or the window.
bool copy_zstd_symbols(const ZstdDecodedBlock& block, ZstdBlockType type, const ZstdOffsets& offsets,
                       std::uint32_t begin, std::uint64_t window_bytes, std::uint32_t* symbols);

// The bytes of all symbols, which begin behind the history. Writes back what it found: so later chains are short. `content` may not be the
// memory of the symbols.
void resolve_zstd_symbols(std::span<std::uint32_t> symbols, std::span<const std::byte> history,
                          std::byte* content);

}  // namespace hemstitch
