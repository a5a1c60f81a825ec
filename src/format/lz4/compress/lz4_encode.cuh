// From lists of sequences to LZ4 blocks, on a CUDA device; the definition stands in lz4_encode.hpp.
//
// Mapping. One thread block of kEncodeThreads a block, which takes the block's list in tiles of one sequence a thread:
//
//   sizes      a sequence that continues the match before it has none; the first one of such a row adds up their
//              lengths. A sequence's counts say what it writes and how far it moves in the input.
//   scan       one prefix sum of both, in one 64-bit word: where each sequence writes, and where its literals stand.
//   bytes      every thread writes its own sequence: into shared memory where the tile fits there (then the thread block
//              stores it in words of 16 bytes), else to its place. Long runs of literals are copied by the sequence's
//              warp, the longest by the thread block.
//
// Synchronisation: four barriers of the thread block a tile. Shared memory: kEncodeStageBytes, and 3 KB. Work: O(1) a sequence and
// O(1) a byte. CPU twin: lz4_encode_reference.cpp. Source: sizes, prefix sum, emission, as every parallel encoder has it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cub/block/block_scan.cuh>

#include "core/sequence.hpp"
#include "format/lz4/block/lz4_copy.cuh"
#include "format/lz4/block/lz4_emission.hpp"
#include "format/lz4/compress/lz4_encode_tuning.hpp"
#include "gpu/cuda/kernel_trace.hpp"
#include "match/common/cuda/device_block.hpp"

