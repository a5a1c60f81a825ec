// The door that every set of finder parameters passes before a finder sees it.
#pragma once

#include <cstdint>

#include "hemstitch/match.hpp"

namespace hemstitch {

inline constexpr std::uint32_t kMinMatchLenFloor =
    3;                                               // bytes; two bytes never pay for an offset and a length
inline constexpr std::uint32_t kMaxTopK = 16;        // entries; 64 positions * 16 * 4 bytes = 4 KB shared
inline constexpr std::uint32_t kMaxCostBits = 4096;  // keeps a gigabyte's cost in 1/16 bit inside 64 bits
inline constexpr std::uint32_t kCoopGroupPositions = 64;  // positions that search together in coop_stitch

// Throws kInvalidOption with the name of the first field that is outside its limits for this finder.
void check_finder_parameters(Finder finder, const FinderParameters& parameters);

}  // namespace hemstitch
