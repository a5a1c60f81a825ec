// One copy for gather and scatter: pieces that lie one behind the other in a span, and anywhere on the other side.
//
// Mapping. The pieces are laid on an axis: piece i from offsets[i] - offsets[0] + i * kPieceCostBytes, so that an empty piece has a
// cost too. The axis is cut into equal shares, and warps take one share after the other: work is divided by bytes, however they are
// cut into pieces. A warp finds the piece that its share begins in by looking at 32 places at once, then takes 32 pieces at a time:
// each lane clips one to the share, counts its words of 16 bytes and reads its two ends (plan_piece), a scan over the lanes numbers
// the words, and every lane makes words, finding the piece of each among the 32 ends. Where small pieces follow each other at the
// target, the last word of one is the first of the next: neighbouring lanes then add up their bytes, and the last of them stores
// the word at once. That is what makes small pieces fast: a cut store takes up to 16 stores of a byte, in which the other lanes
// wait.
//
// Shared memory: 32 plans a warp, 8 warps: 8 KB. Synchronisation: __syncwarp alone. Complexity: bytes + 32 x pieces,
// and log32(pieces) loads one after the other for each share. Gaps between pieces count as bytes to divide, and cost
// the search alone. Two shares may store into one aligned word, never into one byte. CPU twins: gather_cpu.cpp,
// scatter_cpu.cpp; the arithmetic of a word is theirs to test (piece_words.hpp).
#pragma once

#include <cuda_runtime.h>

#include "compact/pieces/copy_pieces_tuning.hpp"
#include "compact/pieces/piece_words.hpp"
#include "gpu/cuda/kernel_trace.hpp"
#include "gpu/cuda/warp.cuh"

