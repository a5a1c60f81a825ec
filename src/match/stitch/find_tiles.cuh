// The device's finder: walks candidates, extends capped matches and stitches, in one pass over the data.
//
// hash_chain and hash_step differ only in where candidates come from. A first kernel of each (build_chains.cuh,
// hash_step.cu) leaves one 16-bit distance a position, the *link*: to the previous position with the same hash, or to
// the table's entry. This kernel does everything after that. CPU twins: walk_chains (hash_chain_reference.cpp),
// look_up_in_groups (hash_step_reference.cpp), and all of match/stitch/stitch_reference.cpp.
//
// Mapping. One thread block (512 threads) owns a segment of 64 KB of one block of the batch, and takes it in tiles of
// 1024 positions from left to right: a warp has 64 of them in a row, a thread two, 32 apart. A ring in shared memory holds
// the bytes of the window before the tile, and a second ring their links, so that a walk never leaves shared memory: its
// reads are scattered, and scattered reads are what the device's memory is slow at. (Where the second ring would leave
// room for one thread block only, walks of small depth read links from device memory instead.)
//
// A tile, with a barrier after each line:
//   walk       every thread finds its best matches, compared up to the cap. Of a candidate only those four bytes are
//              looked at that it must have to be longer than the best so far; most fail there. The next tile's bytes and
//              links are on their way meanwhile.
//   extend     only where some match reached the cap. Neighbours with the same offset are a run; a run's *last*
//              position knows that everything up to its own cap agrees. Mostly the next four bytes end it. Else a warp
//              compares from there on, 512 bytes a step, and remembers the offset, where from, and how far: every later
//              run at that offset inside is answered from memory, so that a text of few periods, or a repeat that
//              collisions of hashes break into many runs, is compared once. Every other position of a run ends where its
//              last one ends.
//   backward   the twin has each position try the offsets of the next ones. Here it is turned round: a match carries itself
//              back over the bytes before it that agree with those before its candidate, to each position there by a
//              maximum, so that no order shows. Only the first of a run of one offset has to, since it reaches what the
//              others reach; so a tile compares once a run, not several times a position. What comes after a tile's last
//              positions is in the next tile, so stitching runs a reach behind walking.
//   forward    the running maximum of p + length is a scan: of 28-bit keys (end, position), so that the later position
//              wins a tie, by shuffles in a warp, then over the warps' totals, then with what the tile before carries in.
//
// Segments of a block do not wait for each other: each leaves what it carries out, and join_segments applies that to
// the next one's first positions. A carry reaches 65534 positions at most, less than a segment, so it never passes over
// one.
//
// What binds is instructions, about 400 for 32 positions at depth 1: half of them walk and stitch, the rest is extending,
// the scan and the tile's housekeeping. Sixty-four warps of 32 registers do no better than 32 warps of 64.
//
// Bounds of work: `depth` comparisons of `cap` bytes a position; extension of at most 64 KB for a run that nothing is
// remembered of; of a run's first match at most the reach back. Shared memory: 3 bytes a position of the ring (1 without
// links) and 9 KB: 114 KB for a window of 32 KB with links, so that two thread blocks fill a multiprocessor of 228 KB (with the
// 1 KB more that a deep cap takes as well); 77 KB for one of 64 KB without them, the least that a device must have (one of
// compute capability 7.5 has 64 KB, so there windows end at about 50 KB). Registers: 64, and up to 96 for windows of 64 KB
// with links, of which a multiprocessor holds one thread block.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

#include "core/match.hpp"
#include "gpu/cuda/cuda_error.hpp"
#include "gpu/cuda/kernel_registry.hpp"
#include "gpu/cuda/kernel_trace.hpp"
#include "gpu/cuda/warp.cuh"
#include "match/common/hash_word.hpp"
#include "match/hash_chain/hash_chain_tuning.hpp"
#include "match/hash_step/hash_step.hpp"
#include "match/hash_step/hash_step_tuning.hpp"
#include "match/stitch/find_tiles_tuning.hpp"
#include "match/stitch/links.cuh"
#include "match/stitch/stitch.hpp"

