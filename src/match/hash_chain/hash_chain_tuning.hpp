#pragma once

#include <cstddef>
#include <cstdint>

namespace hemstitch {

constexpr unsigned hash_chain_bits(std::size_t block_bytes) { return block_bytes <= 4096 ? 11 : 14; }
constexpr std::uint32_t hash_chain_cap_bytes(std::uint32_t depth) { return depth == 1 ? 32 : 64; }

}  // namespace hemstitch
