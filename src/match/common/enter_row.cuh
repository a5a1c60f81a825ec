// Entering a row of 32 positions, one a lane, in a table of 16-bit heads, in order: for warps that build chains.
//
// What a chain needs of a row is, for each lane, what its slot would hold had the lanes below it entered one after the
// other: the nearest of them with its slot, else what stood there before the row. Mostly there is no such lane. So all
// lanes store to their slots at once and look at what stands there then: a lane that finds another's value shares its
// slot. Which lane of several won is the hardware's affair, and does not matter: only lanes that share a slot, winners and
// losers, are then told apart by matching, and the highest of each slot stores once more.
//
// Matching all lanes (match_any) would do the same, and costs two cycles of the multiprocessor for every distinct value:
// on an H200 64 for a row without equal slots, where the two loads and the store take 3 each.
#pragma once

#include <cstdint>

#include "gpu/cuda/warp.cuh"

namespace hemstitch::cuda {

// By all lanes of a warp. `value` is what a lane enters, of which the table keeps 16 bits: lane 0's, and as many more as
// the lane's number. In two halves, so that others' work may stand between them: what the first asks for the second looks
// at. The second returns 16 bits; 0 in lanes that do not enter.
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

// Rows one behind the other, where nobody wants to know what was there before: of each slot only the highest value counts. `value`
// is what a lane enters of the first row, `enters` says which; values of every later row are 32 more, and all that stands in the
// table is less. So the rows are stored without waiting for each other, and only a lane that then finds less in its slot stores
// again: what stands in a slot that somebody is content with only rises. A third of the steps that wait for each other in RowEntry.
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
