// Fixed strings in device memory: counted tile by tile, scanned, written.
//
// Mapping. One warp a tile of 8 KB, laid on aligned addresses whatever that of the texts is. A step is 2 KB: four rows in
// which each lane holds 16 bytes, and the word behind them from its neighbour. A lane judges its 16 positions by their first bytes
// (search_words.hpp), which leaves a mask. The remaining positions are compared in full, and checked against the end of their text.
// The text is searched only if a tile has such positions: by the whole warp for the tile's ends, and by a lane if a text ends
// within the tile. Patterns of up to four bytes in a tile of one text need neither. Writing does the same again for tiles that
// counted a match; a scan over the lanes of each row gives the places.
//
// Shared memory: 8 KB for the pairs of several patterns, 4 bytes for one. Synchronisation: one __syncthreads when the pairs are
// loaded, then only within warps. Complexity: all bytes are read once to count, and once more in tiles with matches; at a position
// that passes, the patterns that begin with its two bytes are compared in full. No byte outside the texts is read. CPU twin:
// find_in_texts in search.cpp.
#include "compact/pieces/piece_words.hpp"
#include "compact/scan/scan_cuda.hpp"
#include "gpu/cuda/kernel_trace.hpp"
#include "gpu/cuda/launch.hpp"
#include "gpu/cuda/scratch.hpp"
#include "gpu/cuda/warp.cuh"
#include "search/search_cuda.hpp"
#include "search/search_tuning.hpp"
#include "search/search_words.hpp"

namespace hemstitch::cuda {
namespace {

constexpr unsigned kWarps = kSearchThreads / 32;
constexpr unsigned kLaneBytes = 16;
constexpr unsigned kRowBytes = 32 * kLaneBytes;
constexpr unsigned kStepBytes = kSearchRows * kRowBytes;
static_assert(kSearchTileBytes % kStepBytes == 0);

// The texts as tiles see them: places count from the aligned address at or before the first byte.
struct Places {
  std::uintptr_t origin;
  std::uint64_t begin;  // of the texts
  std::uint64_t end;
};

HEMSTITCH_HOST_DEVICE Places places_of(const CudaTexts& texts) {
  const auto address = reinterpret_cast<std::uintptr_t>(texts.d_bytes);
  const std::uint64_t begin = address % kLaneBytes;
  return {address - begin, begin, begin + texts.bytes};
}

std::uint64_t tile_count(const CudaTexts& texts) {
  return texts.bytes == 0 ? 0 : (places_of(texts).end + kSearchTileBytes - 1) / kSearchTileBytes;
}

// Whether the first `bytes` of the pattern are at `text`, which has as many.
template <bool kIgnoreCase>
__device__ bool stands_at(const std::byte* text, const std::uint32_t* d_pattern, std::uint32_t bytes) {
  const auto pattern_byte = [&](std::uint32_t at) {
    return __ldg(d_pattern + at / 4) >> (8 * (at % 4)) & 0xFF;
  };
  const auto text_byte = [&](std::uint32_t at) {
    const std::uint32_t byte = *reinterpret_cast<const std::uint8_t*>(text + at);
    return kIgnoreCase ? folded_word(byte) : byte;
  };
  std::uint32_t at = 0;
  const std::uint32_t head =
      min(static_cast<std::uint32_t>(-reinterpret_cast<std::uintptr_t>(text) & 3), bytes);
  for (; at < head; ++at)
    if (text_byte(at) != pattern_byte(at)) return false;
  for (; at + 4 <= bytes; at += 4) {
    const std::uint32_t word = *reinterpret_cast<const std::uint32_t*>(text + at);
    const std::uint32_t* d_at = d_pattern + at / 4;
    if ((kIgnoreCase ? folded_word(word) : word) != word_from(__ldg(d_at), __ldg(d_at + 1), at % 4))
      return false;
  }
  for (; at < bytes; ++at)
    if (text_byte(at) != pattern_byte(at)) return false;
  return true;
}

// The length of the longest pattern at `text`, which has `room` bytes and has passed; 0 for none.
template <bool kSeveral, bool kIgnoreCase>
__device__ std::uint32_t longest_at(const DevicePatterns& patterns, const std::byte* text,
                                    std::uint64_t room) {
  if constexpr (!kSeveral) {
    const std::uint32_t bytes = patterns.places.most_bytes;
    if (bytes > room) return 0;
    return bytes <= 4 || stands_at<kIgnoreCase>(text, patterns.d_words + 2, bytes) ? bytes : 0;
  } else {
    const auto byte = [&](unsigned at) {
      const std::uint32_t value = *reinterpret_cast<const std::uint8_t*>(text + at);
      return kIgnoreCase ? folded_word(value) : value;
    };
    const std::uint32_t pair = byte(0) | (room > 1 ? byte(1) << 8 : 0);
    const std::uint32_t* d_first = patterns.d_words + patterns.places.first_at + pair;
    const std::uint32_t end = __ldg(d_first + 1);
    for (std::uint32_t i = __ldg(d_first); i < end; ++i) {
      const std::uint32_t pattern = __ldg(patterns.d_words + patterns.places.lists_at + i);
      const std::uint32_t bytes = __ldg(patterns.d_words + 2 * pattern + 1);
      if (bytes <= room &&
          stands_at<kIgnoreCase>(text, patterns.d_words + __ldg(patterns.d_words + 2 * pattern), bytes))
        return bytes;
    }
    return 0;
  }
}

// The texts that a tile touches: [first, beyond), of which the first ends at `first_end`.
struct TileTexts {
  std::uint64_t first;
  std::uint64_t beyond;
  std::uint64_t first_end;

