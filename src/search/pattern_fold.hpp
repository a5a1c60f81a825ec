// Letters without case: A-Z count as a-z, every other byte as itself.
#pragma once

#include <cstdint>

namespace hemstitch {

inline std::uint8_t folded(std::uint8_t byte) {
  return static_cast<std::uint8_t>(byte + (static_cast<std::uint8_t>(byte - 'A') < 26 ? 'a' - 'A' : 0));
}

// Whether `text` begins with `pattern`, which must be folded if `ignore_case` is set; both have `bytes`
// bytes.
inline bool pattern_stands_at(const std::uint8_t* text, const std::uint8_t* pattern, std::uint32_t bytes,
                              bool ignore_case) {
  for (std::uint32_t i = 0; i < bytes; ++i)
    if ((ignore_case ? folded(text[i]) : text[i]) != pattern[i]) return false;
  return true;
}

}  // namespace hemstitch
