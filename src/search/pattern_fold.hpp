// Letters without case: A-Z count as a-z, every other byte as itself.
#pragma once

#include <cstdint>

namespace hemstitch {

inline std::uint8_t folded(std::uint8_t byte) {
  return static_cast<std::uint8_t>(byte + (static_cast<std::uint8_t>(byte - 'A') < 26 ? 'a' - 'A' : 0));
}

}  // namespace hemstitch
