// Numbers of scan. They decide speed alone.
#pragma once

#include <cstddef>

namespace hemstitch {

// Items below which one thread adds up: waking others takes longer than reading 128 KB of sizes.
inline constexpr std::size_t kSerialScanCount = 32768;

}  // namespace hemstitch
