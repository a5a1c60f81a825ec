// The stitch of far's records on a device (match/stitch/stitch.hpp): the backward and the forward pass in one kernel.
//
// Mapping. A thread block (256 threads) takes a tile of one piece: 3824 positions, 256 before them and 16 behind, all in shared memory. No match reaches farther than
// 255 bytes, so what comes before that carries nothing into the tile; and what the positions before and behind do to the tile is computed again.
//
//   backward   A match carries itself back over the bytes before it that agree with those before its candidate, with an atomic maximum at each
//              position. Where the position before has the same offset and a length longer by one, its match does all of that. Where the one behind
//              has the same offset and is no shorter, as in a row of lengths that were cut off, only the farthest position is left to do.
//   forward    A running maximum of the end of each position's match and, of equal ends, the last position: a scan.
//
// Keys are 8 bits of length above 24 of nearness, so that the larger key is the better match. CPU twin: stitch_reference.cpp. Shared memory: 42 KB. Registers: 64.
#include <algorithm>

#include "gpu/cuda/cuda_error.hpp"
#include "gpu/cuda/launch.hpp"
#include "gpu/cuda/warp.cuh"
#include "match/common/cuda/device_work.hpp"
#include "match/far/far_cuda.hpp"
#include "match/far/far_text.cuh"
#include "match/stitch/stitch.hpp"

namespace hemstitch::cuda {
namespace {

constexpr std::uint32_t kStitchThreads = 256, kStitchPerThread = 16;
constexpr std::uint32_t kStitchKeys = kStitchThreads * kStitchPerThread;
constexpr std::uint32_t kStitchBefore = 256, kStitchBehind = kMostStitchReach;
constexpr std::uint32_t kStitchTile = kStitchKeys - kStitchBefore - kStitchBehind;
static_assert(kStitchBefore > kMostFarRecordLength);
// A thread block takes a few tiles of a piece: a batch of short pieces, among which one is long, has fewer thread blocks without work.
constexpr std::uint32_t kStitchGroup = 4 * kStitchTile;
// An end and a position in one word.
constexpr std::uint32_t kPlaceBits = 12;
static_assert(kStitchKeys == 1u << kPlaceBits);

// Threads take rows of 16 keys; with a gap behind each, the rows lie in different banks.
__device__ __forceinline__ std::uint32_t stitch_slot(std::uint32_t place) {
  return place + place / kStitchPerThread;
}

__device__ __forceinline__ std::uint32_t key_of(FarRecord record) {
  return is_match(record) ? far_length(record) << 24 | (kMostFarRecordOffset - far_offset(record)) : 0;
}
__device__ __forceinline__ std::uint32_t offset_of(std::uint32_t key) {
  return kMostFarRecordOffset - (key & kMostFarRecordOffset);
}

// How many of the 16 bytes before `one` and before `other` agree, from the last on.
__device__ __forceinline__ std::uint32_t agreeing_before(const FarText& text, std::uint32_t one,
                                                         std::uint32_t other) {
  const uint4 a = text.words(one - 16), b = text.words(other - 16);
  const std::uint32_t x = a.x ^ b.x, y = a.y ^ b.y, z = a.z ^ b.z, w = a.w ^ b.w;
  const std::uint32_t last = w != 0 ? w : z != 0 ? z : y != 0 ? y : x;
  const std::uint32_t behind = w != 0 ? 0 : z != 0 ? 4 : y != 0 ? 8 : 12;
  return last == 0 ? 16 : behind + static_cast<std::uint32_t>(__clz(static_cast<int>(last))) / 8;
}

struct StitchMemory {
  static constexpr std::uint32_t kSlots = kStitchKeys + kStitchKeys / kStitchPerThread;

