// Checks every set of finder parameters before a finder sees it.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "hemstitch/match.hpp"

namespace hemstitch {

// In bytes; a match of two bytes never pays for its offset and length.
inline constexpr std::uint32_t kMinMatchLenFloor = 3;
// Entries of one position's list: 64 positions * 16 * 4 bytes are 4 KB of workgroup memory.
inline constexpr std::uint32_t kMaxTopK = 16;
// More bits than a literal or a match ever costs; any block's cost in 1/16 bit stays far below 2^64.
inline constexpr std::uint32_t kMaxCostBits = 4096;
// How many positions search together in coop_stitch.
inline constexpr std::uint32_t kCoopGroupPositions = 64;

// Unless `holds`, throws kInvalidOption with the field's name, its value and its limits.
void require_parameter(bool holds, std::string_view field, std::uint64_t value, const std::string& limits);

// Check the fields that all finders and parses read, and those of finders that try offset after offset. Throw
// kInvalidOption.
void check_common_parameters(const FinderParameters& parameters);
void check_scan_parameters(const FinderParameters& parameters);

// Throws kInvalidOption with the name of the first field that is outside its limits for this finder.
void check_finder_parameters(Finder finder, const FinderParameters& parameters);

}  // namespace hemstitch
