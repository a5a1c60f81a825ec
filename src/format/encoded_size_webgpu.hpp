// How an encoder's shaders mark a block that does not fit into its room.
#pragma once

#include <cstdint>

namespace hemstitch::webgpu {

// Such a block's size; it has no output.
inline constexpr std::uint32_t kEncodedTooLarge = 0xFFFFFFFFu;

}  // namespace hemstitch::webgpu