namespace hemstitch::cuda {

struct EncodeShared {
  using Scan = cub::BlockScan<std::uint64_t, kEncodeThreads>;
  uint4 stage[kEncodeStageBytes / 16 + 1];
  union {
    Scan::TempStorage scan;
    struct {
      std::uint32_t long_count;
      struct {
        std::uint32_t target, source, count;
      } long_runs[kEncodeThreads];
    };
  };
};

inline constexpr std::uint64_t kDoesNotFit = ~std::uint64_t{0};

// What one thread writes in a tile.
struct TileSequence {
  Sequence sequence;       // joined; unused where bytes is 0
  std::uint32_t bytes;     // 0: nothing
  std::uint32_t at;        // in the tile's output
  std::uint32_t literals;  // where its literals stand in the block
};

// Writes a tile to `place`, by all threads of the thread block. Needs a barrier before and after it.
__device__ __forceinline__ void write_tile(EncodeShared& sh, const DeviceBlock& block,
                                           const TileSequence& own, std::byte* place) {
  const unsigned thread = threadIdx.x, lane = thread % 32;
  const std::byte* const block_end = block.d_block + block.block_bytes;
  const std::uint32_t literal_count = own.bytes != 0 ? own.sequence.literal_count : 0;
  std::uint32_t literals_at = own.at;
  if (own.bytes != 0) {
    std::uint32_t at = own.at;
    const auto put = [&](std::uint32_t i, std::uint32_t byte) {
      place[at + i] = static_cast<std::byte>(byte);
    };
    at += put_lz4_head(literal_count, own.sequence.match_length, put);
    literals_at = at;
    if (literal_count <= kThreadLiteralBytes)
      for (std::uint32_t i = 0; i < literal_count; ++i) place[at + i] = block.d_block[own.literals + i];
    at += literal_count;
    put_lz4_tail(own.sequence.offset, own.sequence.match_length, put);
  }
  if (literal_count > kWarpLiteralBytes)
    sh.long_runs[atomicAdd(&sh.long_count, 1u)] = {literals_at, own.literals, literal_count};
  unsigned runs =
      __ballot_sync(~0u, literal_count > kThreadLiteralBytes && literal_count <= kWarpLiteralBytes);
  for (; runs != 0; runs &= runs - 1) {
    const int owner = __ffs(runs) - 1;
    const std::uint32_t run_at = __shfl_sync(~0u, literals_at, owner);
    const std::uint32_t run_source = __shfl_sync(~0u, own.literals, owner);
    const std::uint32_t run_count = __shfl_sync(~0u, literal_count, owner);
    copy_bytes(place + run_at, block.d_block + run_source, run_count, block.d_block, block_end, lane, 32);
  }
  __syncthreads();
  for (std::uint32_t i = 0; i < sh.long_count; ++i)
    copy_bytes(place + sh.long_runs[i].target, block.d_block + sh.long_runs[i].source, sh.long_runs[i].count,
               block.d_block, block_end, thread, kEncodeThreads);
}

// Stores the `bytes` bytes that are in `stage` from `misaligned` on; `base`, aligned to 16, is where the stage's begin belongs:
// whole words of 16 bytes between the first and the last boundary, single bytes before and behind.
__device__ __forceinline__ void store_stage(const uint4* stage, std::uint32_t misaligned, std::uint32_t bytes,
                                            std::byte* base, unsigned thread, unsigned threads) {
  const auto* const stage_bytes = reinterpret_cast<const std::byte*>(stage);
  const std::uint32_t end = misaligned + bytes;
  const std::uint32_t first_whole = misaligned == 0 ? 0 : 16, last_whole = end / 16 * 16;
  for (std::uint32_t i = first_whole + thread * 16; i < last_whole; i += threads * 16)
    *reinterpret_cast<uint4*>(base + i) = stage[i / 16];
  if (thread < 16) {
    if (misaligned != 0 && thread >= misaligned && thread < end) base[thread] = stage_bytes[thread];
    const std::uint32_t tail = max(last_whole, first_whole) + thread;
    if (tail < end) base[tail] = stage_bytes[tail];
  }
}

// The size of `block` written as the `count` sequences of `list`, by all threads of the thread block; kDoesNotFit if it is more
// than `capacity`. kWrite: also writes it to `output`, as far as whole tiles fit.
template <bool kWrite>
__device__ std::uint64_t encode_block(EncodeShared& sh, const DeviceBlock& block, const Sequence* list,
                                      std::uint32_t count, std::byte* output, std::uint64_t capacity) {
  const unsigned thread = threadIdx.x;
  std::uint64_t written = 0;
  std::uint32_t read = 0;
  for (std::uint32_t tile = 0; tile < count; tile += kEncodeThreads) {
    if (thread == 0) trace_mark(kTraceEncodeTile, tile);
    const std::uint32_t index = tile + thread;
    TileSequence own{};
    std::uint32_t moves = 0;
    if (index < count) {
      own.sequence = list[index];
      moves = own.sequence.literal_count + own.sequence.match_length;
      if (index == 0 || !goes_on(own.sequence, list[index - 1].offset)) {
        if (own.sequence.match_length != 0)
          for (std::uint32_t next = index + 1; goes_on(list[next], own.sequence.offset); ++next)
            own.sequence.match_length += list[next].match_length;
        own.bytes = static_cast<std::uint32_t>(
            lz4_sequence_bytes(own.sequence.literal_count, own.sequence.match_length));
      }
    }
    std::uint64_t before, total;
    EncodeShared::Scan(sh.scan).ExclusiveSum(std::uint64_t{own.bytes} << 32 | moves, before, total);
    const auto tile_bytes = static_cast<std::uint32_t>(total >> 32);
    if (tile_bytes > capacity - written) return kDoesNotFit;

    __syncthreads();  // the scan's memory becomes the list of long runs; the stage of the tile before has been stored
    if constexpr (kWrite) {
      if (thread == 0) sh.long_count = 0;
      own.at = static_cast<std::uint32_t>(before >> 32);
      own.literals = read + static_cast<std::uint32_t>(before);
      std::byte* const target = output + written;
      __syncthreads();
      if (tile_bytes <= kEncodeStageBytes) {
        const auto misaligned = static_cast<std::uint32_t>(reinterpret_cast<std::uintptr_t>(target) % 16);
        write_tile(sh, block, own, reinterpret_cast<std::byte*>(sh.stage) + misaligned);
        __syncthreads();
        store_stage(sh.stage, misaligned, tile_bytes, target - misaligned, thread, kEncodeThreads);
      } else {
        write_tile(sh, block, own, target);
      }
      __syncthreads();
    }
    written += tile_bytes;
    read += static_cast<std::uint32_t>(total);
  }
  return written;
}

}  // namespace hemstitch::cuda
