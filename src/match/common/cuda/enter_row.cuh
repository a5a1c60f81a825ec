// Entering a row of 32 positions, one a lane, in a table of 16-bit heads, in order: for warps that build chains.
//
// For each lane of a row, a chain needs what its slot would hold if the lanes below it had entered one after the other: the nearest
// of them with the same slot, else what the slot held before the row. Mostly there is no such lane. So all lanes store to their
// slots at once and then read them: a lane that finds another value shares its slot. The hardware decides which of several lanes
// wins, and that does not matter: only lanes that share a slot, winners and losers, are then matched, and the highest lane of each
// slot stores again.
//
// Matching all lanes (match_any) would do the same, and costs two cycles of the multiprocessor for every distinct value:
// on an H200 that is 64 for a row without equal slots, while the two loads and the store take 3 each.
#pragma once

#include <cstdint>

#include "gpu/cuda/warp.cuh"

namespace hemstitch::cuda {

// By all lanes of a warp. `value` is what a lane enters: lane 0's value plus the lane's number; the table keeps 16 bits of it.
// Entering has two halves, so that other work may be done between them: the second uses what the first has loaded. The second
// returns 16 bits: 0 in lanes that do not enter.
class RowEntry {
 public:
  __device__ __forceinline__ RowEntry(std::uint16_t* sh_heads, std::uint32_t slot, bool enters,
                                      std::uint32_t value)
      : sh_heads_(sh_heads), slot_(slot), value_(value) {
    if (enters) before_ = sh_heads[slot];
    __syncwarp();
    if (enters) sh_heads[slot] = static_cast<std::uint16_t>(value);
    __syncwarp();
    behind_ = enters ? sh_heads[slot] : value;
  }

  __device__ __forceinline__ std::uint32_t finish(std::uint32_t lane) {
    const std::uint32_t winner_above = (behind_ - value_) & 0xFFFF;  // as lanes, modulo 65536
    const unsigned lost = __ballot_sync(~0u, winner_above != 0);
    if (lost != 0) {
      const unsigned won = bits_over_warp(winner_above != 0 ? 1u << ((lane + winner_above) & 31) : 0u);
      const bool shares = ((lost | won) >> lane & 1) != 0;
      const unsigned peers = __match_any_sync(~0u, shares ? slot_ : ~0u);
      if (shares) {
        const unsigned below = peers & ((1u << lane) - 1);
        if (below != 0)
          before_ =
              (value_ - lane + 31 - static_cast<std::uint32_t>(__clz(static_cast<int>(below)))) & 0xFFFF;
        if (peers >> lane == 1) sh_heads_[slot_] = static_cast<std::uint16_t>(value_);
      }
      __syncwarp();
    }
    return before_;
  }

 private:
  std::uint16_t* sh_heads_;
  std::uint32_t slot_, value_, before_ = 0, behind_;
};

// Enters consecutive rows when nobody needs what the slots held before: only the highest value of each slot counts. `value` is what
// a lane enters in the first row, `enters` says in which rows it enters one; values of each later row are higher by 32, and all
// values in the table are lower. So the rows are stored without waiting for each other, and only a lane that then finds a lower
// value in its slot stores again: values in slots only rise. This has a third of RowEntry's dependent steps.
template <unsigned kRows>
__device__ __forceinline__ void enter_rows_unlinked(std::uint16_t* sh_heads,
                                                    const std::uint32_t (&slots)[kRows],
                                                    bool (&enters)[kRows], std::uint32_t value) {
  bool again;
  do {
#pragma unroll
    for (unsigned i = 0; i < kRows; ++i)
      if (enters[i]) sh_heads[slots[i]] = static_cast<std::uint16_t>(value + i * 32);
    __syncwarp();
    again = false;
#pragma unroll
    for (unsigned i = 0; i < kRows; ++i) {
      enters[i] = enters[i] && sh_heads[slots[i]] < value + i * 32;
      again |= enters[i];
    }
    __syncwarp();
  } while (__any_sync(~0u, again));
}

}  // namespace hemstitch::cuda
