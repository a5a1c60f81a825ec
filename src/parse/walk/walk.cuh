// The walk: from one decision a position to the list of sequences.
//
// A decision is the length of the match to take at a position, 0 for a literal. The walk starts at position 0 and steps over each
// literal or match that it meets; only these count. It is one long chain of dependent steps, which the twins follow. Here a thread
// block owns a block and takes it in chunks; in a chunk every thread owns a tile of consecutive positions.
//
//   1. load    all threads: lengths into shared memory, coalesced. Greedy and lazy decide here, on the fly; stored
//              decisions come 8 at a time, so that a chunk may begin up to 7 positions before the walk's place.
//   2. exits   each thread, backwards over its tile: the first position outside the tile that a walk from here reaches.
//              A literal or short match inherits its target's exit. One pass without guesses.
//   3. hops    one thread: from the chunk's first position to its exit, from there to that tile's exit, ...
//              Each tile the walk touches learns where it is entered. Tiles inside a long match are skipped.
//   4. count   each thread, forwards from its entry: matches on the walk. A prefix sum ranks them.
//   5. list    match starts, in order, into shared memory (over the exits, no longer needed). Where a tile has at most 8
//              matches, step 4 has noted them; else it is walked again.
//   6. emit    thread r writes the sequence of rank r: neighbours in the list are neighbours in memory. The
//              literals before a match begin where the match of rank r-1 ends.
//
// The next chunk begins where the walk left this one, so a match of any length costs nothing more. Everything is exact and in
// order: no result depends on the order of threads.
//
// Mapping: one thread block of kWalkThreads a block of the batch. Shared memory: 4 bytes a position of the chunk.
// A tile's row is two 16-bit words longer than the tile, so that equal positions of 32 tiles are in 32 banks.
// Synchronisation: seven barriers of the thread block a chunk. Work: O(1) a position, whatever the lengths; time a chunk
// about one shared-memory latency for each position of a tile and for each tile. Registers: at most 64.
// CPU twins: the loops at the end of parse/*/*_reference.cpp. Source: jump pointers by doubling, of which
// the backward pass is the serial form: two accesses a position instead of 2 log2(tile).
#pragma once

#include <type_traits>

#include "gpu/cuda/cuda_error.hpp"
#include "gpu/cuda/kernel_registry.hpp"
#include "gpu/cuda/kernel_trace.hpp"
#include "gpu/cuda/launch.hpp"
#include "match/common/cuda/device_work.hpp"
#include "parse/parse_cuda.hpp"
#include "parse/walk/walk_tuning.hpp"

namespace hemstitch::cuda {

template <unsigned kTilePositions>
struct WalkChunk {
  static_assert(kTilePositions % 4 == 0, "with two words of padding a row is an odd number of banks");
  static constexpr unsigned kPositions = kWalkThreads * kTilePositions;
  static constexpr unsigned kSlots = kWalkThreads * (kTilePositions + 2);
  static_assert(kPositions < 0xFFFF, "positions of a chunk have 16 bits");

  static __device__ unsigned slot(unsigned position) { return position + position / kTilePositions * 2; }
};

// Offsets of matches: those of the records.
template <typename Record = MatchRecord>
struct RecordOffset {
  const Record* d_records;

