// The device's finder: walks candidates, extends capped matches and stitches, in one pass over the data.
//
// hash_chain and hash_step differ only in where candidates come from. A first kernel of each (hash_chain.cu,
// hash_step.cu) leaves one 16-bit distance a position, the *link*: to the previous position with the same hash, or to
// the table's entry. This kernel does everything after that. CPU twins: walk_chains (hash_chain_reference.cpp),
// look_up_in_groups (hash_step_reference.cpp), and all of match/stitch/stitch_reference.cpp.
//
// Mapping. One thread block (1024 threads) owns a segment of 64 KB of one block of the batch, and takes it in tiles of
// 1024 positions from left to right, one position a thread. A ring in shared memory holds the bytes of the window before
// the tile, and a second ring their links, so that a walk never leaves shared memory: its reads are scattered, and
// scattered reads are what the device's memory is slow at.
//
// A tile, with a barrier after each line:
//   walk       every thread finds its best match, compared up to the cap. The next tile's bytes and links are on
//              their way meanwhile.
//   extend     only where some match reached the cap. Neighbours with the same offset are a run; a run's *last*
//              position knows that everything up to its own cap agrees, so one warp compares from there on, 512 bytes
//              a step. A run that leaves the tile hands on how far it is known to agree, so a long repeat is compared
//              once. Every other position of the run ends where its last one ends.
//   backward   each position tries the offsets of the next four. The next four of a tile's last positions are in the
//              next tile, so stitching runs four positions behind walking.
//   forward    the running maximum of p + length is a scan: of 28-bit keys (end, position), so that the later position
//              wins a tie, by shuffles in a warp, then over the 32 warps' totals, then with what the tile before
//              carries in.
//
// Segments of a block do not wait for each other: each leaves what it carries out, and join_segments applies that to
// the next one's first positions. A carry reaches 65534 positions at most, less than a segment, so it never passes over
// one.
//
// Bounds of work: `depth` comparisons of `cap` bytes a position; extension of at most 64 KB for each run of a tile.
// Shared memory: 3 bytes a position of the ring (1 without links) and 16 KB. Registers: 32, so that two thread blocks
// fill a multiprocessor.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

#include "core/match.hpp"
#include "core/status.hpp"
#include "device/cuda/cuda_error.hpp"
#include "device/cuda/device_block.hpp"
#include "match/hash_step/hash_step.hpp"
#include "match/hash_word.hpp"
#include "match/stitch/find_tiles_tuning.hpp"
#include "match/stitch/stitch.hpp"

namespace hemstitch::cuda {

// Where a position's candidates come from.
enum class Candidates {
  kNearest,  // its link alone
  kChain,    // its link, the link's link, and so on to `depth`
  kStep,     // its link, and the near offsets of hash_step
};

// One distance a position: first those of the blocks, at DeviceBlock::position, then the last max_history_bytes
// positions of every block's history. 0 for none.
struct Links {
  std::uint16_t* d_links;
  std::uint64_t total_block_bytes;
  std::uint32_t max_history_bytes;

