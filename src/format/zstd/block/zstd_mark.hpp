// Symbols: content that is restored without the content before it. A symbol has 32 bits: a byte, or a mark, which is the place of the earlier byte that it
// repeats (stream/zstd_symbols.hpp).
#pragma once

#include <cstdint>

namespace hemstitch {

// A mark is this and a place. Places count from the beginning of the history.
inline constexpr std::uint32_t kZstdMark = 0x80000000;

}  // namespace hemstitch