  __device__ std::uint32_t operator()(const DeviceBlock& block, std::uint32_t position) const {
    const Record* const record = d_records + block.position + position;
    if constexpr (std::is_same_v<Record, WideRecord>)
      return __ldg(&record->offset);
    else
      return record_offset(__ldg(record));
  }
};

// `Decide` is called by all threads of the thread block, as decide(block, begin, count, put), and gives the decision at position
// begin + i, 0 or a length that ends inside the block, once for each i below `count`: put(i, length), or for eight positions at once
// put(i, lengths). Chunks begin at multiples of Decide::kAlignment of the batch: `begin` may lie before the block, and what
// is given there does not matter. `offset_of(block, position)` is the offset of a match that begins at a position of the block.
template <unsigned kTilePositions, class Decide, class OffsetOf = RecordOffset<>>
__global__ void __launch_bounds__(kWalkThreads)
    walk_block(const DeviceBlock* __restrict__ d_blocks, const Decide decide, const OffsetOf offset_of,
               const BlockPlan plan, const DeviceSequences sequences) {
  using Chunk = WalkChunk<kTilePositions>;
  constexpr std::uint16_t kNotEntered = 0xFFFF;
  constexpr unsigned kNoted = 8;  // as many matches of four bytes or more as a tile of 32 has
  constexpr unsigned kWarps = kWalkThreads / 32;
  alignas(4) __shared__ std::uint16_t sh_length[Chunk::kSlots];
  __shared__ std::uint16_t sh_exit[Chunk::kSlots];
  __shared__ std::uint16_t sh_entry[kWalkThreads];
  __shared__ unsigned sh_warp_count[kWarps];
  __shared__ std::uint32_t sh_next_chunk;
  std::uint16_t* const sh_list = sh_exit;  // from step 5 on

  const DeviceBlock block = d_blocks[blockIdx.x];
  Sequence* const out = sequences.d_sequences + first_sequence(block.position, blockIdx.x, plan);
  const unsigned thread = threadIdx.x, lane = thread % 32, warp = thread / 32;
  const unsigned tile_begin = thread * kTilePositions;

  std::uint32_t written = 0;         // sequences of earlier chunks
  std::uint32_t literals_begin = 0;  // position behind the last match of earlier chunks
  for (std::uint32_t next = 0; next < block.block_bytes;) {
    const unsigned entered = static_cast<unsigned>((block.position + next) % Decide::kAlignment);
    const std::uint32_t chunk_begin = next - entered;  // or 2^32 more
    const unsigned count = min(Chunk::kPositions, block.block_bytes - next + entered);
    const unsigned tile_end = min(tile_begin + kTilePositions, count);
    if (thread == 0) trace_mark(kTraceWalkChunk, chunk_begin);

    decide(block, chunk_begin, count, [&](unsigned i, auto decision) {
      if constexpr (std::is_same_v<decltype(decision), uint4>) {
        static_assert(kTilePositions % 8 == 0);
        auto* const pairs = reinterpret_cast<std::uint32_t*>(sh_length + Chunk::slot(i));
        pairs[0] = decision.x, pairs[1] = decision.y, pairs[2] = decision.z, pairs[3] = decision.w;
      } else {
        sh_length[Chunk::slot(i)] = static_cast<std::uint16_t>(decision);
      }
    });
    sh_entry[thread] = kNotEntered;
    __syncthreads();

    unsigned exit = tile_end;  // of the position to the right
    for (unsigned i = tile_end; i-- > tile_begin;) {
      const unsigned length = sh_length[Chunk::slot(i)];
      // An exit beyond the chunk needs no precision: step 4 finds it.
      if (length != 0)
        exit = i + length < tile_end ? sh_exit[Chunk::slot(i + length)] : min(i + length, 0xFFFFu);
      sh_exit[Chunk::slot(i)] = static_cast<std::uint16_t>(exit);
    }
    __syncthreads();

    if (thread == 0)
      for (unsigned i = entered; i < count; i = sh_exit[Chunk::slot(i)])
        sh_entry[i / kTilePositions] = static_cast<std::uint16_t>(i);
    __syncthreads();

    const unsigned entry = sh_entry[thread];
    std::uint16_t* const noted = sh_list + Chunk::slot(tile_begin);
    unsigned matches = 0;
    if (entry != kNotEntered) {
      unsigned i = entry;
      while (i < tile_end) {
        const unsigned length = sh_length[Chunk::slot(i)];
        if (length != 0) noted[matches++] = static_cast<std::uint16_t>(i);
        i += max(length, 1u);
      }
      if (i >= count) sh_next_chunk = chunk_begin + i;  // the tile by which the walk leaves the chunk
    }
    std::uint16_t starts[kNoted];
#pragma unroll
    for (unsigned i = 0; i < kNoted; ++i) starts[i] = noted[i];

    unsigned rank = matches;  // then: matches in this tile and those before it
#pragma unroll
    for (unsigned distance = 1; distance < 32; distance *= 2) {
      const unsigned other = __shfl_up_sync(~0u, rank, distance);
      if (lane >= distance) rank += other;
    }
    if (lane == 31) sh_warp_count[warp] = rank;
    __syncthreads();
    unsigned chunk_matches = 0;
#pragma unroll
    for (unsigned w = 0; w < kWarps; ++w) {
      if (w < warp) rank += sh_warp_count[w];
      chunk_matches += sh_warp_count[w];
    }
    rank -= matches;

    if (matches <= kNoted) {
#pragma unroll
      for (unsigned i = 0; i < kNoted; ++i)
        if (i < matches) sh_list[rank + i] = starts[i];
    } else {
      unsigned i = entry;
      while (i < tile_end) {
        const unsigned length = sh_length[Chunk::slot(i)];
        if (length != 0) sh_list[rank++] = static_cast<std::uint16_t>(i);
        i += max(length, 1u);
      }
    }
    __syncthreads();

#pragma unroll 4
    for (unsigned r = thread; r < chunk_matches; r += kWalkThreads) {
      const unsigned i = sh_list[r];
      std::uint32_t run_begin = literals_begin;
      if (r != 0) run_begin = chunk_begin + sh_list[r - 1] + sh_length[Chunk::slot(sh_list[r - 1])];
      out[written + r] = {chunk_begin + i - run_begin, sh_length[Chunk::slot(i)],
                          offset_of(block, chunk_begin + i)};
    }
    if (chunk_matches != 0) {
      const unsigned last = sh_list[chunk_matches - 1];
      literals_begin = chunk_begin + last + sh_length[Chunk::slot(last)];
    }
    written += chunk_matches;
    next = sh_next_chunk;
    __syncthreads();
  }

  if (thread == 0) {
    out[written] = {block.block_bytes - literals_begin, 0, 0};
    sequences.d_counts[blockIdx.x] = written + 1;
    atomicAdd(reinterpret_cast<unsigned long long*>(sequences.d_total), written + 1ull);
  }
}

constexpr KernelBudget kWalkBudget("parse.walk", "walk_block",
                                   {.threads = kWalkThreads, .registers = 64, .shared_bytes = 18 * 1024});

// Decisions that a kernel before the walk made and stored.
struct StoredDecision {
  static constexpr unsigned kAlignment = 8;
  const std::uint16_t* d_lengths;  // one a position of the batch; aligned to 16 bytes

