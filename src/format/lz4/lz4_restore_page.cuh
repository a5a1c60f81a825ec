// Restores a page by a warp, in shared memory alone.
//
// The block is loaded behind the place of the output, in one buffer, so that the output grows toward what is still to be
// read and never reaches it: a sequence restores at least as many bytes as it takes, but for one byte in every 255
// literals and two at the end, and the buffer leaves more room than that.
//
//   buffer   | output .......................... |
//            |         | block .................... |
//
// 1. Walk (lz4_walk.hpp): 32 segments, one a lane.
// 2. Unfold: each lane goes over its sequences again, now knowing where they write. Of every piece (a literal run or a
//    match) it keeps the distance from where it writes to where it reads, which for literals is negative, and sets the
//    bit of its first byte in a bitmap of the output. Here every offset and every length is checked.
// 3. Copy, 32 bytes of the output (a window) at a time, one a lane: a population count of the bitmap up to the lane's bit
//    says which piece the byte belongs to, its distance where to read. Where some byte reads from its own window, lanes
//    first follow each other's sources, doubling the step, to one outside of it: five rounds at most, whatever the
//    period.
// 4. Store.
//
// The page's last sequence, and whatever stops the walk or fails a check, goes through restore_lz4_sequence, which alone
// decides on statuses. A block too large for any page (they exist only damaged) goes through it from the start.
#pragma once

#include <cuda_pipeline.h>

#include "core/page.hpp"
#include "format/lz4/lz4_restore_sequence.cuh"
#include "format/lz4/lz4_walk.hpp"

