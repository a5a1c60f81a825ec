// Entering a row of 32 positions, one a lane, in a table of 16-bit heads, in order: for warps that build chains.
//
// What the chains need of a row is, for each lane, the head before the row, and which lanes below it have its slot. Mostly
// none has. So all lanes store to their slots at once and look at what stands there then: a lane that finds another's
// value shares its slot. Which lane of several won is the hardware's affair, and does not matter: only lanes that share a
// slot, winners and losers, are then told apart by matching, and the highest of each slot stores once more.
//
// Matching lanes (match_any) alone would do the same, and cost two cycles of the multiprocessor for every distinct value:
// on an H200 64 for a row without equal slots, where the two loads and the store take 3 each.
#pragma once

#include <cstdint>

namespace hemstitch::cuda {

struct EnteredRow {
  std::uint32_t head;         // what stood in the lane's slot before the row; unspecified where the lane does not enter
  std::uint32_t peers_below;  // the lanes below this one that have its slot, a bit each
};

// By all lanes of a warp. `value` is what a lane enters: 16 bits of lane 0's and as many more as the lane's number. Lanes
// that do not `enter` have no peers.
__device__ __forceinline__ EnteredRow enter_row(std::uint16_t* sh_heads, std::uint32_t slot, bool enters,
                                                std::uint32_t value, std::uint32_t lane) {
  EnteredRow row{0, 0};
  if (enters) row.head = sh_heads[slot];
  __syncwarp();
  if (enters) sh_heads[slot] = static_cast<std::uint16_t>(value);
  __syncwarp();
  const std::uint32_t winner_above = enters ? (sh_heads[slot] - value) & 0xFFFF : 0;  // as lanes, modulo 65536
  const unsigned lost = __ballot_sync(~0u, winner_above != 0);
  if (lost != 0) {
    const unsigned won = __reduce_or_sync(~0u, winner_above != 0 ? 1u << ((lane + winner_above) & 31) : 0u);
    const bool shares = ((lost | won) >> lane & 1) != 0;
    const unsigned peers = __match_any_sync(~0u, shares ? slot : ~0u);
    if (shares) {
      row.peers_below = peers & ((1u << lane) - 1);
      if (peers >> lane == 1) sh_heads[slot] = static_cast<std::uint16_t>(value);
    }
    __syncwarp();
  }
  return row;
}

}  // namespace hemstitch::cuda