namespace hemstitch::cuda {

// Where piece i lies on either side.
struct GatheredPieces {
  static constexpr bool kSourcesAnywhere = true;
  const std::byte* const* d_sources;
  std::byte* d_span;
  __device__ const std::byte* source(std::uint64_t i, std::uint64_t) const { return d_sources[i]; }
  __device__ std::byte* target(std::uint64_t, std::uint64_t offset) const { return d_span + offset; }
};
struct ScatteredPieces {
  static constexpr bool kSourcesAnywhere = false;
  const std::byte* d_span;
  std::byte* const* d_targets;
  __device__ const std::byte* source(std::uint64_t, std::uint64_t offset) const { return d_span + offset; }
  __device__ std::byte* target(std::uint64_t i, std::uint64_t) const { return d_targets[i]; }
};

struct PieceList {
  const std::uint32_t* d_sizes;
  const std::uint64_t* d_offsets;  // ascending
  std::uint64_t count;             // at least 1
};

inline constexpr unsigned kCopyPiecesWarps = kCopyPiecesThreads / 32;

// Prefetches the sources of small pieces, all at once. Otherwise their words would be loaded 32 at a time, with a wait for memory
// each time.
__device__ inline void prefetch_source(const PiecePart& part) {
  constexpr std::uint32_t kLineBytes = 128;
  const auto prefetch = [&](std::uint32_t at) {
    asm volatile("prefetch.global.L2 [%0];" ::"l"(part.source + at));
  };
  const std::uint32_t end = part.begin + min(part.end - part.begin, kPrefetchedBytes);
  for (std::uint32_t at = part.begin; at < end; at += kLineBytes) prefetch(at);
  if (part.begin != end) prefetch(end - 1);
}

// Adds up the words of neighbouring lanes that have the same place: `joined` has a bit for each lane whose place equals that of the
// lane before. The last such lane gets the sum.
__device__ inline void join_words(MaskedWord& word, unsigned joined, unsigned lane) {
  // The distance doubles each time: a lane adds the word `distance` lanes before it if all lanes in between join.
  for (unsigned distance = 1; joined != 0; joined &= joined << distance, distance *= 2) {
    const bool takes = (joined >> lane & 1) != 0;
    for (unsigned i = 0; i < 4; ++i) {
      const std::uint32_t before = __shfl_up_sync(0xFFFFFFFFu, word.bytes.part[i], distance);
      if (takes) word.bytes.part[i] |= before;
    }
    const std::uint32_t mask = __shfl_up_sync(0xFFFFFFFFu, word.mask, distance);
    if (takes) word.mask |= mask;
  }
}

// Multiprocessors of compute capability 7.5 hold 1024 threads.
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ < 800
inline constexpr unsigned kCopyPiecesLeastBlocks = 1024 / kCopyPiecesThreads;
#else
inline constexpr unsigned kCopyPiecesLeastBlocks = kCopyPiecesResidentBlocks;
#endif

template <class Pieces>
__global__ void __launch_bounds__(kCopyPiecesThreads, kCopyPiecesLeastBlocks)
    copy_pieces(const PieceList list, const Pieces pieces) {
  static_assert((kMostShareBytes / kPieceWordBytes + 64) * 4 <= kMostLead);
  __shared__ PiecePlan sh_plans[kCopyPiecesWarps][32];
  const unsigned lane = threadIdx.x % 32, warp = threadIdx.x / 32;
  PiecePlan* sh_plan = sh_plans[warp];

  const auto place_of = [](std::uint64_t offset, std::uint64_t i) { return offset + i * kPieceCostBytes; };
  const std::uint64_t origin = list.d_offsets[0], last = list.count - 1;
  const std::uint64_t beyond_all = place_of(list.d_offsets[last], last) + list.d_sizes[last];
  const std::uint32_t warps = gridDim.x * kCopyPiecesWarps;
  // Every warp gets equally many shares, so that none works alone at the end.
  const std::uint64_t rounds = (beyond_all - origin) / (std::uint64_t{warps} * kMostShareBytes) + 1;
  const auto share = static_cast<std::uint32_t>(
      max((beyond_all - origin) / (warps * rounds) + 1, std::uint64_t{kLeastShareBytes}));

  for (std::uint64_t begin = origin + std::uint64_t{blockIdx.x * kCopyPiecesWarps + warp} * share;
       begin < beyond_all; begin += std::uint64_t{warps} * share) {
    const std::uint64_t end = begin + share;
    // The last piece that begins at or before the share: in [first, beyond).
    std::uint64_t first = 0, beyond = list.count;
    while (beyond - first > 1) {
      const std::uint64_t step = (beyond - first + 31) / 32;
      const std::uint64_t probe = first + lane * step;
      const bool before = probe < beyond && place_of(list.d_offsets[probe], probe) <= begin;
      const unsigned lanes_before = __popc(__ballot_sync(kAllLanes, before));
      first += (lanes_before - 1) * step;  // piece `first` begins before: at least one lane
      beyond = min(beyond, first + step);
    }
    if (lane == 0) trace_mark(kTraceCopyShare, static_cast<std::uint32_t>(first));

    for (std::uint64_t i = first + lane;; i += 32) {
      PiecePart part{nullptr, nullptr, 0, 0};
      bool past = true;
      if (i < list.count) {
        const std::uint64_t offset = list.d_offsets[i];
        const std::uint64_t place = place_of(offset, i);
        past = place >= end;
        const ByteInterval bytes = part_in_share(place, past ? 0 : list.d_sizes[i], begin, end);
        if (bytes.begin != bytes.end)
          part = {pieces.source(i, offset), pieces.target(i, offset), bytes.begin, bytes.end};
      }
      if constexpr (Pieces::kSourcesAnywhere) prefetch_source(part);
      const std::uint32_t words = word_count(part);
      std::uint32_t words_up_to = words;
      for (unsigned distance = 1; distance < 32; distance *= 2) {
        const std::uint32_t before = __shfl_up_sync(kAllLanes, words_up_to, distance);
        if (lane >= distance) words_up_to += before;
      }
      const std::uint32_t first_word = words_up_to - words;
      const std::uint32_t all_words = __shfl_sync(kAllLanes, words_up_to, 31);
      // Plans of parts without words are left out.
      const unsigned lanes_before = (1u << lane) - 1;
      const unsigned with_words = __ballot_sync(kAllLanes, words != 0);
      const unsigned before = with_words & lanes_before;
      std::uint64_t last_target = reinterpret_cast<std::uint64_t>(part.target) + part.end - 1;
      last_target = __shfl_sync(kAllLanes, last_target, before == 0 ? 0 : 31 - __clz(before));
      if (words != 0) {
        PiecePlan plan = plan_piece(part, first_word);
        const std::uint64_t first_target = reinterpret_cast<std::uint64_t>(part.target) + part.begin;
        if (before != 0 && last_target / kPieceWordBytes == first_target / kPieceWordBytes)
          plan.shift_bits |= kJoinsBit;
        sh_plan[__popc(before)] = plan;
      }
      __syncwarp();
      unsigned begun = 0;  // parts that began in words before
      for (std::uint32_t base = 0; base < all_words; base += 32) {
        const std::uint32_t word = base + lane;
        // A bit for each of these 32 words that is a part's first.
        const std::uint32_t distance = first_word - base;
        const unsigned firsts = bits_over_warp(words != 0 && distance < 32 ? 1u << distance : 0);
        const bool is_first = (firsts >> lane & 1) != 0;
        const PiecePlan plan = sh_plan[begun + __popc(firsts & (lanes_before * 2 + 1)) - 1];
        begun += __popc(firsts);
        const SourceEnds ends = source_ends(plan, word);
        auto* const target =
            reinterpret_cast<std::byte*>(plan.target + std::uint64_t{word} * kPieceWordBytes);
        if (firsts == 0 && __all_sync(kAllLanes, is_inner_word(ends))) {
          store_target(target, load_inner_word(plan, word));
          continue;
        }
        MaskedWord made = load_word(plan, ends, word, is_first);
        // The lane before the first one belongs to the previous 32 words and has stored its part.
        const unsigned joined =
            __ballot_sync(kAllLanes, is_first && lane != 0 && (plan.shift_bits & kJoinsBit) != 0);
        join_words(made, joined, lane);
        if ((joined >> lane >> 1 & 1) == 0) store_word(target, made);
      }
      __syncwarp();
      if (__any_sync(kAllLanes, past)) break;
    }
  }
}

}  // namespace hemstitch::cuda
