// Numbers of near_three. Part of the definition of DEFLATE's levels: changing one changes bytes.
#pragma once

namespace hemstitch {

// Bits of the hash of three bytes: as many as hash_chain's, so that a device needs one size of table.
inline constexpr unsigned kNearThreeHashBits = 14;

}  // namespace hemstitch