namespace hemstitch::cuda {

// Where a position's candidates come from.
enum class Candidates {
  kNearest,  // its link alone
  kChain,    // its link, the link's link, and so on to `depth`
  kStep,     // its link, and the near offsets of hash_step
};

struct TileSearch {
  DeviceBlocks batch;
  Links links;
  MatchRecord* d_records;
  MatchRecord* d_carries;  // one a segment: the record that the position behind it inherits
  std::uint32_t segments_per_block;
  std::uint32_t ring_positions;
  unsigned hash_bits;
  std::uint32_t depth;
  std::uint32_t cap_bytes;
  std::uint32_t capped_rank;  // the least rank of that length (tiles::Rank)
  std::uint32_t window_bytes;
  std::uint32_t stitch_reach;  // at most that of the candidates' tiles
  bool stitch;
};

__host__ __device__ constexpr std::uint32_t round_up(std::uint32_t value, std::uint32_t unit) {
  return (value + unit - 1) / unit * unit;
}

namespace tiles {

// A comparison in the ring reads up to kNear bytes and one word more. So many bytes are known behind a tile, and so many of the ring
// stand behind its last one again, so that it need not turn around.
template <std::uint32_t kNear>
inline constexpr std::uint32_t kBeyondBytes = round_up(kNear + 8 + 16, 64);

// Positions that the stitch carries a match back, at most.
__host__ __device__ constexpr std::uint32_t stitch_reach(Candidates candidates) {
  return candidates == Candidates::kStep ? kHashStepStitchReach : kHashChainMostStitchReach;
}
static_assert(kHashStepStitchReach <= 16 && kHashChainMostStitchReach <= 16, "the ring has room for no more");

inline constexpr std::uint32_t kPerThread = kTilePositions / kTileThreads;
inline constexpr std::uint32_t kWarps = kTileThreads / 32;
inline constexpr std::uint32_t kRows = kTilePositions / 32;
static_assert(kRows <= 32, "one warp looks at all rows at once");
static_assert(2 * kWarps <= 32, "a warp remembers two facts, and one warp looks at all");
static_assert(kTilePositions + kMaxRecordLength < 1u << 17 && kTilePositions < 1u << 11,
              "a key of the forward scan packs an end and a position into 28 bits");
static_assert(kMaxRecordLength <= kSegmentPositions, "a carry never passes over a segment");

// Of a ring whose walks reach `reach_bytes` back: the tile's own positions, the next one's on their way, and room for
// alignment, for what comparisons read ahead and for the positions that stitching is behind.
template <std::uint32_t kNear = kNearBytes>
__host__ __device__ constexpr std::uint32_t ring_positions(std::uint32_t reach_bytes) {
  return round_up(reach_bytes, 16) + 2 * kTilePositions + 128 + kBeyondBytes<kNear>;
}
template <std::uint32_t kNear = kNearBytes>
__host__ __device__ constexpr std::uint32_t shared_bytes(std::uint32_t positions, bool ring_links) {
  return positions + kBeyondBytes<kNear> + (ring_links ? 2 * positions : 0);
}

// A match as one number that is larger for the better match: `length << 16 | ~offset`; 0 for none.
using Rank = std::uint32_t;

__device__ inline Rank rank_of(std::uint32_t offset, std::uint32_t length) {
  return length << 16 | (offset ^ 0xFFFFu);
}
__device__ inline std::uint32_t rank_offset(Rank rank) { return (rank & 0xFFFFu) ^ 0xFFFFu; }
__device__ inline MatchRecord rank_record(Rank rank) {
  return rank == 0 ? 0 : __funnelshift_l(rank ^ 0xFFFFu, rank ^ 0xFFFFu, 16);
}

// What comparing for one run found out, for those that come later: at this offset everything agrees in [begin, end).
struct alignas(16) Known {
  std::uint32_t offset;  // 0 for none
  std::uint32_t begin;   // both counted from the segment's first byte
  std::uint32_t end;
  std::uint32_t ends_there;  // 0 where nobody looked further
};

// For a stitch that reaches kReach positions.
template <std::uint32_t kReach>
struct TileState {
  // Of the last positions of the tile before, then the tile's: extended, and what was carried back to them so far.
  Rank found[kReach + kTilePositions];
  union {
    std::uint32_t run_end[kTilePositions];          // while extending: at each run's last position
    std::uint16_t stitched_offset[kTilePositions];  // while stitching: low halves of ranks
  };
  std::uint32_t run_lasts[kRows];  // bit masks of the positions that are the last of a run
  std::uint32_t scan_totals[kWarps];
  Known known[32];             // two of each warp
  std::uint32_t carry_end[2];  // counted from the tile's first position
  std::uint32_t carry_offset[2];
};

// The four bytes at a slot, with what reading on behind them needs.
struct RingWord {
  std::uint32_t index, shift, high;
  std::uint32_t word;

