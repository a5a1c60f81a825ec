#pragma once

#include <cstddef>
#include <cstdint>

namespace hemstitch {

inline constexpr std::uint32_t kHashStepCapBytes = 32;
constexpr unsigned hash_step_bits(std::size_t block_bytes) { return block_bytes <= 4096 ? 11 : 13; }
constexpr std::uint32_t hash_step_group_positions(std::size_t) { return 32; }

}  // namespace hemstitch