  // Of position 0 of block `index`; its history's positions are negative.
  __device__ std::uint16_t* of_block(const DeviceBlock& block) const { return d_links + block.position; }
  __device__ std::uint16_t* of_history(std::uint32_t index) const {
    return d_links + total_block_bytes + (std::uint64_t{index} + 1) * max_history_bytes;
  }
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
  std::uint32_t window_bytes;
  bool stitch;
};

__host__ __device__ constexpr std::uint32_t round_up(std::uint32_t value, std::uint32_t unit) {
  return (value + unit - 1) / unit * unit;
}

// Throws kInvalidOption where a caller gave too little scratch.
inline void check_scratch(const char* finder, std::size_t scratch_bytes, std::size_t needed_bytes) {
  if (scratch_bytes < needed_bytes)
    throw Error(Status::kInvalidOption, std::string(finder) + ": scratch_bytes is " +
                                            std::to_string(scratch_bytes) + ", must be at least " +
                                            std::to_string(needed_bytes));
}

// The segments that the largest block of a batch has; every block gets as many thread blocks, and those behind its end
// have nothing to do.
inline std::uint32_t segments_per_block(const DeviceBlocks& batch) {
  return batch.max_block_bytes / kSegmentPositions + (batch.max_block_bytes % kSegmentPositions != 0 ? 1 : 0);
}

namespace tiles {

// Bytes of the ring that stand before its first byte again, so that a comparison need not turn around.
inline constexpr std::uint32_t kMirrorBytes = 128;
// Bytes known behind a tile: a comparison in the ring reads up to kNearBytes and one word more.
inline constexpr std::uint32_t kAheadBytes = 128;
static_assert(kNearBytes + 8 <= kMirrorBytes && kNearBytes + 8 + 16 <= kAheadBytes);

inline constexpr std::uint32_t kReach = kStitchReach;
inline constexpr std::uint32_t kWarps = kTilePositions / 32;
static_assert(kWarps <= 32, "one warp scans the totals of all warps");
static_assert(kTilePositions + kMaxRecordLength < 1u << 17 && kTilePositions < 1u << 11,
              "a key of the forward scan packs an end and a position into 28 bits");
static_assert(kMaxRecordLength <= kSegmentPositions, "a carry never passes over a segment");

// How far a run that left the tile is known to agree.
struct Known {
  std::uint32_t offset;  // 0 for none
  std::uint32_t end;     // counted from the segment's first byte
  bool ends_there;
};

struct TileState {
  MatchRecord records[kTilePositions];  // found, then extended
  MatchRecord before[2][kReach];        // extended, of the last positions of the tile before
  union {
    std::uint32_t run_end[kTilePositions];          // while extending: at each run's last position
    std::uint16_t stitched_offset[kTilePositions];  // while stitching: after the backward pass
  };
  std::uint32_t run_lasts[kWarps];  // bit masks of the positions that are the last of a run
  std::uint32_t scan_totals[kWarps];
  Known known[2];
  std::uint32_t carry_end[2];  // counted from the tile's first position
  std::uint32_t carry_offset[2];
};

__device__ inline std::uint32_t ring_word(const std::uint32_t* sh_ring, std::uint32_t slot) {
  const std::uint32_t index = slot >> 2;
  return __funnelshift_r(sh_ring[index], sh_ring[index + 1], slot << 3);
}

// The slot `distance` positions before `slot`; distance <= ring_positions.
__device__ inline std::uint32_t slot_before(std::uint32_t slot, std::uint32_t distance,
                                            std::uint32_t ring_positions) {
  const std::uint32_t back = slot - distance;
  return min(back, back + ring_positions);  // a negative number is a huge one
}

// 16 bytes at `x` bytes behind `base`, which is aligned to 16; zeros outside [begin, end).
__device__ inline uint4 load_chunk(const std::byte* base, std::uint32_t x, std::uint32_t begin,
                                   std::uint64_t end) {
  if (x >= begin && x + 16 <= end) return *reinterpret_cast<const uint4*>(base + x);
  std::uint32_t words[4] = {0, 0, 0, 0};
#pragma unroll
  for (std::uint32_t i = 0; i < 16; ++i)
    if (x + i >= begin && x + i < end) words[i / 4] |= static_cast<std::uint32_t>(base[x + i]) << (i % 4 * 8);
  return {words[0], words[1], words[2], words[3]};
}

__device__ inline void store_chunk(std::uint32_t* sh_ring, std::uint32_t slot, std::uint32_t ring_positions,
                                   uint4 chunk) {
  *reinterpret_cast<uint4*>(sh_ring + slot / 4) = chunk;
  if (slot < kMirrorBytes) *reinterpret_cast<uint4*>(sh_ring + (ring_positions + slot) / 4) = chunk;
}

// How far the bytes at `here` agree with those `offset` before, given that the first four do; at most `limit`. The first
// kNearBytes stand in the ring.
__device__ inline std::uint32_t agreeing_bytes(const std::uint32_t* sh_ring, std::uint32_t slot,
                                               std::uint32_t candidate_slot, const std::byte* here,
                                               std::uint32_t offset, std::uint32_t limit) {
  const std::uint32_t near = min(limit, kNearBytes);
  std::uint32_t length = 4;
  while (length < near) {
    const std::uint32_t difference =
        ring_word(sh_ring, slot + length) ^ ring_word(sh_ring, candidate_slot + length);
    if (difference != 0) return min(length + (__ffs(difference) - 1) / 8, near);
    length += 4;
  }
  length = near;
  if (limit > kNearBytes) {
    here += length;
    while (length < limit && *here == *(here - offset)) ++here, ++length;
  }
  return length;
}

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

template <Candidates kCandidates>
__global__ void __launch_bounds__(kTilePositions, kThreadBlocks) find_tiles(const TileSearch search) {
  extern __shared__ uint4 sh_memory[];
  __shared__ TileState sh;
  const std::uint32_t ring_positions = search.ring_positions;
  auto* sh_ring = reinterpret_cast<std::uint32_t*>(sh_memory);
  auto* sh_links = reinterpret_cast<std::uint16_t*>(sh_ring + (ring_positions + kMirrorBytes) / 4);

  const std::uint32_t thread = threadIdx.x, lane = thread % 32, warp = thread / 32;
  const std::uint32_t block_index = blockIdx.x / search.segments_per_block;
  const std::uint32_t segment_begin = blockIdx.x % search.segments_per_block * kSegmentPositions;
  const DeviceBlock block = search.batch.d_blocks[block_index];
  if (segment_begin >= block.block_bytes) return;
  const std::uint32_t readable = block.block_bytes - segment_begin;
  const std::uint32_t segment_positions = min(readable, kSegmentPositions);
  const std::uint32_t walked_positions = min(readable, kSegmentPositions + kReach);
  const std::byte* here = block.d_block + segment_begin;

  // Ring coordinates x: 0 at the 16-byte boundary at or before the first byte that a match can point to.
  const auto before = static_cast<std::uint32_t>(
      min(std::uint64_t{block.history_bytes} + segment_begin, std::uint64_t{2 * kMaxRecordOffset}));
  const std::uint32_t lead = min(before, search.window_bytes);
  const std::uint32_t misaligned = reinterpret_cast<std::uintptr_t>(here - lead) % 16;
  const std::byte* base = here - lead - misaligned;
  const std::uint64_t base_end = std::uint64_t{misaligned} + lead + readable;

  std::uint32_t frontier =
      round_up(misaligned + lead, 16) + kTilePositions + kAheadBytes;  // bytes in the ring
  for (std::uint32_t x = thread * 16; x < frontier; x += kTilePositions * 16)
    store_chunk(sh_ring, x, ring_positions, load_chunk(base, x, misaligned, base_end));
  std::uint32_t frontier_slot = frontier % ring_positions;

  const std::uint16_t* block_links = search.links.of_block(block) + segment_begin;
  if constexpr (kCandidates == Candidates::kChain) {
    const std::uint16_t* history_links = search.links.of_history(block_index) + segment_begin;
    for (std::uint32_t i = thread; i < lead; i += kTilePositions) {
      const auto position = static_cast<std::int64_t>(i) - lead;  // negative
      sh_links[misaligned + i] =
          position + segment_begin >= 0 ? block_links[position] : history_links[position];
    }
  }
  std::uint32_t link = thread < walked_positions ? block_links[thread] : 0;
  std::uint32_t tile_slot = (misaligned + lead) % ring_positions;
  if constexpr (kCandidates == Candidates::kChain) {
    const std::uint32_t slot = tile_slot + thread;
    sh_links[slot < ring_positions ? slot : slot - ring_positions] = static_cast<std::uint16_t>(link);
  }
  if (thread == 0) {
    sh.known[0].offset = sh.known[1].offset = 0;
    sh.carry_end[0] = sh.carry_end[1] = 0;
  }
  __syncthreads();

  unsigned parity = 0;
  for (std::uint32_t tile = 0; tile < segment_positions + kReach; tile += kTilePositions, parity ^= 1) {
    const std::uint32_t position = tile + thread;
    std::uint32_t slot = tile_slot + thread;
    if (slot >= ring_positions) slot -= ring_positions;

    // The next tile's bytes and links set out.
    uint4 next_chunk;
    if (thread < kTilePositions / 16)
      next_chunk = load_chunk(base, frontier + thread * 16, misaligned, base_end);
    std::uint32_t next_link = 0;
    if (position + kTilePositions < walked_positions) next_link = block_links[position + kTilePositions];

    // Walk.
    Match best;
    const std::uint32_t limit = position < walked_positions ? min(search.cap_bytes, readable - position) : 0;
    if (limit >= kHashedBytes) {
      const std::uint32_t word = ring_word(sh_ring, slot);
      if constexpr (kCandidates == Candidates::kStep) {
        const std::uint32_t reach = min(before + position, kMaxRecordOffset);
#pragma unroll 1
        for (std::uint32_t i = 0; i < 4; ++i) {
          const std::uint32_t offset = i < 3 ? 1u << i : link;
          if (offset == 0 || offset > reach) continue;
          const std::uint32_t candidate = slot_before(slot, offset, ring_positions);
          if (ring_word(sh_ring, candidate) != word) continue;
          const Match match{offset, agreeing_bytes(sh_ring, slot, candidate, here + position, offset, limit)};
          if (better_match(match, best)) best = match;
        }
      } else {
        std::uint32_t offset = 0, step = link;
        for (std::uint32_t walked = 0; walked < search.depth; ++walked) {
          offset += step;
          if (step == 0 || offset > search.window_bytes) break;
          const std::uint32_t candidate = slot_before(slot, offset, ring_positions);
          const std::uint32_t candidate_word = ring_word(sh_ring, candidate);
          if (candidate_word == word) {
            const std::uint32_t length =
                agreeing_bytes(sh_ring, slot, candidate, here + position, offset, limit);
            if (length > best.length) best = {offset, length};
            if (length == limit) break;
          } else if (hash_word(candidate_word, search.hash_bits) != hash_word(word, search.hash_bits)) {
            break;  // not a link at all: a head older than 65535 positions (hash_chain.cu)
          }
          if constexpr (kCandidates == Candidates::kNearest) break;
          step = sh_links[candidate];
        }
      }
    }
    MatchRecord record = pack_match(best.offset, best.length);
    sh.records[thread] = record;

    // The ring is longer than the window by two tiles: nothing that this tile reads is overwritten.
    if (thread < kTilePositions / 16) {
      std::uint32_t chunk_slot = frontier_slot + thread * 16;
      if (chunk_slot >= ring_positions) chunk_slot -= ring_positions;
      store_chunk(sh_ring, chunk_slot, ring_positions, next_chunk);
    }
    if constexpr (kCandidates == Candidates::kChain) {
      const std::uint32_t next_slot = slot + kTilePositions;
      sh_links[next_slot < ring_positions ? next_slot : next_slot - ring_positions] =
          static_cast<std::uint16_t>(next_link);
    }
    link = next_link;

    // Extend.
    const bool capped = best.length >= search.cap_bytes;
    if (__syncthreads_or(capped)) {
      bool last = capped;
      if (capped && thread + 1 < kTilePositions && position + 1 < walked_positions) {
        const MatchRecord next = sh.records[thread + 1];
        last = record_length(next) < search.cap_bytes || record_offset(next) != best.offset;
      }
      const unsigned lasts = __ballot_sync(~0u, last);
      if (lane == 0) sh.run_lasts[warp] = lasts;
      const Known known = sh.known[parity];
      for (unsigned rest = lasts; rest != 0; rest &= rest - 1) {
        const int runner = __ffs(rest) - 1;
        const std::uint32_t offset = __shfl_sync(~0u, best.offset, runner);
        const std::uint32_t run_last = tile + warp * 32 + runner;
        const std::uint32_t end_limit = min(readable, run_last + kMaxRecordLength);
        std::uint32_t end = run_last + search.cap_bytes;
        bool ends_there = false;
        if (known.offset == offset && known.end > end) end = known.end, ends_there = known.ends_there;
        if (!ends_there && end < end_limit) {
          end = extended_end(here, end, end_limit, readable, offset, lane);
          ends_there = end < end_limit;
        }
        if (lane == runner) {
          sh.run_end[thread] = end;
          if (thread == kTilePositions - 1) sh.known[parity ^ 1] = {offset, end, ends_there};
        }
      }
      if (thread == kTilePositions - 1 && !last) sh.known[parity ^ 1].offset = 0;
      __syncthreads();
      const unsigned later_warps =
          __ballot_sync(~0u, lane > warp && lane < kWarps && sh.run_lasts[lane] != 0);
      if (capped) {
        const unsigned here_or_later = lasts >> lane;
        std::uint32_t end;
        if (here_or_later != 0) {
          end = sh.run_end[thread + __ffs(here_or_later) - 1];
        } else {
          const std::uint32_t last_warp = __ffs(later_warps) - 1;
          end = sh.run_end[last_warp * 32 + __ffs(sh.run_lasts[last_warp]) - 1];
        }
        record = pack_match(best.offset, end - position);
        sh.records[thread] = record;
      }
      __syncthreads();
    } else if (thread == 0) {
      sh.known[parity ^ 1].offset = 0;
    }

    if (thread >= kTilePositions - kReach) sh.before[parity ^ 1][thread - (kTilePositions - kReach)] = record;

    // Backward, four positions behind.
    const auto behind = [&](std::uint32_t index) {  // the record of the tile's position `index` - kReach
      return index < kReach ? sh.before[parity][index] : sh.records[index - kReach];
    };
    const std::uint32_t output = position - kReach;  // huge for the first four of a segment
    Match stitched;
    if (output < segment_positions) {
      const MatchRecord own = behind(thread);
      stitched = {record_offset(own), record_length(own)};
      if (search.stitch) {
        const std::uint32_t output_slot = slot_before(slot, kReach, ring_positions);
        const std::uint32_t word = ring_word(sh_ring, output_slot);
#pragma unroll
        for (std::uint32_t ahead = 1; ahead <= kReach; ++ahead) {
          if (output + ahead >= walked_positions) break;
          const MatchRecord next = behind(thread + ahead);
          const Match borrowed{record_offset(next), min(record_length(next) + ahead, kMaxRecordLength)};
          if (borrowed.offset == 0 || borrowed.offset > before + output || !better_match(borrowed, stitched))
            continue;
          const std::uint32_t difference =
              word ^ ring_word(sh_ring, slot_before(output_slot, borrowed.offset, ring_positions));
          if (ahead == 4 ? difference == 0 : difference << (32 - 8 * ahead) == 0) stitched = borrowed;
        }
      }
    }

    // Forward.
    if (search.stitch) {
      std::uint32_t key = (thread + stitched.length) << 11 | (thread + 1);
#pragma unroll
      for (unsigned distance = 1; distance < 32; distance *= 2) {
        const std::uint32_t other = __shfl_up_sync(~0u, key, distance);
        if (lane >= distance) key = max(key, other);
      }
      if (lane == 31) sh.scan_totals[warp] = key;
      sh.stitched_offset[thread] = static_cast<std::uint16_t>(stitched.offset);
      __syncthreads();
      const std::uint32_t earlier = __reduce_max_sync(~0u, lane < warp ? sh.scan_totals[lane] : 0u);
      key = max(max(key, earlier), sh.carry_end[parity] << 11);
      const std::uint32_t winner = key & ((1u << 11) - 1), end = key >> 11;
      const std::uint32_t offset = winner == 0 ? sh.carry_offset[parity] : sh.stitched_offset[winner - 1];
      stitched = {offset, end - thread};
      if (thread == kTilePositions - 1) {
        sh.carry_end[parity ^ 1] = end > kTilePositions ? end - kTilePositions : 0;
        sh.carry_offset[parity ^ 1] = offset;
      }
      if (output == segment_positions - 1)
        search.d_carries[blockIdx.x] = stitched.length > 1 ? pack_match(offset, stitched.length - 1) : 0;
    } else {
      __syncthreads();
    }
    if (output < segment_positions)
      search.d_records[block.position + segment_begin + output] =
          pack_match(stitched.offset, stitched.length);

    frontier += kTilePositions;
    frontier_slot += kTilePositions;
    if (frontier_slot >= ring_positions) frontier_slot -= ring_positions;
    tile_slot += kTilePositions;
    if (tile_slot >= ring_positions) tile_slot -= ring_positions;
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

}  // namespace tiles

// Launches the search; `search` lacks only the geometry. Shared memory of the device decides nothing but speed: windows
// whose ring it cannot hold do not exist on devices that we support, see find_tiles_tuning.hpp.
template <Candidates kCandidates>
void launch_find_tiles(TileSearch search, const char* name, cudaStream_t stream) {
  search.segments_per_block = segments_per_block(search.batch);
  const std::uint32_t thread_blocks = search.batch.block_count * search.segments_per_block;
  if (thread_blocks == 0) return;
  const std::uint64_t longest = std::uint64_t{search.batch.max_history_bytes} + search.batch.max_block_bytes;
  const auto reach =
      static_cast<std::uint32_t>(longest < search.window_bytes ? longest : search.window_bytes);
  search.ring_positions = round_up(reach, 16) + 2 * kTilePositions + 256;
  const std::uint32_t shared_bytes = search.ring_positions + tiles::kMirrorBytes +
                                     (kCandidates == Candidates::kChain ? 2 * search.ring_positions : 0);
  check(cudaFuncSetAttribute(tiles::find_tiles<kCandidates>, cudaFuncAttributeMaxDynamicSharedMemorySize,
                             static_cast<int>(shared_bytes)),
        name);
  tiles::find_tiles<kCandidates><<<thread_blocks, kTilePositions, shared_bytes, stream>>>(search);
  check_launch(name);
  if (search.stitch && search.segments_per_block > 1) {
    tiles::join_segments<<<thread_blocks, 32, 0, stream>>>(search);
    check_launch("stitch.join_segments");
  }
}

}  // namespace hemstitch::cuda