  __device__ RingWord(const std::uint32_t* sh_ring, std::uint32_t slot)
      : index(slot >> 2), shift(slot << 3), high(sh_ring[index + 1]) {
    word = __funnelshift_r(sh_ring[index], high, shift);
  }
};

// The slot `distance` positions before `slot`; distance <= ring_positions.
__device__ inline std::uint32_t slot_before(std::uint32_t slot, std::uint32_t distance,
                                            std::uint32_t ring_positions) {
  const std::uint32_t back = slot - distance;
  return min(back, back + ring_positions);  // a negative number is a huge one
}

// 16 bytes at `x` bytes behind `base`, which is aligned to 16; zeros outside [begin, end).
__device__ inline uint4 load_chunk(const std::byte* base, std::uint32_t x, std::uint32_t begin,
                                   std::uint32_t end) {
  if (x >= begin && x + 16 <= end) return *reinterpret_cast<const uint4*>(base + x);
  std::uint32_t words[4] = {0, 0, 0, 0};
#pragma unroll
  for (std::uint32_t i = 0; i < 16; ++i)
    if (x + i >= begin && x + i < end) words[i / 4] |= static_cast<std::uint32_t>(base[x + i]) << (i % 4 * 8);
  return {words[0], words[1], words[2], words[3]};
}

template <std::uint32_t kNear>
__device__ inline void store_chunk(std::uint32_t* sh_ring, std::uint32_t slot, std::uint32_t ring_positions,
                                   uint4 chunk) {
  *reinterpret_cast<uint4*>(sh_ring + slot / 4) = chunk;
  if (slot < kBeyondBytes<kNear>) *reinterpret_cast<uint4*>(sh_ring + (ring_positions + slot) / 4) = chunk;
}

// How far the bytes at two slots agree, given that the first four do; at most `limit`. The first kNear bytes stand in the
// ring, three words a step; `here` is where the first slot's bytes are.
template <std::uint32_t kNear>
__device__ inline std::uint32_t agreeing_bytes(const std::uint32_t* sh_ring, RingWord own, RingWord candidate,
                                               const std::byte* here, std::uint32_t offset,
                                               std::uint32_t limit) {
  std::uint32_t length = 4;
#pragma unroll 1
  do {
    std::uint32_t difference = 0, words = 0;
#pragma unroll
    for (std::uint32_t i = 2; i < 5; ++i) {
      const std::uint32_t own_high = sh_ring[own.index + i], candidate_high = sh_ring[candidate.index + i];
      if (difference == 0) {
        difference = __funnelshift_r(own.high, own_high, own.shift) ^
                     __funnelshift_r(candidate.high, candidate_high, candidate.shift);
        words = i - 2;
      }
      own.high = own_high, candidate.high = candidate_high;
    }
    if (difference != 0) return min(length + words * 4 + (__ffs(difference) - 1) / 8, limit);
    length += 12, own.index += 3, candidate.index += 3;
  } while (length < min(limit, kNear));
  if (limit > kNear)
    while (length < limit && here[length] == *(here + length - offset)) ++length;
  return min(length, limit);
}
static_assert((kNearBytes - 4) % 12 == 0 && (kDeepNearBytes - 4) % 12 == 0);

// A warp together: where a match that holds up to `from` ends, at most `limit`. All positions count from `here`, and
// `readable` bytes stand there.
__device__ inline std::uint32_t extended_end(const std::byte* here, std::uint32_t from, std::uint32_t limit,
                                             std::uint32_t readable, std::uint32_t offset,
                                             std::uint32_t lane) {
  constexpr std::uint32_t kLaneBytes = 16;
  for (; from < limit; from += 32 * kLaneBytes) {
    const std::uint32_t at = from + lane * kLaneBytes;
    std::uint32_t agreed = 0;
    if (std::uint64_t{at} + kLaneBytes + 4 <= readable) {
      // Whole words around both places; the match holds at least four bytes, so none stands before the data.
      const auto a_address = reinterpret_cast<std::uintptr_t>(here + at);
      const auto b_address = a_address - offset;
      const auto* a = reinterpret_cast<const std::uint32_t*>(a_address & ~std::uintptr_t{3});
      const auto* b = reinterpret_cast<const std::uint32_t*>(b_address & ~std::uintptr_t{3});
      const std::uint32_t a_shift = (a_address & 3) * 8, b_shift = (b_address & 3) * 8;
      std::uint32_t a_low = a[0], b_low = b[0];
      agreed = kLaneBytes;
#pragma unroll
      for (std::uint32_t i = 0; i < kLaneBytes / 4; ++i) {
        const std::uint32_t a_high = a[i + 1], b_high = b[i + 1];
        const std::uint32_t difference =
            __funnelshift_r(a_low, a_high, a_shift) ^ __funnelshift_r(b_low, b_high, b_shift);
        if (difference != 0) agreed = min(agreed, i * 4 + (__ffs(difference) - 1) / 8);
        a_low = a_high, b_low = b_high;
      }
    } else {
      const std::uint32_t most = at < limit ? min(limit - at, kLaneBytes) : 0;
      const std::byte* a = here + at;
      while (agreed < most && *a == *(a - offset)) ++a, ++agreed;
    }
    const unsigned ends = __ballot_sync(~0u, agreed < kLaneBytes);
    if (ends != 0) {
      const int first = __ffs(ends) - 1;
      return min(from + first * kLaneBytes + __shfl_sync(~0u, agreed, first), limit);
    }
  }
  return limit;
}

// Thread blocks that a multiprocessor is to hold. Links that are not exact are those of windows beyond 32 KB, whose two rings
// leave room for one.
constexpr int thread_blocks(bool ring_links, bool exact_links) {
  return ring_links && !exact_links ? 1 : kThreadBlocks;
}

template <Candidates kCandidates, bool kRingLinks = false, bool kExactLinks = false,
          std::uint32_t kNear = kNearBytes>
__global__ void __launch_bounds__(kTileThreads, thread_blocks(kRingLinks, kExactLinks))
    find_tiles(const TileSearch search) {
  extern __shared__ uint4 sh_memory[];
  constexpr std::uint32_t kReach = stitch_reach(kCandidates);
  __shared__ TileState<kReach> sh;
  const std::uint32_t ring_positions = search.ring_positions;
  auto* sh_ring = reinterpret_cast<std::uint32_t*>(sh_memory);
  auto* sh_links = reinterpret_cast<std::uint16_t*>(sh_ring + (ring_positions + kBeyondBytes<kNear>) / 4);

  const std::uint32_t thread = threadIdx.x, lane = thread % 32, warp = thread / 32;
  const std::uint32_t block_index = blockIdx.x / search.segments_per_block;
  const std::uint32_t segment_begin = blockIdx.x % search.segments_per_block * kSegmentPositions;
  const DeviceBlock block = search.batch.d_blocks[block_index];
  if (segment_begin >= block.block_bytes) return;
  // No comparison looks further than this, whatever the block's size.
  const std::uint32_t readable =
      min(block.block_bytes - segment_begin, kSegmentPositions + 2 * kMaxRecordLength);
  const std::uint32_t segment_positions = min(readable, kSegmentPositions);
  const std::uint32_t walked_positions = min(readable, kSegmentPositions + kReach);
  const std::byte* here = block.d_block + segment_begin;
  MatchRecord* records = search.d_records + block.position + segment_begin;

  // Ring coordinates x: 0 at the 16-byte boundary at or before the first byte that a match can point to.
  const auto before = static_cast<std::uint32_t>(
      min(std::uint64_t{block.history_bytes} + segment_begin, std::uint64_t{2 * kMaxRecordOffset}));
  const std::uint32_t lead = min(before, search.window_bytes);
  const std::uint32_t misaligned = reinterpret_cast<std::uintptr_t>(here - lead) % 16;
  const std::byte* base = here - lead - misaligned;
  const std::uint32_t base_end = misaligned + lead + readable;

  // Of the segment's first position: where its bytes stand, and the first byte that is not in the ring while it is the
  // tile's; told from what is at hand anyway, since registers are short.
  const auto first_x = [&] { return base_end - readable; };
  const auto first_frontier = [&] { return round_up(first_x(), 16) + kTilePositions + kBeyondBytes<kNear>; };
  for (std::uint32_t x = thread * 16; x < first_frontier(); x += kTileThreads * 16)
    store_chunk<kNear>(sh_ring, x, ring_positions, load_chunk(base, x, misaligned, base_end));
  std::uint32_t tile_slot = (misaligned + lead) % ring_positions;
  const auto slot_in_tile =
      [&](std::uint32_t index) {  // of the tile's position `index`, up to two tiles behind it
        const std::uint32_t slot = tile_slot + index;
        return slot < ring_positions ? slot : slot - ring_positions;
      };

  std::uint32_t linked_before = segment_begin;
  if constexpr (kCandidates == Candidates::kChain)
    if (continues_previous(search.batch, block_index, search.window_bytes))
      linked_before += search.window_bytes;
  const auto first_block_position = -static_cast<std::int32_t>(min(linked_before, 2 * kMaxRecordOffset));
  const std::uint16_t* block_links = search.links.of_block(block) + segment_begin;
  const std::uint16_t* history_links = search.links.of_history(block_index) + segment_begin;
  const auto far_link = [&](std::int32_t position) -> std::uint32_t {
    return position >= first_block_position ? block_links[position] : history_links[position];
  };
  if constexpr (kRingLinks)
    for (std::uint32_t i = thread; i < lead; i += kTileThreads)
      sh_links[misaligned + i] = static_cast<std::uint16_t>(far_link(static_cast<std::int32_t>(i - lead)));

  // A warp's positions in a tile are consecutive: kPerThread rows of 32.
  const std::uint32_t first_index = warp * 32 * kPerThread + lane;
  std::uint32_t links[kPerThread];
#pragma unroll
  for (std::uint32_t row = 0; row < kPerThread; ++row) {
    const std::uint32_t index = first_index + row * 32;
    links[row] = index < walked_positions ? block_links[index] : 0;
    if constexpr (kRingLinks) sh_links[slot_in_tile(index)] = static_cast<std::uint16_t>(links[row]);
  }
  if (thread == 0) sh.carry_end[0] = sh.carry_end[1] = 0;
  if (thread < 32) sh.known[thread].offset = 0;
  if (thread < kReach) sh.found[thread] = 0;
  __syncthreads();

  unsigned parity = 0;
  for (std::uint32_t tile = 0; tile < segment_positions + kReach; tile += kTilePositions, parity ^= 1) {
    if (thread == 0) trace_mark(kTraceFindTile, tile);
    // The next tile's bytes and links set out.
    uint4 next_chunk;
    if (thread < kTilePositions / 16)
      next_chunk = load_chunk(base, first_frontier() + tile + thread * 16, misaligned, base_end);
    std::uint32_t next_links[kPerThread];
#pragma unroll
    for (std::uint32_t row = 0; row < kPerThread; ++row) {
      const std::uint32_t next = tile + kTilePositions + first_index + row * 32;
      next_links[row] = next < walked_positions ? block_links[next] : 0;
    }

    // Walk.
    Rank ranks[kPerThread];
    bool any_capped = false;
#pragma unroll
    for (std::uint32_t row = 0; row < kPerThread; ++row) {
      const std::uint32_t index = first_index + row * 32, position = tile + index;
      const std::uint32_t slot = slot_in_tile(index);
      Rank rank = 0;
      const std::uint32_t limit =
          position < walked_positions ? min(search.cap_bytes, readable - position) : 0;
      if (limit >= kHashedBytes) {
        const RingWord own(sh_ring, slot);
        if constexpr (kCandidates == Candidates::kStep) {
          const std::uint32_t reach = min(before + position, kMaxRecordOffset);
#pragma unroll 1
          for (std::uint32_t i = 0; i < 4; ++i) {
            const std::uint32_t offset = i < 3 ? 1u << i : links[row];
            if (offset == 0 || offset > reach) continue;
            const RingWord candidate(sh_ring, slot_before(slot, offset, ring_positions));
            if (candidate.word != own.word) continue;
            rank =
                max(rank, rank_of(offset, agreeing_bytes<kNear>(sh_ring, own, candidate,
                                                                base + first_x() + position, offset, limit)));
          }
        } else if constexpr (kCandidates == Candidates::kNearest) {
          const std::uint32_t offset = links[row];
          if (offset != 0 && offset <= search.window_bytes) {
            const RingWord candidate(sh_ring, slot_before(slot, offset, ring_positions));
            if (candidate.word == own.word)
              rank = rank_of(offset, agreeing_bytes<kNear>(sh_ring, own, candidate,
                                                           base + first_x() + position, offset, limit));
          }
        } else {
          // Of a candidate only four bytes are looked at, those that it must have to be longer than the best so far.
          std::uint32_t offset = 0, step = links[row], decisive = 0, decisive_word = own.word;
          for (std::uint32_t walked = 0; walked < search.depth; ++walked) {
            offset += step;
            if (step == 0 || offset > search.window_bytes) break;
            const std::uint32_t candidate_slot = slot_before(slot, offset, ring_positions);
            if constexpr (!kExactLinks) {
              // A head older than 65535 positions is not a link at all (build_chains.cuh).
              const std::uint32_t word = RingWord(sh_ring, candidate_slot).word;
              if (word != own.word &&
                  hash_word(word, search.hash_bits) != hash_word(own.word, search.hash_bits))
                break;
            }
            if (RingWord(sh_ring, candidate_slot + decisive).word == decisive_word) {
              const RingWord candidate(sh_ring, candidate_slot);
              if (candidate.word == own.word) {
                const std::uint32_t length = agreeing_bytes<kNear>(
                    sh_ring, own, candidate, base + first_x() + position, offset, limit);
                rank = max(rank, rank_of(offset, length));
                if (length == limit) break;
                if (rank >> 16 <= kNear) {
                  decisive = (rank >> 16) - 3;
                  decisive_word = RingWord(sh_ring, slot + decisive).word;
                }
              }
            }
            if constexpr (kRingLinks)
              step = sh_links[candidate_slot];
            else
              step = far_link(static_cast<std::int32_t>(position - offset));
          }
        }
      }
      ranks[row] = rank;
      sh.found[kReach + index] = rank;
      any_capped |= rank >= search.capped_rank;
    }

    // The ring is longer than the window by two tiles: nothing that this tile reads is overwritten.
    if (thread < kTilePositions / 16)
      store_chunk<kNear>(sh_ring, slot_in_tile(first_frontier() - first_x() + thread * 16), ring_positions,
                         next_chunk);
#pragma unroll
    for (std::uint32_t row = 0; row < kPerThread; ++row) {
      if constexpr (kRingLinks)
        sh_links[slot_in_tile(kTilePositions + first_index + row * 32)] =
            static_cast<std::uint16_t>(next_links[row]);
      links[row] = next_links[row];
    }

    // Extend.
    if (__syncthreads_or(any_capped)) {
      if (thread == 0) trace_mark(kTraceExtendTile, tile);
      unsigned lasts[kPerThread];
      Known known;
      bool knows = false;
      unsigned runners = 0;  // lanes whose `known` is new
#pragma unroll
      for (std::uint32_t row = 0; row < kPerThread; ++row) {
        const std::uint32_t index = first_index + row * 32;
        const Rank rank = ranks[row];
        bool last = rank >= search.capped_rank;
        if (last && index + 1 < kTilePositions) {
          const Rank next = sh.found[kReach + index + 1];  // 0 behind the last position
          last = next < search.capped_rank || ((next ^ rank) & 0xFFFFu) != 0;
        }
        lasts[row] = __ballot_sync(~0u, last);
        if (lane == 0) sh.run_lasts[warp * kPerThread + row] = lasts[row];
        // Most runs end because their bytes do: each lane looks at its next four.
        bool goes_on = last;
        if (last && search.cap_bytes <= kNear) {
          const std::uint32_t slot = slot_in_tile(index);
          const std::uint32_t candidate_slot = slot_before(slot, rank_offset(rank), ring_positions);
          const std::uint32_t difference = RingWord(sh_ring, slot + search.cap_bytes).word ^
                                           RingWord(sh_ring, candidate_slot + search.cap_bytes).word;
          if (difference != 0) {
            goes_on = false;
            sh.run_end[index] = min(tile + index + search.cap_bytes + (__ffs(difference) - 1) / 8, readable);
          }
        }
        unsigned rest = __ballot_sync(~0u, goes_on);
        if (rest != 0 && !knows) known = sh.known[lane], knows = true;
        for (; rest != 0; rest &= rest - 1) {
          const std::uint32_t runner = __ffs(rest) - 1;
          const std::uint32_t offset = rank_offset(__shfl_sync(~0u, rank, runner));
          const std::uint32_t run_last = tile + index - lane + runner;
          const std::uint32_t end_limit = min(readable, run_last + kMaxRecordLength);
          std::uint32_t end = run_last + search.cap_bytes;
          // Ends that are not the last word on it are the smaller ones.
          const bool holds = known.offset == offset && known.begin <= run_last && run_last < known.end;
          const std::uint32_t best = largest_over_warp(holds ? known.end << 1 | known.ends_there : 0u);
          bool ends_there = false;
          if (best >> 1 >= end) end = best >> 1, ends_there = best & 1;
          if (!ends_there && end < end_limit) {
            end = extended_end(base + first_x(), end, end_limit, readable, offset, lane);
            ends_there = end < end_limit;
          }
          if (lane == runner) {
            sh.run_end[index] = end;
            known = {offset, run_last, end, ends_there};
          }
          runners |= 1u << runner;
        }
      }
      __syncthreads();
      // Two facts a warp outlive the tile: the last one, and one that differs from warp to warp, so that a text of few
      // periods has them all remembered.
      if (runners != 0) {
        const unsigned later = runners & (~0u << (warp * 7 % 32));
        const std::uint32_t chosen = __ffs(later != 0 ? later : runners) - 1;
        if (lane == chosen) sh.known[warp] = known;
        if (lane == 31 - __clz(runners)) sh.known[kWarps + warp] = known;
      }
      const unsigned rows_with_lasts = __ballot_sync(~0u, lane < kRows && sh.run_lasts[lane % kRows] != 0);
#pragma unroll
      for (std::uint32_t row = 0; row < kPerThread; ++row) {
        if (ranks[row] < search.capped_rank) continue;
        const std::uint32_t index = first_index + row * 32;
        const unsigned here_or_later = lasts[row] >> lane;
        std::uint32_t last_index;
        if (here_or_later != 0) {
          last_index = index + __ffs(here_or_later) - 1;
        } else {
          const std::uint32_t this_row = warp * kPerThread + row;
          const std::uint32_t last_row = this_row + __ffs(rows_with_lasts >> this_row >> 1);
          last_index = last_row * 32 + __ffs(sh.run_lasts[last_row]) - 1;
        }
        ranks[row] =
            rank_of(rank_offset(ranks[row]), min(sh.run_end[last_index] - (tile + index), kMaxRecordLength));
        sh.found[kReach + index] = ranks[row];
      }
      __syncthreads();
    }

    // Backward.
    if (search.stitch) {
#pragma unroll
      for (std::uint32_t row = 0; row < kPerThread; ++row) {
        const std::uint32_t index = first_index + row * 32;
        const Rank rank = ranks[row], previous = __shfl_up_sync(~0u, rank, 1);
        const bool in_run = lane > 0 && previous != 0 && ((rank ^ previous) & 0xFFFFu) == 0;
        if (rank == 0 || in_run) continue;
        const std::uint32_t offset = rank_offset(rank);
        std::uint32_t slot = slot_in_tile(index), agreed = 0, difference;
        do {
          slot = slot_before(slot, 4, ring_positions);
          difference = RingWord(sh_ring, slot).word ^
                       RingWord(sh_ring, slot_before(slot, offset, ring_positions)).word;
          agreed += __clz(difference) / 8;
        } while (difference == 0 && agreed < search.stitch_reach);
        agreed =
            min(agreed, min(before + tile + index - offset, search.stitch_reach));  // none before the data
        Rank carried = rank;
        Rank* found = &sh.found[kReach + index];
        for (const Rank* const last = found - agreed; found != last;) {
          if (carried < 0xFFFF0000u) carried += 1u << 16;
          atomicMax(--found, carried);
        }
      }
      __syncthreads();
    }

    // From here on a reach behind: `output` is huge for the first positions of a segment.
    Rank stitched[kPerThread];
    std::uint32_t keys[kPerThread];
#pragma unroll
    for (std::uint32_t row = 0; row < kPerThread; ++row) {
      const std::uint32_t index = first_index + row * 32, output = tile + index - kReach;
      stitched[row] = sh.found[index];  // 0 for those, and behind the last position
      if (search.stitch) {
        if (output >= segment_positions) stitched[row] = 0;
        keys[row] = (index + (stitched[row] >> 16)) << 11 | (index + 1);
        sh.stitched_offset[index] = static_cast<std::uint16_t>(stitched[row]);
      }
    }

    // Forward.
    if (search.stitch) {
#pragma unroll
      for (std::uint32_t row = 0; row < kPerThread; ++row) {
#pragma unroll
        for (unsigned distance = 1; distance < 32; distance *= 2) {
          const std::uint32_t other = __shfl_up_sync(~0u, keys[row], distance);
          if (lane >= distance) keys[row] = max(keys[row], other);
        }
        if (row > 0) keys[row] = max(keys[row], __shfl_sync(~0u, keys[row - 1], 31));
      }
      if (lane == 31) sh.scan_totals[warp] = keys[kPerThread - 1];
    }
    __syncthreads();
    std::uint32_t earlier = 0;
    if (search.stitch)
      earlier = max(largest_over_warp(lane < warp ? sh.scan_totals[lane % kWarps] : 0u),
                    sh.carry_end[parity] << 11);
#pragma unroll
    for (std::uint32_t row = 0; row < kPerThread; ++row) {
      const std::uint32_t index = first_index + row * 32, output = tile + index - kReach;
      if (search.stitch) {
        const std::uint32_t key = max(keys[row], earlier);
        const std::uint32_t winner = key & ((1u << 11) - 1), end = key >> 11;
        const std::uint32_t low = winner == 0 ? sh.carry_offset[parity] : sh.stitched_offset[winner - 1];
        stitched[row] = end == index ? 0 : (end - index) << 16 | low;
        if (index == kTilePositions - 1) {
          sh.carry_end[parity ^ 1] = end > kTilePositions ? end - kTilePositions : 0;
          sh.carry_offset[parity ^ 1] = low;
        }
        if (output == segment_positions - 1)
          search.d_carries[blockIdx.x] =
              stitched[row] >> 16 > 1 ? rank_record(stitched[row] - (1u << 16)) : 0;
      }
      if (index >= kTilePositions - kReach)
        sh.found[index - (kTilePositions - kReach)] = sh.found[kReach + index];
      if (output < segment_positions) records[output] = rank_record(stitched[row]);
    }

    tile_slot = slot_in_tile(kTilePositions);
  }
}

// What a segment carries out reaches into the next: the record of its last position, less one a position, wherever it is
// longer. These are the first positions, since the running maximum rises. One warp a segment.
static __global__ void __launch_bounds__(32) join_segments(const TileSearch search) {
  const std::uint32_t segment = blockIdx.x % search.segments_per_block;
  const DeviceBlock block = search.batch.d_blocks[blockIdx.x / search.segments_per_block];
  if (segment == 0 || std::uint64_t{segment} * kSegmentPositions >= block.block_bytes) return;
  const std::uint32_t segment_positions =
      min(block.block_bytes - segment * kSegmentPositions, kSegmentPositions);
  const MatchRecord carry = search.d_carries[blockIdx.x - 1];
  MatchRecord* records = search.d_records + block.position + segment * kSegmentPositions;
  for (std::uint32_t position = threadIdx.x; position - threadIdx.x < segment_positions; position += 32) {
    const bool longer = position < segment_positions && position < record_length(carry) &&
                        record_length(carry) - position > record_length(records[position]);
    if (longer) records[position] = pack_match(record_offset(carry), record_length(carry) - position);
    if (!__all_sync(~0u, longer)) return;
  }
}

constexpr KernelBudget kJoinBudget("stitch.join_segments", "join_segments", {.threads = 32, .registers = 24});

}  // namespace tiles

consteval KernelBudget find_tiles_budget(std::string_view name, std::uint32_t registers = 64) {
  return {name,
          "find_tiles",
          {.threads = kTileThreads,
           .dynamic_shared_bytes = tiles::shared_bytes<kDeepNearBytes>(
               tiles::ring_positions<kDeepNearBytes>(kMaxRecordOffset), true),
           .registers = registers,
           .shared_bytes = 216 * 1024}};
}

// Positions of the ring for a search over `batch`.
template <std::uint32_t kNear = kNearBytes>
std::uint32_t ring_positions(const DeviceBlocks& batch, std::uint32_t window_bytes) {
  const std::uint64_t longest = std::uint64_t{batch.max_history_bytes} + batch.max_block_bytes;
  return tiles::ring_positions<kNear>(
      static_cast<std::uint32_t>(longest < window_bytes ? longest : window_bytes));
}

// Launches the search; `search` lacks only the geometry. kRingLinks: links stand in shared memory, else in device memory.
// kExactLinks: every link that is not farther than the window is one, else the walk finds out. kNear: how far comparisons stay in
// shared memory.
template <Candidates kCandidates, bool kRingLinks = false, bool kExactLinks = false,
          std::uint32_t kNear = kNearBytes>
void launch_find_tiles(TileSearch search, const char* name, cudaStream_t stream) {
  search.segments_per_block = segments_per_block(search.batch);
  const std::uint32_t thread_blocks = search.batch.block_count * search.segments_per_block;
  if (thread_blocks == 0) return;
  search.ring_positions = ring_positions<kNear>(search.batch, search.window_bytes);
  search.capped_rank = search.cap_bytes << 16;
  const std::uint32_t shared_bytes = tiles::shared_bytes<kNear>(search.ring_positions, kRingLinks);
  check(cudaFuncSetAttribute(tiles::find_tiles<kCandidates, kRingLinks, kExactLinks, kNear>,
                             cudaFuncAttributeMaxDynamicSharedMemorySize, static_cast<int>(shared_bytes)),
        name);
  tiles::find_tiles<kCandidates, kRingLinks, kExactLinks, kNear>
      <<<thread_blocks, kTileThreads, shared_bytes, stream>>>(search);
  check_launch(name);
  if (search.stitch && search.segments_per_block > 1) {
    tiles::join_segments<<<thread_blocks, 32, 0, stream>>>(search);
    check_launch("stitch.join_segments");
  }
}

}  // namespace hemstitch::cuda
