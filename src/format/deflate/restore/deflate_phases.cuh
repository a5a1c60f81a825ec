// Guesses for codes that do not put themselves right: windows of nearly nothing but literals of 8 bits, as blocks of data that hardly
// shrinks have them. A decoder that sets out at a wrong bit of these stays wrong, so a round would settle a single segment.
//
// What such a decoder does keep is its phase, the bit that its tokens begin at modulo 8, until a code of another length moves
// it. So each lane keeps a word of eight times three bits: in which phase a decoder leaves its segment that enters it in each of the eight. What it has
// decoded it knows; of the others it guesses that they keep their phase, or, where two starts led to the same exit, that all do. One walk over the words of all lanes then says in which phase each segment is entered, from the first one on that is not settled.
//
// Rounds go on as they did, and confirm or decode again. So nothing that is restored rests on a guess, and each round settles one segment at
// the least.
#pragma once

#include "format/deflate/restore/deflate_restore_tuning.hpp"
#include "format/deflate/restore/deflate_tables.cuh"

namespace hemstitch::cuda {

inline constexpr unsigned kDeflateSegmentBits = 32 * kDeflateSegmentWords;
inline constexpr unsigned kDeflatePhases = 8, kDeflatePhaseBits = 3;

inline constexpr unsigned kDeflateStopped = 1u << 31;  // in a bit of a window: a decoder stopped there

// The bit behind the token that begins at `bit`; where none does, or the block ends, that bit and kDeflateStopped.
template <class Window>
__device__ inline unsigned behind_token(const Window& window, const DeflateTables& tables, unsigned bit) {
  using namespace deflate_entry;
  const std::uint32_t entry = deflate_entry_of<kLitlenTableBits>(tables.litlen, window.bits(bit));
  const unsigned next = bit + (entry & kBitsMask);
  if ((entry & kKindMask) == kLiteral && (entry & kBitsMask) != 0) return next;
  const std::uint32_t distance = deflate_entry_of<kDistanceTableBits>(tables.distance, window.bits(next));
  if ((entry & kKindMask) != kLength || (distance & kBitsMask) == 0) return kDeflateStopped | bit;
  return next + (distance & kBitsMask);
}

// All eight leave in the phase of `exit`.
__device__ inline std::uint32_t phases_to(unsigned exit) { return exit % kDeflatePhases * 011111111; }

__device__ inline unsigned next_phase(std::uint32_t phases, unsigned phase) {
  return phases >> (kDeflatePhaseBits * phase) & (kDeflatePhases - 1);
}
__device__ inline std::uint32_t with_phase(std::uint32_t phases, unsigned start, unsigned exit) {
  const unsigned at = kDeflatePhaseBits * (start % kDeflatePhases);
  return (phases & ~((kDeflatePhases - 1) << at)) | exit % kDeflatePhases << at;
}

// In which phase the lane's segment is entered, where that of lane `first` is entered at `bit`. For lanes from there on.
__device__ inline unsigned entered_phase(std::uint32_t phases, unsigned first, unsigned bit, unsigned lane) {
  unsigned phase = bit % kDeflatePhases, own = phase;
#pragma unroll 1
  for (unsigned i = first; i < 31; ++i) {
    phase = next_phase(__shfl_sync(kAllLanes, phases, static_cast<int>(i)), phase);
    if (lane == i + 1) own = phase;
  }
  return own;
}

// The word of the segments of all lanes together.
__device__ inline std::uint32_t phases_of_lanes(std::uint32_t phases, unsigned lane) {
  const std::uint32_t last = __shfl_sync(kAllLanes, phases, 31);
  if (last == phases_to(last)) return last;
  unsigned phase = lane % kDeflatePhases;
#pragma unroll 1
  for (int i = 0; i < 32; ++i) phase = next_phase(__shfl_sync(kAllLanes, phases, i), phase);
  return bits_over_warp(lane < kDeflatePhases ? phase << (kDeflatePhaseBits * lane) : 0);
}

}  // namespace hemstitch::cuda
