// The restored size of an LZ4 block, found by walking its tokens without writing a byte. LZ4 block format:
// token, literal length bytes, literals, offset, match length bytes; the last sequence has only literals.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

namespace hemstitch {

// Nothing if the tokens do not use exactly the block's bytes. Offsets are not checked, so having a size does
// not mean that the block is valid.
std::optional<std::uint64_t> lz4_block_restored_bytes(std::span<const std::byte> block);

}  // namespace hemstitch
