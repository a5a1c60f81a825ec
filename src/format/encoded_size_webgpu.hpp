// What an encoder's shaders say of a block that does not fit its room.
#pragma once

#include <cstdint>

namespace hemstitch::webgpu {

// A block's size then: it has no output.
inline constexpr std::uint32_t kEncodedTooLarge = 0xFFFFFFFFu;

}  // namespace hemstitch::webgpu