  std::uint32_t found[kSlots];  // keys as they come; at the end, records
  std::uint32_t keys[kSlots];   // with what was carried back
  std::uint32_t warps[kStitchThreads / 32];
  std::uint16_t queue[kStitchKeys];  // places with something to carry back, of each warp
};

// Positions count from the piece's first byte; `first` may be negative.
__device__ void load_keys(StitchMemory& sh, const DeviceBlock& piece, std::int32_t first,
                          const FarRecord* d_found) {
#pragma unroll
  for (std::uint32_t i = 0; i < kStitchPerThread; ++i) {
    const std::uint32_t place = i * kStitchThreads + threadIdx.x;
    const std::int32_t position = first + static_cast<std::int32_t>(place);
    const bool is_position = position >= 0 && position < static_cast<std::int32_t>(piece.block_bytes);
    const std::uint32_t key =
        is_position ? key_of(d_found[piece.position + static_cast<std::uint32_t>(position)]) : 0;
    sh.found[stitch_slot(place)] = sh.keys[stitch_slot(place)] = key;
  }
}

// Whether the match at `place` may have to be carried back, by its neighbours; if so, from which position before it on.
struct CarryBack {
  bool is_needed;
  std::uint32_t least;
};
__device__ __forceinline__ CarryBack plan_carry_back(const StitchMemory& sh, std::uint32_t place,
                                                     std::uint32_t key, std::uint32_t reach) {
  const std::uint32_t before = place > 0 ? sh.found[stitch_slot(place - 1)] : 0;
  const std::uint32_t behind = place + 1 < kStitchKeys ? sh.found[stitch_slot(place + 1)] : 0;
  const bool is_done_before = offset_of(before) == offset_of(key) && before >> 24 > key >> 24;
  const bool is_in_row = offset_of(behind) == offset_of(key) && behind >> 24 >= key >> 24;
  return {key != 0 && !is_done_before, is_in_row ? reach : 1};
}

// A warp takes 512 places. Those with something to carry are put in a queue, so that all lanes wait for memory at once.
__device__ void carry_back(StitchMemory& sh, const FarText& text, std::uint32_t history_bytes,
                           std::int32_t first, std::uint32_t reach) {
  constexpr std::uint32_t kWarpPlaces = 32 * kStitchPerThread;
  const std::uint32_t lane = threadIdx.x % 32, begin = threadIdx.x / 32 * kWarpPlaces;
  std::uint16_t* const queue = sh.queue + begin;
  std::uint32_t queued = 0;
  for (std::uint32_t row = 0; row < kWarpPlaces; row += 32) {
    const std::uint32_t place = begin + row + lane;
    const CarryBack plan = plan_carry_back(sh, place, sh.found[stitch_slot(place)], reach);
    const std::uint32_t needed = __ballot_sync(kAllLanes, plan.is_needed);
    if (plan.is_needed)
      queue[queued + static_cast<std::uint32_t>(__popc(needed & ((1u << lane) - 1)))] =
          static_cast<std::uint16_t>(place);
    queued += static_cast<std::uint32_t>(__popc(needed));
  }
  __syncwarp();
#pragma unroll 2
  for (std::uint32_t i = lane; i < queued; i += 32) {
    const std::uint32_t place = queue[i], key = sh.found[stitch_slot(place)];
    const std::uint32_t least = plan_carry_back(sh, place, key, reach).least;
    const auto position = static_cast<std::uint32_t>(first + static_cast<std::int32_t>(place));
    const std::uint32_t here = text.begin() + history_bytes + position, there = here - offset_of(key);
    const std::uint32_t most = min(min(reach, place), min(position, there - text.begin()));
    if (least > most) continue;
    const std::uint32_t agree = min(most, agreeing_before(text, here, there));
    for (std::uint32_t ahead = least; ahead <= agree; ++ahead)
      atomicMax(&sh.keys[stitch_slot(place - ahead)], key + (ahead << 24));
  }
}

// Leaves the records in `found`.
__device__ void carry_forward(StitchMemory& sh) {
  const std::uint32_t lane = threadIdx.x % 32, warp = threadIdx.x / 32,
                      begin = threadIdx.x * kStitchPerThread;
  const auto end_at = [&](std::uint32_t place) {
    return (place + (sh.keys[stitch_slot(place)] >> 24)) << kPlaceBits | place;
  };
  std::uint32_t best = 0;
#pragma unroll
  for (std::uint32_t i = 0; i < kStitchPerThread; ++i) best = max(best, end_at(begin + i));
#pragma unroll
  for (unsigned step = 1; step < 32; step *= 2) {
    const std::uint32_t below = __shfl_up_sync(kAllLanes, best, step);
    if (lane >= step) best = max(best, below);
  }
  if (lane == 31) sh.warps[warp] = best;
  __syncthreads();
  std::uint32_t carried = __shfl_up_sync(kAllLanes, best, 1);
  if (lane == 0) carried = 0;
  for (std::uint32_t i = 0; i < warp; ++i) carried = max(carried, sh.warps[i]);
#pragma unroll
  for (std::uint32_t i = 0; i < kStitchPerThread; ++i) {
    const std::uint32_t place = begin + i;
    carried = max(carried, end_at(place));
    const std::uint32_t end = carried >> kPlaceBits;
    const std::uint32_t key = sh.keys[stitch_slot(carried & (kStitchKeys - 1))];
    sh.found[stitch_slot(place)] = end > place ? pack_far_record(offset_of(key), end - place).bits : 0;
  }
}

__global__ void __launch_bounds__(kStitchThreads, 5)
    stitch_far_tiles(const DeviceBlocks pieces, std::uint32_t groups_per_piece, std::uint32_t reach,
                     const FarRecord* __restrict__ d_found, FarRecord* __restrict__ d_records) {
  __shared__ StitchMemory sh;
  const DeviceBlock piece = pieces.d_blocks[blockIdx.x / groups_per_piece];
  const std::uint32_t group_begin = blockIdx.x % groups_per_piece * kStitchGroup;
  if (group_begin >= piece.block_bytes) return;
  const std::uint32_t group_end = min(group_begin + kStitchGroup, piece.block_bytes);
  const FarText text(piece.d_block - piece.history_bytes, piece.history_bytes + piece.block_bytes);
  for (std::uint32_t tile = group_begin; tile < group_end; tile += kStitchTile) {
    const std::int32_t first = static_cast<std::int32_t>(tile) - static_cast<std::int32_t>(kStitchBefore);
    load_keys(sh, piece, first, d_found);
    __syncthreads();
    carry_back(sh, text, piece.history_bytes, first, reach);
    __syncthreads();
    carry_forward(sh);
    __syncthreads();
    const std::uint32_t positions = min(kStitchTile, group_end - tile);
    for (std::uint32_t i = threadIdx.x; i < positions; i += kStitchThreads)
      d_records[piece.position + tile + i] = FarRecord{sh.found[stitch_slot(kStitchBefore + i)]};
    __syncthreads();
  }
}

constexpr KernelBudget kStitchBudget("far.stitch", "stitch_far_tiles",
                                     {.threads = kStitchThreads,
                                      .registers = 64,
                                      .shared_bytes = sizeof(StitchMemory)});
const KernelRegistration kStitchRegistration(kStitchBudget, stitch_far_tiles);

}  // namespace

void stitch_far_cuda(const DeviceBlocks& pieces, const FarParameters& parameters, const FarRecord* d_found,
                     FarRecord* d_records, cudaStream_t stream) {
  const std::uint32_t groups_per_piece = (pieces.max_block_bytes + kStitchGroup - 1) / kStitchGroup;
  launch({.kernel = kStitchBudget,
          .grid = pieces.block_count * groups_per_piece,
          .stream = stream,
          .work = work_of(pieces)},
         stitch_far_tiles, pieces, groups_per_piece, parameters.stitch_reach, d_found, d_records);
}

}  // namespace hemstitch::cuda