  // The end of the text to which a position of the tile belongs.
  __device__ std::uint64_t end_at(const CudaTexts& texts, std::uint64_t position) const {
    if (position < first_end) return first_end;
    std::uint64_t low = first, high = beyond;
    while (high - low > 1) {
      const std::uint64_t middle = (low + high) / 2;
      if (texts.d_offsets[middle] <= position)
        low = middle;
      else
        high = middle;
    }
    return texts.d_offsets[low + 1];
  }
};

// The last text that begins at or before the position: 32 probes at once. For the whole warp.
__device__ std::uint64_t text_at(const CudaTexts& texts, std::uint64_t position, unsigned lane) {
  std::uint64_t first = 0, beyond = texts.count;
  while (beyond - first > 1) {
    const std::uint64_t step = (beyond - first + 31) / 32;
    const std::uint64_t probe = first + lane * step;
    const bool before = probe < beyond && texts.d_offsets[probe] <= position;
    first +=
        (__popc(__ballot_sync(kAllLanes, before)) - 1) * step;  // the first probe is before: at least one
    beyond = min(beyond, first + step);
  }
  return first;
}

__device__ TileTexts texts_of(const CudaTexts& texts, std::uint64_t begin, std::uint64_t end, unsigned lane) {
  const std::uint64_t first = text_at(texts, begin, lane);
  const std::uint64_t first_end = texts.d_offsets[first + 1];
  return {first, first_end >= end ? first + 1 : text_at(texts, end - 1, lane) + 1, first_end};
}

// A lane's 16 bytes and the word after them.
struct LaneText {
  std::uint32_t word[5];
};

template <bool kSeveral, bool kIgnoreCase>
__device__ std::uint32_t passing(const LaneText& text, const PatternPlaces& patterns,
                                 const std::uint32_t* sh_filter) {
  std::uint32_t mask = 0;
#pragma unroll
  for (unsigned i = 0; i < kLaneBytes; ++i) {
    const std::uint32_t word = word_from(text.word[i / 4], text.word[i / 4 + 1], i % 4);
    if constexpr (kSeveral)
      mask |= (sh_filter[(word & 0xFFFF) / 32] >> (word % 32) & 1) << i;
    else
      mask |= ((word ^ patterns.first_word) & patterns.first_mask) == 0 ? 1u << i : 0;
  }
  return mask;
}

template <bool kSeveral, bool kIgnoreCase, bool kWrite>
__global__ void __launch_bounds__(kSearchThreads, 4)
    search_tiles(const CudaTexts texts, const DevicePatterns patterns, std::uint64_t tiles,
                 std::uint32_t* d_counts, const std::uint64_t* d_begins, PackedMatch* d_matches,
                 std::uint64_t room) {
  __shared__ std::uint32_t sh_filter[kSeveral ? kPairFilterWords : 1];
  const unsigned lane = threadIdx.x % 32;
  if constexpr (kSeveral) {
    for (unsigned i = threadIdx.x; i < kPairFilterWords; i += kSearchThreads)
      sh_filter[i] = __ldg(patterns.d_words + patterns.places.filter_at + i);
    __syncthreads();
  }
  const std::uint64_t tile = std::uint64_t{blockIdx.x} * kWarps + threadIdx.x / 32;
  if (tile >= tiles) return;
  std::uint64_t next_match = 0;
  if constexpr (kWrite) {
    next_match = d_begins[tile];
    if (next_match == d_begins[tile + 1] || next_match >= room) return;
  }

  if (lane == 0) trace_mark(kTraceSearchTile, static_cast<std::uint32_t>(tile));
  const Places places = places_of(texts);
  const std::uint64_t tile_begin = tile * kSearchTileBytes;
  const std::uint64_t tile_end = min(tile_begin + kSearchTileBytes, places.end);
  bool texts_known = false;
  bool checked = false;  // whatever passes in this tile is a match
  TileTexts tile_texts{};
  std::uint32_t count = 0;
  for (std::uint64_t step = tile_begin; step < tile_end; step += kStepBytes) {
    LaneText rows[kSearchRows];
    std::uint32_t behind;  // the word behind the step
    const bool inside = step >= places.begin && step + kStepBytes + 4 <= places.end;
    const std::uintptr_t address = places.origin + step + lane * kLaneBytes;
    if (inside) {
#pragma unroll
      for (unsigned row = 0; row < kSearchRows; ++row) {
        const uint4 words = __ldcs(reinterpret_cast<const uint4*>(address + row * kRowBytes));
        rows[row].word[0] = words.x;
        rows[row].word[1] = words.y;
        rows[row].word[2] = words.z;
        rows[row].word[3] = words.w;
      }
      behind = *reinterpret_cast<const std::uint32_t*>(places.origin + step + kStepBytes);
    } else {
      const std::uintptr_t begin = places.origin + places.begin, end = places.origin + places.end;
#pragma unroll
      for (unsigned row = 0; row < kSearchRows; ++row)
#pragma unroll
        for (unsigned word = 0; word < 4; ++word)
          rows[row].word[word] = clipped_load(address + row * kRowBytes + 4 * word, begin, end);
      behind = clipped_load(places.origin + step + kStepBytes, begin, end);
    }
    if constexpr (kIgnoreCase) {
#pragma unroll
      for (unsigned row = 0; row < kSearchRows; ++row)
#pragma unroll
        for (unsigned word = 0; word < 4; ++word) rows[row].word[word] = folded_word(rows[row].word[word]);
      behind = folded_word(behind);
    }

    std::uint32_t masks[kSearchRows];
    std::uint32_t any = 0;
#pragma unroll
    for (unsigned row = 0; row < kSearchRows; ++row) {
      const std::uint32_t next = __shfl_down_sync(kAllLanes, rows[row].word[0], 1);
      const std::uint32_t next_row =
          row + 1 < kSearchRows
              ? __shfl_sync(kAllLanes, rows[row + 1 < kSearchRows ? row + 1 : row].word[0], 0)
              : behind;
      rows[row].word[4] = lane == 31 ? next_row : next;
      masks[row] = passing<kSeveral, kIgnoreCase>(rows[row], patterns.places, sh_filter);
      if (!inside) {  // positions outside the texts
        const std::uint64_t place = step + row * kRowBytes + lane * kLaneBytes;
        if (place >= places.end)
          masks[row] = 0;
        else if (places.end - place < kLaneBytes)
          masks[row] &= (1u << (places.end - place)) - 1;
        if (place < places.begin) masks[row] &= ~0u << (places.begin - place);
      }
      any |= masks[row];
    }
    if (!__any_sync(kAllLanes, any != 0)) continue;

    if (!texts_known) {
      const std::uint64_t begin = max(tile_begin, places.begin) - places.begin;
      tile_texts = texts_of(texts, begin, tile_end - places.begin, lane);
      texts_known = true;
      checked = !kSeveral && patterns.places.most_bytes <= 4 &&
                tile_end - places.begin + patterns.places.most_bytes - 1 <= tile_texts.first_end;
    }
#pragma unroll
    for (unsigned row = 0; row < kSearchRows; ++row) {
      const std::uint64_t position = step + row * kRowBytes + lane * kLaneBytes - places.begin;
      const auto match_at = [&](unsigned i) {
        return longest_at<kSeveral, kIgnoreCase>(patterns, texts.d_bytes + position + i,
                                                 tile_texts.end_at(texts, position + i) - (position + i));
      };
      std::uint32_t mask = masks[row];
      if (!checked)
        for (std::uint32_t left = mask; left != 0; left &= left - 1)
          if (match_at(__ffs(left) - 1) == 0) mask &= ~(left & -left);
      const std::uint32_t found = __popc(mask);
      count += found;
      if constexpr (kWrite) {
        std::uint32_t up_to = found;
#pragma unroll
        for (unsigned distance = 1; distance < 32; distance *= 2) {
          const std::uint32_t before = __shfl_up_sync(kAllLanes, up_to, distance);
          if (lane >= distance) up_to += before;
        }
        std::uint64_t place = next_match + up_to - found;
        for (; mask != 0 && place < room; mask &= mask - 1, ++place) {
          const unsigned i = __ffs(mask) - 1;
          d_matches[place] =
              PackedMatch::of(position + i, kSeveral ? match_at(i) : patterns.places.most_bytes);
        }
        next_match += __shfl_sync(kAllLanes, up_to, 31);
      }
    }
  }
  if constexpr (!kWrite) {
    count = sum_over_warp(count);
    if (lane == 0) d_counts[tile] = count;
  }
}

constexpr KernelBudget kSearchBudget("search.tiles", "search_tiles",
                                     {.threads = kSearchThreads, .registers = 64, .shared_bytes = 9216});
const KernelRegistration kCountRegistration(kSearchBudget, search_tiles<false, false, false>);
const KernelRegistration kWriteRegistration(kSearchBudget, search_tiles<false, false, true>);

template <bool kWrite>
void launch_tiles(const CudaTexts& texts, const DevicePatterns& patterns, std::uint32_t* d_counts,
                  const std::uint64_t* d_begins, PackedMatch* d_matches, std::uint64_t room,
                  cudaStream_t stream) {
  const bool several = patterns.places.pattern_count > 1, ignore_case = patterns.places.ignore_case != 0;
  const auto kernel =
      several ? (ignore_case ? search_tiles<true, true, kWrite> : search_tiles<true, false, kWrite>)
              : (ignore_case ? search_tiles<false, true, kWrite> : search_tiles<false, false, kWrite>);
  const std::uint64_t tiles = tile_count(texts);
  const auto blocks = static_cast<unsigned>((tiles + kWarps - 1) / kWarps);
  launch({.kernel = kSearchBudget, .grid = blocks, .stream = stream}, kernel, texts, patterns, tiles,
         d_counts, d_begins, d_matches, room);
}

struct Scratch {
  Carver carver;
  std::uint32_t* d_counts;  // of a tile
  std::uint64_t* d_begins;  // of a tile's matches, and the total
  std::size_t scan_bytes;
  std::byte* d_scan;

