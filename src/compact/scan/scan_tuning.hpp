// Numbers of scan. They decide speed alone.
#pragma once

#include <cstddef>

namespace hemstitch {

// Items that one thread adds up at a time: reading 128 KB of sizes takes far longer than waking a thread.
inline constexpr std::size_t kScanPartCount = 32768;

}  // namespace hemstitch