namespace hemstitch::cuda {

inline constexpr std::uint32_t kWindowBytes = 32;
inline constexpr std::uint32_t kPageWindows = kPageBytes / kWindowBytes;

// A block that restores to n bytes has at most n + n / 255 + 2 of them.
inline constexpr std::uint32_t kMostPageBlockBytes = kPageBytes + 32;
static_assert(kPageBytes + kPageBytes / 255 + 2 <= kMostPageBlockBytes);
static_assert(kMostPageBlockBytes <= kLz4MostWalkedBytes);

// By how much the block's end stands behind the output's.
inline constexpr std::uint32_t kPageMarginBytes = 32;
static_assert(kPageBytes / 255 + 2 <= kPageMarginBytes);

// Where the pieces of a window are found.
struct Lz4Window {
  std::uint32_t begins;       // bit i: a piece begins with byte i
  std::int32_t piece_before;  // the piece that its first byte would belong to if none began there
};

template <std::uint32_t kPieces>
struct alignas(16) Lz4PageMemory {
  // The block's end is at most 15 bytes behind its place, for its alignment; lanes behind the output's end read, and
  // discard, up to 31 bytes more.
  std::uint8_t buffer[kPageBytes + kPageMarginBytes + 64];
  std::int16_t distances[kPieces];
  Lz4Window windows[kPageWindows];
};

// Adds up over the lanes before this one, and over all.
__device__ inline std::uint32_t sum_before(std::uint32_t value, std::uint32_t& total, unsigned lane) {
  std::uint32_t sum = value;
#pragma unroll
  for (unsigned step = 1; step < 32; step *= 2) {
    const std::uint32_t below = __shfl_up_sync(kAllLanes, sum, step);
    if (lane >= step) sum += below;
  }
  total = __shfl_sync(kAllLanes, sum, 31);
  return sum - value;
}

// Global bytes to shared memory of the same alignment modulo 16. No byte outside of the range is read.
__device__ inline void load_lz4_bytes(const std::uint8_t* d_from, std::uint8_t* sh_to, std::uint32_t count,
                                      unsigned lane) {
  const auto misaligned = static_cast<std::uint32_t>(reinterpret_cast<std::uintptr_t>(d_from) % 16);
  const std::uint32_t head = min((16 - misaligned) % 16, count);
  const std::uint32_t vectors = (count - head) / 16;
  for (std::uint32_t i = lane; i < vectors; i += 32)
    __pipeline_memcpy_async(sh_to + head + 16 * i, d_from + head + 16 * i, 16);
  __pipeline_commit();
  if (lane < head) sh_to[lane] = d_from[lane];
  const std::uint32_t tail_begin = head + 16 * vectors;
  if (tail_begin + lane < count && lane < 16) sh_to[tail_begin + lane] = d_from[tail_begin + lane];
  __pipeline_wait_prior(0);
  __syncwarp();
}

// Shared bytes at a multiple of 16 to global memory of any alignment. No byte outside of the range is written.
__device__ inline void store_lz4_bytes(const std::uint8_t* sh_from, std::uint8_t* d_to, std::uint32_t count,
                                       unsigned lane) {
  const auto address = reinterpret_cast<std::uintptr_t>(d_to);
  if (address % 16 == 0) {
    const std::uint32_t vectors = count / 16;
    for (std::uint32_t i = lane; i < vectors; i += 32)
      reinterpret_cast<uint4*>(d_to)[i] = reinterpret_cast<const uint4*>(sh_from)[i];
    const std::uint32_t tail = 16 * vectors + lane;
    if (tail < count) d_to[tail] = sh_from[tail];
    return;
  }
  const std::uint32_t head = min(static_cast<std::uint32_t>(-address % 4), count);
  const std::uint32_t words = (count - head) / 4;
  const auto* sh_words = reinterpret_cast<const std::uint32_t*>(sh_from);
  auto* d_words = reinterpret_cast<std::uint32_t*>(d_to + head);
  for (std::uint32_t i = lane; i < words; i += 32)
    d_words[i] = __funnelshift_r(sh_words[i], sh_words[i + 1], 8 * head);
  if (lane < head) d_to[lane] = sh_from[lane];
  const std::uint32_t tail = head + 4 * words + lane;
  if (tail < count) d_to[tail] = sh_from[tail];
}

// Step 1: where each lane begins and what it walks over.
struct Lz4LaneWalk {
  std::uint32_t entry;
  Lz4Walk walk;
};

__device__ inline Lz4LaneWalk walk_lz4_together(const std::uint8_t* sh_bytes, std::uint32_t begin,
                                                std::uint32_t segment_bytes, std::uint32_t limit,
                                                unsigned lane) {
  const std::uint32_t segment_end = begin + (lane + 1) * segment_bytes;
  Lz4LaneWalk mine;
  mine.entry = begin + lane * segment_bytes;
  // A guess at or behind the limit walks over nothing, and is no stop.
  const std::uint32_t end = min(segment_end, limit);
  mine.walk = walk_lz4(sh_bytes, mine.entry, end, limit);
  for (;;) {
    const std::uint32_t entry = __shfl_up_sync(kAllLanes, mine.walk.left_at, 1);
    const bool changes = lane != 0 && entry != mine.entry;
    if (!__any_sync(kAllLanes, changes)) return mine;
    if (changes) {
      mine.entry = entry;
      mine.walk = walk_lz4(sh_bytes, entry, end, limit);
    }
  }
}

// Step 3 for one window where bytes may read from bytes before them in it.
__device__ inline void copy_lz4_window(std::uint8_t* sh_buffer, std::uint32_t position, std::int32_t distance,
                                       unsigned lane) {
  unsigned source_lane =
      static_cast<unsigned>(distance - 1) < lane ? lane - static_cast<unsigned>(distance) : lane;
  bool moves = true;
  while (moves) {
    const unsigned next = __shfl_sync(kAllLanes, source_lane, static_cast<int>(source_lane));
    moves = __any_sync(kAllLanes, next != source_lane);
    source_lane = next;
  }
  const unsigned byte = sh_buffer[static_cast<std::int32_t>(position) - distance];
  const unsigned resolved = __shfl_sync(kAllLanes, byte, static_cast<int>(source_lane));
  __syncwarp();
  sh_buffer[position] = static_cast<std::uint8_t>(resolved);
  __syncwarp();
}

// The warp's page. kGroup windows are copied at a time where none of them reads from another.
template <std::uint32_t kPieces, unsigned kGroup>
__device__ Lz4Progress restore_lz4_page(const Lz4Chunk& chunk, Lz4PageMemory<kPieces>& sh, Lz4Place& place,
                                        unsigned lane) {
  if (chunk.block_bytes > kMostPageBlockBytes) {
    Lz4Chunk checked = chunk;
    checked.d_output = nullptr;
    Lz4Progress progress = Lz4Progress::kGoesOn;
    while (progress == Lz4Progress::kGoesOn) progress = restore_lz4_sequence(checked, place, lane);
    return progress;
  }

  // The block's place: as far back as the margin asks, and on, to its alignment.
  const std::uint32_t output_end = chunk.capacity + kPageMarginBytes;
  const std::uint32_t earliest = output_end > chunk.block_bytes ? output_end - chunk.block_bytes : 0;
  const auto misaligned = static_cast<std::uint32_t>(reinterpret_cast<std::uintptr_t>(chunk.d_block));
  const std::uint32_t block_begin = earliest + (misaligned - earliest) % 16;
  std::uint8_t* const sh_block = sh.buffer + block_begin;
  load_lz4_bytes(chunk.d_block, sh_block, chunk.block_bytes, lane);
  for (std::uint32_t window = lane; window < kPageWindows; window += 32) sh.windows[window].begins = 0;

  const std::uint32_t segment_bytes = max((chunk.block_bytes + 31) / 32, 16u);
  const Lz4LaneWalk mine = walk_lz4_together(sh_block, 0, segment_bytes, chunk.block_bytes, lane);
  std::uint32_t all_sums;
  const std::uint32_t sums = sum_before(mine.walk.sums, all_sums, lane);
  __syncwarp();

  // Step 2. `first_piece` is the number of the first piece that is kept.
  const std::uint32_t walk_end = mine.walk.left_at & ~kLz4WalkStopped;
  const auto unfold = [&](std::uint32_t first_piece, Lz4Place& reached) {
    std::uint32_t piece = (sums >> kLz4PieceShift) - first_piece;
    reached = {mine.entry & ~kLz4WalkStopped, sums & kLz4BytesMask};
    while (reached.read < walk_end) {
      Lz4Step step;
      read_lz4_step(sh_block, reached.read, chunk.block_bytes, step);
      const std::uint32_t offset = sh_block[step.offset_begin] | sh_block[step.offset_begin + 1] << 8;
      const std::uint32_t match_begin = reached.written + step.literal_count;
      if (offset == 0 || offset > match_begin || match_begin + step.match_length > chunk.capacity)
        return false;
      if (step.literal_count != 0) {
        if (piece < kPieces)
          sh.distances[piece] =
              static_cast<std::int16_t>(reached.written - (block_begin + step.literals_begin));
        atomicOr(&sh.windows[reached.written / kWindowBytes].begins, 1u << reached.written % kWindowBytes);
        ++piece;
      }
      if (piece < kPieces) sh.distances[piece] = static_cast<std::int16_t>(offset);
      atomicOr(&sh.windows[match_begin / kWindowBytes].begins, 1u << match_begin % kWindowBytes);
      ++piece;
      reached = {step.next, match_begin + step.match_length};
    }
    return true;
  };
  Lz4Place reached;
  const bool is_sound = unfold(0, reached);
  __syncwarp();
  const unsigned unsound = ~__ballot_sync(kAllLanes, is_sound);
  // Where the walk stopped: the first check that failed, or behind the last lane.
  const int stopped_lane = unsound == 0 ? 31 : __ffs(static_cast<int>(unsound)) - 1;
  place.read = __shfl_sync(kAllLanes, unsound == 0 ? walk_end : reached.read, stopped_lane);
  place.written =
      __shfl_sync(kAllLanes, unsound == 0 ? all_sums & kLz4BytesMask : reached.written, stopped_lane);
  const std::uint32_t walked = place.written;
  Lz4Chunk in_shared = chunk;
  in_shared.d_block = sh_block;
  in_shared.d_output = nullptr;
  const Lz4Progress progress = restore_lz4_sequence(in_shared, place, lane);
  if (progress != Lz4Progress::kDone || chunk.d_output == nullptr) return progress;

  // The last literals are one more piece.
  const std::uint32_t total = place.written;
  const std::uint32_t last_piece = all_sums >> kLz4PieceShift;
  const auto last_distance = static_cast<std::int16_t>(total - (block_begin + chunk.block_bytes));
  if (total > walked && lane == 0) {
    if (last_piece < kPieces) sh.distances[last_piece] = last_distance;
    sh.windows[walked / kWindowBytes].begins |= 1u << walked % kWindowBytes;
  }
  __syncwarp();
  std::uint32_t in_lane = 0;
#pragma unroll
  for (unsigned i = 0; i < kPageWindows / 32; ++i)
    in_lane += static_cast<std::uint32_t>(__popc(sh.windows[lane * (kPageWindows / 32) + i].begins));
  std::uint32_t piece_count;
  std::uint32_t before = sum_before(in_lane, piece_count, lane);
#pragma unroll
  for (unsigned i = 0; i < kPageWindows / 32; ++i) {
    Lz4Window& window = sh.windows[lane * (kPageWindows / 32) + i];
    window.piece_before = static_cast<std::int32_t>(before) - 1;
    before += static_cast<std::uint32_t>(__popc(window.begins));
  }
  __syncwarp();

  // Step 3.
  const unsigned up_to_lane = kAllLanes >> (31 - lane);
  const std::uint32_t window_count = (total + kWindowBytes - 1) / kWindowBytes;
  std::uint32_t window = 0, first_piece = 0;
  for (;;) {
    const auto distance_at = [&](std::uint32_t w) {
      const Lz4Window here = sh.windows[w];
      return std::int32_t{
          sh.distances[here.piece_before + __popc(here.begins & up_to_lane) - static_cast<int>(first_piece)]};
    };
    std::uint32_t end = window_count;
    if (piece_count > first_piece + kPieces) {
      end = window;
      while (end < window_count &&
             static_cast<std::uint32_t>(sh.windows[end].piece_before + 1 + __popc(sh.windows[end].begins)) <=
                 first_piece + kPieces)
        ++end;
    }
    for (; window + kGroup <= end; window += kGroup) {
      std::int32_t distances[kGroup];
      bool reads_group = false;
#pragma unroll
      for (unsigned g = 0; g < kGroup; ++g) {
        distances[g] = distance_at(window + g);
        reads_group |= static_cast<unsigned>(distances[g] - 1) < kWindowBytes * g + lane;
      }
      const std::uint32_t position = window * kWindowBytes + lane;
      if (__any_sync(kAllLanes, reads_group)) {
#pragma unroll
        for (unsigned g = 0; g < kGroup; ++g)
          copy_lz4_window(sh.buffer, position + kWindowBytes * g, distances[g], lane);
        continue;
      }
      std::uint8_t bytes[kGroup];
#pragma unroll
      for (unsigned g = 0; g < kGroup; ++g)
        bytes[g] = sh.buffer[static_cast<std::int32_t>(position + kWindowBytes * g) - distances[g]];
      __syncwarp();
#pragma unroll
      for (unsigned g = 0; g < kGroup; ++g) sh.buffer[position + kWindowBytes * g] = bytes[g];
      __syncwarp();
    }
    for (; window < end; ++window)
      copy_lz4_window(sh.buffer, window * kWindowBytes + lane, distance_at(window), lane);
    if (window == window_count) break;

    // The pieces from this window's first byte on take the place of those that are done with.
    first_piece = static_cast<std::uint32_t>(sh.windows[window].piece_before);
    __syncwarp();
    Lz4Place ignored;
    unfold(first_piece, ignored);
    if (total > walked && last_piece - first_piece < kPieces && lane == 0)
      sh.distances[last_piece - first_piece] = last_distance;
    __syncwarp();
  }

  store_lz4_bytes(sh.buffer, chunk.d_output, total, lane);
  return Lz4Progress::kDone;
}

}  // namespace hemstitch::cuda