  Scratch(const CudaTexts& texts, void* d_scratch) : carver(d_scratch) {
    const std::uint64_t tiles = tile_count(texts);
    d_counts = carver.take<std::uint32_t>(tiles);
    d_begins = carver.take<std::uint64_t>(tiles + 1);
    scan_bytes = scan_sizes_cuda_scratch_bytes(tiles);
    d_scan = carver.take<std::byte>(scan_bytes);
  }
};

}  // namespace

std::size_t search_cuda_scratch_bytes(const CudaTexts& texts) {
  return Scratch(texts, nullptr).carver.bytes();
}

void count_matches_cuda(const CudaTexts& texts, const DevicePatterns& patterns, std::uint64_t* d_total,
                        void* d_scratch, std::size_t scratch_bytes, cudaStream_t stream) {
  const Scratch scratch(texts, d_scratch);
  check_scratch("search", scratch.carver.bytes(), d_scratch, scratch_bytes);
  launch_tiles<false>(texts, patterns, scratch.d_counts, nullptr, nullptr, 0, stream);
  scan_sizes_cuda(scratch.d_counts, tile_count(texts), scratch.d_begins, scratch.d_scan, scratch.scan_bytes,
                  stream);
  check(cudaMemcpyAsync(d_total, scratch.d_begins + tile_count(texts), sizeof(std::uint64_t),
                        cudaMemcpyDeviceToDevice, stream),
        "search: total");
}

void write_matches_cuda(const CudaTexts& texts, const DevicePatterns& patterns, PackedMatch* d_matches,
                        std::uint64_t room, void* d_scratch, std::size_t scratch_bytes, cudaStream_t stream) {
  const Scratch scratch(texts, d_scratch);
  check_scratch("search", scratch.carver.bytes(), d_scratch, scratch_bytes);
  launch_tiles<true>(texts, patterns, nullptr, scratch.d_begins, d_matches, room, stream);
}

}  // namespace hemstitch::cuda
