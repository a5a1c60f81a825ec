// Numbers of gather. They decide speed alone.
#pragma once

#include <cstddef>

namespace hemstitch {

// Bytes of the output that one thread fills at a time: far more than a task costs to start, and few enough
// that 16 threads share 16 MB.
inline constexpr std::size_t kGatherGrainBytes = 256 * 1024;

}  // namespace hemstitch
