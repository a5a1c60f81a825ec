// Guesses for codes that do not synchronise by themselves: windows of almost only literals of 8 bits, as in blocks of data that
// hardly shrinks. There, a decoder that starts at a wrong bit stays wrong, so a round would settle only one segment.
//
// But such a decoder keeps its phase (the bit at which its tokens begin, modulo 8) until a code of another length moves it. So each
// lane keeps a word of eight times three bits: for each of the eight phases in which a decoder may enter the segment, the phase in
// which it leaves. The lane knows this for the phases that it has decoded. For the others it guesses that they are kept; or, if two
// starts led to the same exit, that all phases lead there. One walk over the words of all lanes then tells in which phase each
// segment is entered, beginning with the first segment that is not settled.
//
// Rounds go on as before: they confirm a segment or decode it again. So no result rests on a guess, and each round settles at least
// one segment.
#pragma once

#include "format/deflate/restore/deflate_restore_tuning.hpp"
#include "format/deflate/restore/deflate_tables.cuh"

namespace hemstitch::cuda {

inline constexpr unsigned kDeflateSegmentBits = 32 * kDeflateSegmentWords;
inline constexpr unsigned kDeflatePhases = 8, kDeflatePhaseBits = 3;

inline constexpr unsigned kDeflateStopped = 1u << 31;  // in a bit of a window: a decoder stopped there

// The bit after the token that begins at `bit`. If no token begins there, or the block ends, `bit` with kDeflateStopped.
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

// The phase in which the lane's segment is entered, if the segment of lane `first` is entered at `bit`. For lanes from `first` on.
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
