// What several warps hold of a stream that they restore together, a group, and how they find its tokens: in a window of as many segments as
// there are lanes.
//
// Each warp makes its own segments agree, as one warp alone does. Then the warps compare where they end: the first one that was not
// entered where the one before it ended starts again from there. The warps behind it are told in which phase they will be entered
// (deflate_phases.cuh). Most warps have to go over their first segment again, and no more. If a warp does not settle in some
// rounds, the others do not wait for it until it is the first one: it may be beyond the end of the block, where codes mean nothing.
// Each turn settles one warp at the least, so there are as many turns as warps at the most, of 32 rounds each.
#pragma once

#include <algorithm>
#include <type_traits>

#include "format/deflate/restore/deflate_window.cuh"

namespace hemstitch::cuda {

// The numbers of a group of so many warps.
template <unsigned kWarps>
struct DeflateGroup {
  static constexpr unsigned kThreads = 32 * kWarps;
  static constexpr unsigned kWindowWords = kWarps * kDeflateWindowWords;
  // All tokens of one warp's window fit, even if each has one bit. So every window makes progress.
  static constexpr unsigned kListedTokens = std::max(kWarps * 1024, 32 * kDeflateSegmentBits);
  static constexpr unsigned kReadTokens = kThreads * kDeflateThreadTokens;
  static constexpr unsigned kPartBytes = kThreads * kDeflateThreadBytes, kPartStripes = kPartBytes / 32;
};

// A part of the output while it is written (deflate_group_emission.cuh).
template <unsigned kWarps>
struct DeflatePart {
  static constexpr unsigned kBytes = DeflateGroup<kWarps>::kPartBytes,
                            kStripes = DeflateGroup<kWarps>::kPartStripes;
  static_assert(kBytes <= 1u << 16, "roots have 16 bits");

  std::uint32_t starts[kStripes];         // a bit for each byte that a token begins at
  std::uint32_t tokens_before[kStripes];  // how many of the group's tokens begin before the stripe
  std::uint16_t roots[kBytes];            // the byte of the part that a byte is a copy of
  std::uint8_t values[kBytes];
};

template <unsigned kWarps>
struct DeflateGroupWindow {
  static constexpr unsigned kWords = DeflateGroup<kWarps>::kWindowWords;
  using Token = std::conditional_t<32 * kWords <= 1u << 16, std::uint16_t, std::uint32_t>;

  std::uint32_t words[kWords + kDeflateSpareWords];
  union {
    struct {
      union {
        std::uint32_t marks[kWords];
        DeflatePart<kWarps> part;  // when all is listed
      };
      Token tokens[DeflateGroup<kWarps>::kListedTokens];
    };
    DeflateTableWork table_work;
  };

  __device__ std::uint32_t bits(unsigned bit) const {
    return __funnelshift_r(words[bit / 32], words[bit / 32 + 1], bit % 32);
  }
};

inline constexpr unsigned kNotSettled = ~0u;  // no exit has this value

// What the other warps need to know of a warp's segments: where the first one was entered and the last one left, which phase leads
// to which, and how many tokens they have.
struct DeflateWarpSegments {
  unsigned start;  // kNotSettled: they do not agree yet
  unsigned exit;
  std::uint32_t phases;
  unsigned count;
};

template <unsigned kWarps>
struct DeflateGroupMemory {
  DeflateTables tables;
  DeflateGroupWindow<kWarps> window;
  DeflateWarpSegments warps[kWarps];
  std::uint32_t
      infos[DeflateGroup<kWarps>::kReadTokens];  // of tokens that were read, as in DeflateTokenBytes
  std::uint32_t sums[kWarps];
  std::uint64_t bit;  // behind the header of a block, 0 where it is none
  DeflateStream stream;
};

// Corrects the marks of all warps' segments until they are those of one decoder. Ends with a barrier, after which sh.warps is
// complete except for counts.
template <unsigned kWarps>
__device__ void settle_warps(DeflateGroupMemory<kWarps>& sh, DeflateSegment& segment, unsigned thread) {
  const unsigned lane = thread % 32, warp = thread / 32;
  unsigned start = __shfl_sync(kAllLanes, segment.start, 0), plain_rounds = kDeflatePlainRounds;
  unsigned wrong = 0;  // the first warp that was not entered where the one before it left, or has not settled
  while (true) {
    const bool settled = settle_segments(sh.window, sh.tables, start, segment, plain_rounds,
                                         warp == wrong ? kDeflateMostRounds : kDeflateTurnRounds, lane);
    plain_rounds = 0;
    const unsigned exit = __shfl_sync(kAllLanes, segment.exit, static_cast<int>(last_lane(segment)));
    const std::uint32_t phases = phases_of_lanes(segment.phases, lane);
    if (lane == 0) {
      sh.warps[warp].start = settled ? start : kNotSettled;
      sh.warps[warp].exit = exit;
      sh.warps[warp].phases = phases;
    }
    __syncthreads();
    wrong = 1;
    while (wrong < kWarps && sh.warps[wrong].start == sh.warps[wrong - 1].exit) ++wrong;
    if (wrong == kWarps || (sh.warps[wrong - 1].exit & kDeflateStopped) != 0) return;
    if (warp >= wrong) {
      unsigned phase = sh.warps[wrong - 1].exit % kDeflatePhases;
      for (unsigned i = wrong; i < warp; ++i) phase = next_phase(sh.warps[i].phases, phase);
      start = sh.warps[warp - 1].exit;
      if (warp > wrong && ((start & kDeflateStopped) != 0 || start % kDeflatePhases != phase))
        start = warp * 32 * kDeflateSegmentBits + phase;
    }
    __syncthreads();
  }
}

// Lists where the tokens of the window at `bit` of the stream begin: those of the first warps, up to one that stopped, as many as
// the list has room for. Begins and ends with a barrier.
template <unsigned kWarps>
__device__ DeflateListed find_group_tokens(const DeflateStream& stream, std::uint64_t bit,
                                           DeflateGroupMemory<kWarps>& sh, unsigned thread) {
  const unsigned lane = thread % 32, warp = thread / 32;
  load_window<DeflateGroup<kWarps>::kThreads>(stream, bit / 32, sh.window, thread);
  __syncthreads();
  DeflateSegment segment = open_segment(sh.window, sh.tables, thread, static_cast<unsigned>(bit % 32),
                                        stream.end_bit - bit / 32 * 32);
  __syncwarp();
  settle_warps(sh, segment, thread);
  const unsigned count = lane > last_lane(segment) ? 0 : count_marks(sh.window, thread);
  const unsigned up_to_lane = sum_up_to_lane(count, lane);
  if (lane == 31) sh.warps[warp].count = up_to_lane;
  __syncthreads();
  DeflateListed listed{0, 0};
  for (unsigned i = 0; i < kWarps; ++i) {
    const DeflateWarpSegments of_warp = sh.warps[i];
    if (listed.count + of_warp.count > DeflateGroup<kWarps>::kListedTokens) break;
    // Lanes behind the one that stopped have marks that mean nothing, and no room for them.
    if (i == warp && count != 0)
      list_marks(sh.window, thread, sh.window.tokens + listed.count + (up_to_lane - count));
    listed = {listed.count + of_warp.count, of_warp.exit};
    if ((of_warp.exit & kDeflateStopped) != 0) break;
  }
  __syncthreads();
  return listed;
}

}  // namespace hemstitch::cuda
