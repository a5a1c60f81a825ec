// One copy for gather and scatter: pieces that lie one behind the other in a span, and anywhere on the other side.
//
// Mapping. The pieces are laid on an axis: piece i from offsets[i] - offsets[0] + i * kPieceCostBytes, so that pieces
// cost something though they be empty. The axis is cut into equal shares, one a warp (and again, where there are more
// shares than warps): work is divided by bytes, however they are cut into pieces. A warp finds the piece that its share
// begins in by looking at 32 places at once, then takes 32 pieces at a time: each lane clips one to the share and counts
// its words of 16 bytes, a scan over the lanes numbers them, and every lane copies words, finding the piece of each
// among the 32 ends.
//
// Shared memory: 32 parts and their first words a warp, 8 warps: 8 KB. Synchronisation: __syncwarp alone. Complexity: bytes + 32 x pieces,
// and log32(pieces) loads one after the other for each share. Gaps between pieces count as bytes to divide, and cost
// the search alone. Two shares may store into one aligned word, never into one byte. CPU twins: gather_cpu.cpp,
// scatter_cpu.cpp; the arithmetic of a word is theirs to test (piece_words.hpp).
#pragma once

#include <cuda_runtime.h>

#include "compact/pieces/copy_pieces_tuning.hpp"
#include "compact/pieces/piece_words.hpp"

namespace hemstitch::cuda {

// Where piece i lies on either side.
struct GatheredPieces {
  const std::byte* const* d_sources;
  std::byte* d_span;
  __device__ const std::byte* source(std::uint64_t i, std::uint64_t) const { return d_sources[i]; }
  __device__ std::byte* target(std::uint64_t, std::uint64_t offset) const { return d_span + offset; }
};
struct ScatteredPieces {
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

template <class Pieces>
__global__ void __launch_bounds__(kCopyPiecesThreads, 6)
    copy_pieces(const PieceList list, const Pieces pieces) {
  constexpr unsigned kAllLanes = 0xFFFFFFFFu;
  __shared__ PiecePart sh_parts[kCopyPiecesWarps][32];
  __shared__ std::uint32_t sh_first_words[kCopyPiecesWarps][32];
  const unsigned lane = threadIdx.x % 32, warp = threadIdx.x / 32;
  PiecePart* sh_part = sh_parts[warp];
  std::uint32_t* sh_first_word = sh_first_words[warp];

  const std::uint64_t origin = list.d_offsets[0];
  const auto place_of = [&](std::uint64_t offset, std::uint64_t i) {
    return offset - origin + i * kPieceCostBytes;
  };
  const std::uint64_t last = list.count - 1;
  const std::uint64_t total = place_of(list.d_offsets[last], last) + list.d_sizes[last];
  const std::uint64_t warps = std::uint64_t{gridDim.x} * kCopyPiecesWarps;
  const std::uint64_t fair = (total + warps - 1) / warps;
  const std::uint64_t share =
      fair < kLeastShareBytes ? kLeastShareBytes : (fair > kMostShareBytes ? kMostShareBytes : fair);

  for (std::uint64_t begin = (std::uint64_t{blockIdx.x} * kCopyPiecesWarps + warp) * share; begin < total;
       begin += warps * share) {
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
      const std::uint32_t words = word_count(part);
      std::uint32_t words_up_to = words;
      for (unsigned distance = 1; distance < 32; distance *= 2) {
        const std::uint32_t before = __shfl_up_sync(kAllLanes, words_up_to, distance);
        if (lane >= distance) words_up_to += before;
      }
      sh_part[lane] = part;
      sh_first_word[lane] = words_up_to - words;
      __syncwarp();
      const std::uint32_t all_words = __shfl_sync(kAllLanes, words_up_to, 31);
      for (std::uint32_t base = 0; base < all_words; base += 32) {
        const std::uint32_t word = base + lane;
        unsigned owner = 0;  // the number of pieces that end at or before the word
        for (unsigned step = 16; step != 0; step /= 2)
          if (__shfl_sync(kAllLanes, words_up_to, owner + step - 1) <= word) owner += step;
        if (word < all_words) copy_word(sh_part[owner], word - sh_first_word[owner]);
      }
      __syncwarp();
      if (__any_sync(kAllLanes, past)) break;
    }
  }
}

}  // namespace hemstitch::cuda
