// Numbers of the optimal parse. Part of the definition of the levels: changing one changes bytes.
#pragma once

#include <cstddef>

namespace hemstitch {

// Positions that one thread solves. Shorter segments mean more threads and more look-ahead solved twice.
inline constexpr std::size_t kSegmentPositions = 1024;

// Positions solved beyond the segment, so that decisions near its end know what follows. With 256 the result
// is within 0.01 % of the whole block's optimum on every Silesia file (tests/unit/parse_test.cpp
// holds it to that).
inline constexpr std::size_t kLookAheadPositions = 256;

}  // namespace hemstitch