  template <class Put>
  __device__ void operator()(const DeviceBlock& block, std::uint32_t begin, unsigned count,
                             const Put& put) const {
    const std::uint32_t before = begin + kAlignment < kAlignment ? -begin : 0;  // positions before the block
    const std::uint16_t* const lengths = d_lengths + (block.position + (begin + before)) - before;
    const unsigned first = before == 0 ? 0 : kAlignment;  // from here on, eight at a time
    if (threadIdx.x < min(first, count)) put(threadIdx.x, threadIdx.x < before ? 0 : lengths[threadIdx.x]);
#pragma unroll 4
    for (unsigned i = first + threadIdx.x * 8; i + 8 <= count; i += kWalkThreads * 8)
      put(i, *reinterpret_cast<const uint4*>(lengths + i));
    const unsigned rest = count / 8 * 8 + threadIdx.x;
    if (rest >= first && rest < count) put(rest, lengths[rest]);
  }
};

// Launches the walk over a batch.
template <class Decide, class OffsetOf>
void walk_blocks(const DeviceBlocks& blocks, const Decide& decide, const OffsetOf& offset_of,
                 const BlockPlan& plan, const DeviceSequences& sequences, cudaStream_t stream) {
  check(cudaMemsetAsync(sequences.d_total, 0, sizeof(std::uint64_t), stream), "walk: cudaMemsetAsync");
  launch({.kernel = kWalkBudget, .grid = blocks.block_count, .stream = stream, .work = work_of(blocks)},
         walk_block<kWalkTilePositions, Decide, OffsetOf>, blocks.d_blocks, decide, offset_of, plan,
         sequences);
}

}  // namespace hemstitch::cuda
