// The device's finder: walks candidates, extends capped matches and stitches, in one pass over the data.
//
// A first kernel (build_chains.cuh) leaves one 16-bit distance a position, the *link*: to the previous position with the
// same hash. This kernel does everything after that. CPU twins: walk_chains (hash_chain_reference.cpp) and all of
// match/stitch/stitch_reference.cpp.
//
// Mapping. One thread block (512 threads) owns a segment of 64 KB of one block of the batch, and takes it in tiles of
// 1024 positions from left to right: a warp has 64 of them in a row, a thread two, 32 apart. A ring in shared memory holds
// the bytes of the window before the tile, and a second ring their links, so that a walk never leaves shared memory: its reads are
// scattered, for which the device's memory is slow. (Where the second ring would leave room for only one thread block, walks of
// small depth read links from device memory instead.)
//
// A tile, with a barrier after each line:
//   walk       every thread finds its best matches, compared up to the cap. Of a candidate, only the four bytes are
//              compared in which it must agree to be longer than the best so far; most fail there. The next tile's bytes and links
//              are loaded meanwhile.
//   extend     only where some match reached the cap. Neighbours with the same offset are a run; a run's *last*
//              position knows that everything up to its own cap agrees. Mostly the run ends within the next four bytes. Otherwise a warp
//              compares from there on, 512 bytes a step, and remembers the offset and the range that agrees: a later run of that
//              offset inside the range is not compared. So a text of few periods, or a repeat that hash collisions break into many
//              runs, is compared once. Every other position of a run ends where its last one ends.
//   backward   the twin has each position try the offsets of the next ones. Here it is the other way round: a match
//              carries itself back over the bytes before it that agree with those before its candidate. At each position a maximum
//              is taken, so the order does not matter. Only the first match of a run of one offset must do this, since it reaches
//              what the others reach; so a tile compares once a run, not several times a position. The positions after a tile's
//              last ones are in the next tile, so stitching runs a reach behind walking.
//   forward    the running maximum of p + length is a scan: of 28-bit keys (end, position), so that the later position
//              wins a tie, by shuffles in a warp, then over the warps' totals, then with what the tile before carries in.
//
// Segments of a block do not wait for each other: each writes what it carries out, and join_segments applies that to the next one's
// first positions. A carry reaches at most 65534 positions, less than a segment, so it never crosses one.
//
// Instructions limit the speed, about 400 for 32 positions at depth 1: half of them walk and stitch; the rest extend, scan and
// manage the tile. Sixty-four warps of 32 registers do no better than 32 warps of 64.
//
// Bounds of work: `depth` comparisons of `cap` bytes a position; extension by at most 64 KB for a run that is not remembered;
// carrying back a run's first match by at most the reach. Shared memory: 3 bytes a position of the ring (1 without links) and 9 KB:
// 114 KB for a window of 32 KB with links, so that two thread blocks fill a multiprocessor of 228 KB (with the 1 KB more that a
// deep cap takes as well); 77 KB for one of 64 KB without them, the least that a device must have (one of compute capability 7.5
// has 64 KB, so there windows end at about 50 KB). Registers: 64, and up to 96 for windows of 64 KB with links, of which a
// multiprocessor holds one thread block.
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
#include "match/stitch/find_tiles_tuning.hpp"
#include "match/stitch/links.cuh"
#include "match/stitch/stitch.hpp"

namespace hemstitch::cuda {

// Where a position's candidates come from.
enum class Candidates {
  kNearest,  // its link alone
  kChain,    // its link, the link's link, and so on to `depth`
};

struct TileFinding {
  DeviceBlocks batch;
  Links links;
  HashWidths widths;
  MatchRecord* d_records;
  MatchRecord* d_carries;  // one a segment: the record that the position behind it inherits
  std::uint32_t segments_per_block;
  std::uint32_t ring_positions;
  unsigned hash_bits;
  std::uint32_t depth;
  std::uint32_t cap_bytes;
  std::uint32_t capped_rank;  // the least rank of that length (tiles::Rank)
  std::uint32_t window_bytes;
  std::uint32_t stitch_reach;  // at most kMostStitchReach
  bool stitch;
};

__host__ __device__ constexpr std::uint32_t round_up(std::uint32_t value, std::uint32_t unit) {
  return (value + unit - 1) / unit * unit;
}

namespace tiles {

// A comparison in the ring reads up to kNear bytes and one word more. So many bytes after a tile are loaded, and so many of the
// ring's first bytes are repeated after its last one, so that a comparison need not wrap around.
template <std::uint32_t kNear>
inline constexpr std::uint32_t kBeyondBytes = round_up(kNear + 8 + 16, 64);

inline constexpr std::uint32_t kPerThread = kTilePositions / kTileThreads;
inline constexpr std::uint32_t kWarps = kTileThreads / 32;
inline constexpr std::uint32_t kRows = kTilePositions / 32;
static_assert(kMostStitchReach <= 16, "the ring has room for no more");
static_assert(kRows <= 32, "one warp looks at all rows at once");
static_assert(2 * kWarps <= 32, "a warp remembers two facts, and one warp looks at all");
static_assert(kTilePositions + kMaxRecordLength < 1u << 17 && kTilePositions < 1u << 11,
              "a key of the forward scan packs an end and a position into 28 bits");
static_assert(kMaxRecordLength <= kSegmentPositions, "a carry never passes over a segment");

// Positions of a ring whose walks reach `reach_bytes` back: besides these, the tile's own positions, the next tile's, and room for
// alignment, for what comparisons read ahead and for the positions by which stitching is behind.
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

// What the comparison for one run found, kept for later runs: at this offset everything agrees in [begin, end).
struct alignas(16) Known {
  std::uint32_t offset;  // 0 for none
  std::uint32_t begin;   // both counted from the segment's first byte
  std::uint32_t end;
  std::uint32_t ends_there;  // 0 if nothing further was compared
};

struct TileState {
  // Matches of the last positions of the tile before, then of the tile's: extended, or carried back to them so far.
  Rank found[kMostStitchReach + kTilePositions];
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

// The four bytes at a slot, with what is needed to read on after them.
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
  return __viaddmin_u32(back, ring_positions, back);  // the smaller one: a negative number counts as huge
}

// Makes the compiler keep a number that it would recompute in an inner loop, where registers are scarce.
__device__ inline void keep_in_register(std::uint32_t& number) { asm("" : "+r"(number)); }

// The same for the assembler, which sees through that, but sees through a shuffle only after it has decided what to keep. By all
// lanes of a warp.
__device__ inline std::uint32_t kept_number(std::uint32_t number) { return __shfl_sync(~0u, number, 0); }

// 16 bytes, `x` bytes after `base`, which is aligned to 16; zeros outside [begin, end).
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

// How far the bytes at two slots agree, given that the first four do; at most `limit`. The first kNear bytes are read from the
// ring, three words a step; `here` is where the first slot's bytes are in device memory.
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

// By a whole warp: where a match that holds up to `from` ends, at most `limit`. All positions count from `here`, where `readable`
// bytes may be read.
__device__ inline std::uint32_t extended_end(const std::byte* here, std::uint32_t from, std::uint32_t limit,
                                             std::uint32_t readable, std::uint32_t offset,
                                             std::uint32_t lane) {
  constexpr std::uint32_t kLaneBytes = 16;
  for (; from < limit; from += 32 * kLaneBytes) {
    const std::uint32_t at = from + lane * kLaneBytes;
    std::uint32_t agreed = 0;
    if (std::uint64_t{at} + kLaneBytes + 4 <= readable) {
      // Reads whole words around both places; the match has at least four bytes, so none of them is before the data.
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

// Thread blocks that a multiprocessor should hold. Links that are not exact are those of windows beyond 32 KB, whose two rings
// leave room for one.
constexpr int thread_blocks(bool ring_links, bool exact_links) {
  return ring_links && !exact_links ? 1 : kThreadBlocks;
}

// What a thread of find_tiles knows of its segment, and the steps for the segment's tiles.
template <Candidates kCandidates, bool kRingLinks, bool kExactLinks, std::uint32_t kNear>
class SegmentFinder {
 public:
  __device__ SegmentFinder(const TileFinding& finding, const DeviceBlock& block, std::uint32_t block_index,
                           std::uint32_t segment_begin, uint4* sh_memory, TileState& sh)
      : finding_(finding),
        sh_(sh),
        ring_positions_(finding.ring_positions),
        sh_ring_(reinterpret_cast<std::uint32_t*>(sh_memory)),
        sh_links_(reinterpret_cast<std::uint16_t*>(sh_ring_ + (ring_positions_ + kBeyondBytes<kNear>) / 4)),
        readable_(min(block.block_bytes - segment_begin, kSegmentPositions + 2 * kMaxRecordLength)),
        segment_positions_(min(readable_, kSegmentPositions)),
        walked_positions_(min(readable_, kSegmentPositions + kMostStitchReach)),
        records_(finding.d_records + block.position + segment_begin),
        before_(static_cast<std::uint32_t>(
            min(std::uint64_t{block.history_bytes} + segment_begin, std::uint64_t{2 * kMaxRecordOffset}))),
        hash_width_(finding.widths.of_block(block_index)) {
    const std::byte* here = block.d_block + segment_begin;
    const std::uint32_t lead = min(before_, finding.window_bytes);
    misaligned_ = reinterpret_cast<std::uintptr_t>(here - lead) % 16;
    base_ = here - lead - misaligned_;
    base_end_ = misaligned_ + lead + readable_;
    tile_slot_ = (misaligned_ + lead) % ring_positions_;

    std::uint32_t linked_before = segment_begin;
    if constexpr (kCandidates == Candidates::kChain)
      if (continues_previous(finding.batch, block_index, finding.window_bytes, finding.widths))
        linked_before += finding.window_bytes;
    first_block_position_ = -static_cast<std::int32_t>(min(linked_before, 2 * kMaxRecordOffset));
    block_links_ = finding.links.of_block(block) + segment_begin;
    history_links_ = finding.links.of_history(block_index) + segment_begin;
  }

  __device__ void find() {
    begin();
    for (std::uint32_t tile = 0; tile < segment_positions_ + kMostStitchReach;
         tile += kTilePositions, parity_ ^= 1) {
      if (thread_ == 0) trace_mark(kTraceFindTile, tile);
      const Ahead ahead = load_ahead(tile);
      const bool any_capped = walk(tile);
      store_ahead(ahead);
      if (__syncthreads_or(any_capped)) extend(tile);
      if (finding_.stitch) carry_backward(tile);
      carry_forward(tile);
      tile_slot_ = slot_in_tile(kTilePositions);
    }
  }

 private:
  // The next tile's bytes and links, which are loaded while this one is walked.
  struct Ahead {
    uint4 chunk;
    std::uint32_t links[kPerThread];
  };

  // For the segment's first position: where its bytes are, and the first byte that is not in the ring during its tile. Computed
  // from values that are kept anyway, since registers are scarce.
  __device__ std::uint32_t first_x() const { return base_end_ - readable_; }
  __device__ std::uint32_t first_frontier() const {
    return round_up(first_x(), 16) + kTilePositions + kBeyondBytes<kNear>;
  }
  // The slot of the tile's position `index`, up to two tiles after it.
  __device__ std::uint32_t slot_in_tile(std::uint32_t index) const {
    const std::uint32_t slot = tile_slot_ + index;
    return slot < ring_positions_ ? slot : slot - ring_positions_;
  }
  // A warp's positions in a tile are consecutive: kPerThread rows of 32.
  __device__ std::uint32_t index_in_row(std::uint32_t row) const {
    return warp_ * 32 * kPerThread + lane_ + row * 32;
  }
  // The link of any position to which a match can point, from device memory.
  __device__ std::uint32_t far_link(std::int32_t position) const {
    return position >= first_block_position_ ? block_links_[position] : history_links_[position];
  }

  // Loads the bytes and links before the first tile, and the tile's own.
  __device__ void begin() {
    for (std::uint32_t x = thread_ * 16; x < first_frontier(); x += kTileThreads * 16)
      store_chunk<kNear>(sh_ring_, x, ring_positions_, load_chunk(base_, x, misaligned_, base_end_));
    if constexpr (kRingLinks) {
      const std::uint32_t lead = min(before_, finding_.window_bytes);
#pragma unroll 16  // so many links are in flight at once
      for (std::uint32_t i = thread_; i < lead; i += kTileThreads)
        sh_links_[misaligned_ + i] =
            static_cast<std::uint16_t>(far_link(static_cast<std::int32_t>(i - lead)));
    }
#pragma unroll
    for (std::uint32_t row = 0; row < kPerThread; ++row) {
      const std::uint32_t index = index_in_row(row);
      links_[row] = index < walked_positions_ ? block_links_[index] : 0;
      if constexpr (kRingLinks) sh_links_[slot_in_tile(index)] = static_cast<std::uint16_t>(links_[row]);
    }
    if (thread_ == 0) sh_.carry_end[0] = sh_.carry_end[1] = 0;
    if (thread_ < 32) sh_.known[thread_].offset = 0;
    if (thread_ < kMostStitchReach) sh_.found[thread_] = 0;
    __syncthreads();
  }

  __device__ Ahead load_ahead(std::uint32_t tile) const {
    Ahead ahead;
    if (thread_ < kTilePositions / 16)
      ahead.chunk = load_chunk(base_, first_frontier() + tile + thread_ * 16, misaligned_, base_end_);
#pragma unroll
    for (std::uint32_t row = 0; row < kPerThread; ++row) {
      const std::uint32_t next = tile + kTilePositions + index_in_row(row);
      ahead.links[row] = next < walked_positions_ ? block_links_[next] : 0;
    }
    return ahead;
  }

  // The ring is longer than the window by two tiles, so nothing that this tile reads is overwritten.
  __device__ void store_ahead(const Ahead& ahead) {
    if (thread_ < kTilePositions / 16)
      store_chunk<kNear>(sh_ring_, slot_in_tile(first_frontier() - first_x() + thread_ * 16), ring_positions_,
                         ahead.chunk);
#pragma unroll
    for (std::uint32_t row = 0; row < kPerThread; ++row) {
      if constexpr (kRingLinks)
        sh_links_[slot_in_tile(kTilePositions + index_in_row(row))] =
            static_cast<std::uint16_t>(ahead.links[row]);
      links_[row] = ahead.links[row];
    }
  }

  // Whether any of the thread's matches reached the cap.
  __device__ bool walk(std::uint32_t tile) {
    // Where links begin, counted from the ring: computed once, and not at every step of a chain.
    const std::uint32_t first_link =
        kRingLinks ? kept_number(static_cast<std::uint32_t>(sh_links_ - ring_halves())) : 0;
    bool any_capped = false;
#pragma unroll
    for (std::uint32_t row = 0; row < kPerThread; ++row) {
      const std::uint32_t index = index_in_row(row), position = tile + index;
      std::uint32_t slot = slot_in_tile(index);
      keep_in_register(slot);
      Rank rank = 0;
      const std::uint32_t left = position < walked_positions_ ? readable_ - position : 0;
      const std::uint32_t limit = min(finding_.cap_bytes, left);
      // The last positions may have links of the block that continues this one.
      if (left >= hash_width_) {
        const RingWord own(sh_ring_, slot);
        if constexpr (kCandidates == Candidates::kNearest)
          rank = nearest(position, slot, own, links_[row], limit);
        else
          rank = best_of_chain(position, slot, own, links_[row], limit, first_link);
      }
      ranks_[row] = rank;
      sh_.found[kMostStitchReach + index] = rank;
      any_capped |= rank >= finding_.capped_rank;
    }
    return any_capped;
  }

  __device__ std::uint32_t agreeing(const RingWord& own, const RingWord& candidate, std::uint32_t position,
                                    std::uint32_t offset, std::uint32_t limit) const {
    return agreeing_bytes<kNear>(sh_ring_, own, candidate, base_ + first_x() + position, offset, limit);
  }

  __device__ Rank nearest(std::uint32_t position, std::uint32_t slot, const RingWord& own,
                          std::uint32_t offset, std::uint32_t limit) const {
    if (offset != 0 && offset <= finding_.window_bytes) {
      const std::uint32_t candidate_slot = slot_before(slot, offset, ring_positions_);
      const RingWord candidate(sh_ring_, candidate_slot);
      // With four-byte hashes, a stale link leads to different bytes and fails this test.
      if (candidate.word == own.word &&
          (hash_width_ == kHashedBytes || same_hash(own, slot, candidate, candidate_slot)))
        return rank_of(offset, agreeing(own, candidate, position, offset, limit));
    }
    return 0;
  }

  // Whether the positions at two slots have the same hash.
  __device__ bool same_hash(const RingWord& own, std::uint32_t slot, const RingWord& candidate,
                            std::uint32_t candidate_slot) const {
    std::uint32_t own_word = own.word, candidate_word = candidate.word;
    if (hash_width_ != kHashedBytes) {
      own_word = wide_word(own_word, RingWord(sh_ring_, slot + hash_width_ - 4).word);
      candidate_word = wide_word(candidate_word, RingWord(sh_ring_, candidate_slot + hash_width_ - 4).word);
    }
    return own_word == candidate_word ||
           hash_word(own_word, finding_.hash_bits) == hash_word(candidate_word, finding_.hash_bits);
  }

  // The ring, counted in links.
  __device__ const std::uint16_t* ring_halves() const {
    return reinterpret_cast<const std::uint16_t*>(sh_ring_);
  }

  // Of a candidate, only the four bytes are compared in which it must agree to be longer than the best so far.
  __device__ Rank best_of_chain(std::uint32_t position, std::uint32_t slot, const RingWord& own,
                                std::uint32_t link, std::uint32_t limit, std::uint32_t first_link) const {
    Rank rank = 0;
    std::uint32_t offset = 0, step = link, decisive = 0, decisive_word = own.word;
    for (std::uint32_t left = finding_.depth; left > 0; --left) {
      offset += step;
      if (step == 0 || offset > finding_.window_bytes) break;
      const std::uint32_t candidate_slot = slot_before(slot, offset, ring_positions_);
      if constexpr (!kExactLinks) {
        // A head older than 65535 positions is not a link at all (build_chains.cuh).
        if (!same_hash(own, slot, RingWord(sh_ring_, candidate_slot), candidate_slot)) break;
      }
      if (RingWord(sh_ring_, candidate_slot + decisive).word == decisive_word) {
        const RingWord candidate(sh_ring_, candidate_slot);
        if (candidate.word == own.word) {
          const std::uint32_t length = agreeing(own, candidate, position, offset, limit);
          rank = max(rank, rank_of(offset, length));
          if (length == limit) break;
          if (rank >> 16 <= kNear) {
            decisive = (rank >> 16) - 3;
            decisive_word = RingWord(sh_ring_, slot + decisive).word;
          }
        }
      }
      if constexpr (kRingLinks)
        step = ring_halves()[first_link + candidate_slot];
      else
        step = far_link(static_cast<std::int32_t>(position - offset));
    }
    return rank;
  }

  __device__ void extend(std::uint32_t tile) {
    if (thread_ == 0) trace_mark(kTraceExtendTile, tile);
    unsigned lasts[kPerThread];  // of the warp's rows: which positions are the last of a run
    end_runs(tile, lasts);
    take_run_ends(tile, lasts);
    __syncthreads();
  }

  // Finds the ends of the runs of capped matches whose last position is in the warp.
  __device__ void end_runs(std::uint32_t tile, unsigned (&lasts)[kPerThread]) {
    Known known;
    bool knows = false;
    unsigned runners = 0;  // lanes whose `known` is new
#pragma unroll
    for (std::uint32_t row = 0; row < kPerThread; ++row) {
      const std::uint32_t index = index_in_row(row);
      const Rank rank = ranks_[row];
      bool last = rank >= finding_.capped_rank;
      if (last && index + 1 < kTilePositions) {
        const Rank next = sh_.found[kMostStitchReach + index + 1];  // 0 behind the last position
        last = next < finding_.capped_rank || ((next ^ rank) & 0xFFFFu) != 0;
      }
      lasts[row] = __ballot_sync(~0u, last);
      if (lane_ == 0) sh_.run_lasts[warp_ * kPerThread + row] = lasts[row];
      // Most runs end where their bytes differ: each lane compares its next four.
      const bool goes_on = last && !ends_in_next_bytes(tile, index, rank);
      unsigned rest = __ballot_sync(~0u, goes_on);
      if (rest != 0 && !knows) known = sh_.known[lane_], knows = true;
      for (; rest != 0; rest &= rest - 1) {
        const std::uint32_t runner = __ffs(rest) - 1;
        end_run(tile, index, rank, runner, known);
        runners |= 1u << runner;
      }
    }
    __syncthreads();
    if (runners != 0) remember(known, runners);
  }

  // Whether the run whose last position is `index` ends within the four bytes after the cap; if so, stores the end.
  __device__ bool ends_in_next_bytes(std::uint32_t tile, std::uint32_t index, Rank rank) {
    if (finding_.cap_bytes > kNear) return false;
    const std::uint32_t slot = slot_in_tile(index);
    const std::uint32_t candidate_slot = slot_before(slot, rank_offset(rank), ring_positions_);
    const std::uint32_t difference = RingWord(sh_ring_, slot + finding_.cap_bytes).word ^
                                     RingWord(sh_ring_, candidate_slot + finding_.cap_bytes).word;
    if (difference == 0) return false;
    sh_.run_end[index] = min(tile + index + finding_.cap_bytes + (__ffs(difference) - 1) / 8, readable_);
    return true;
  }

  // By a whole warp: finds the end of the run whose last position is the runner's, from what lanes know or by comparing, and puts
  // it into the runner's `known`.
  __device__ void end_run(std::uint32_t tile, std::uint32_t index, Rank rank, std::uint32_t runner,
                          Known& known) {
    const std::uint32_t offset = rank_offset(__shfl_sync(~0u, rank, runner));
    const std::uint32_t run_last = tile + index - lane_ + runner;
    const std::uint32_t end_limit = min(readable_, run_last + kMaxRecordLength);
    std::uint32_t end = run_last + finding_.cap_bytes;
    // Ends that are not final are the smaller ones.
    const bool holds = known.offset == offset && known.begin <= run_last && run_last < known.end;
    const std::uint32_t best = largest_over_warp(holds ? known.end << 1 | known.ends_there : 0u);
    bool ends_there = false;
    if (best >> 1 >= end) end = best >> 1, ends_there = best & 1;
    if (!ends_there && end < end_limit) {
      end = extended_end(base_ + first_x(), end, end_limit, readable_, offset, lane_);
      ends_there = end < end_limit;
    }
    if (lane_ == runner) {
      sh_.run_end[index] = end;
      known = {offset, run_last, end, ends_there};
    }
  }

  // Each warp keeps two facts beyond the tile: the last one, and one that differs from warp to warp, so that all periods of a text
  // with few are remembered.
  __device__ void remember(const Known& known, unsigned runners) {
    const unsigned later = runners & (~0u << (warp_ * 7 % 32));
    const std::uint32_t chosen = __ffs(later != 0 ? later : runners) - 1;
    if (lane_ == chosen) sh_.known[warp_] = known;
    if (lane_ == 31 - __clz(runners)) sh_.known[kWarps + warp_] = known;
  }

  // Every capped match ends where the last one of its run does.
  __device__ void take_run_ends(std::uint32_t tile, const unsigned (&lasts)[kPerThread]) {
    const unsigned rows_with_lasts = __ballot_sync(~0u, lane_ < kRows && sh_.run_lasts[lane_ % kRows] != 0);
#pragma unroll
    for (std::uint32_t row = 0; row < kPerThread; ++row) {
      if (ranks_[row] < finding_.capped_rank) continue;
      const std::uint32_t index = index_in_row(row);
      const unsigned here_or_later = lasts[row] >> lane_;
      std::uint32_t last_index;
      if (here_or_later != 0) {
        last_index = index + __ffs(here_or_later) - 1;
      } else {
        const std::uint32_t this_row = warp_ * kPerThread + row;
        const std::uint32_t last_row = this_row + __ffs(rows_with_lasts >> this_row >> 1);
        last_index = last_row * 32 + __ffs(sh_.run_lasts[last_row]) - 1;
      }
      ranks_[row] =
          rank_of(rank_offset(ranks_[row]), min(sh_.run_end[last_index] - (tile + index), kMaxRecordLength));
      sh_.found[kMostStitchReach + index] = ranks_[row];
    }
  }

  __device__ void carry_backward(std::uint32_t tile) {
#pragma unroll
    for (std::uint32_t row = 0; row < kPerThread; ++row) {
      const std::uint32_t index = index_in_row(row);
      const Rank rank = ranks_[row], previous = __shfl_up_sync(~0u, rank, 1);
      const bool in_run = lane_ > 0 && previous != 0 && ((rank ^ previous) & 0xFFFFu) == 0;
      if (rank == 0 || in_run) continue;
      const std::uint32_t offset = rank_offset(rank);
      std::uint32_t slot = slot_in_tile(index), agreed = 0, difference;
      do {
        slot = slot_before(slot, 4, ring_positions_);
        difference = RingWord(sh_ring_, slot).word ^
                     RingWord(sh_ring_, slot_before(slot, offset, ring_positions_)).word;
        agreed += __clz(difference) / 8;
      } while (difference == 0 && agreed < finding_.stitch_reach);
      agreed =
          min(agreed, min(before_ + tile + index - offset, finding_.stitch_reach));  // none before the data
      Rank carried = rank;
      for (std::uint32_t found = kMostStitchReach + index, last = found - agreed; found != last;) {
        if (carried < 0xFFFF0000u) carried += 1u << 16;
        atomicMax(&sh_.found[--found], carried);
      }
    }
    __syncthreads();
  }

  // From here on, positions are a reach behind: `output` is huge for the first positions of a segment.
  __device__ void carry_forward(std::uint32_t tile) {
    Rank stitched[kPerThread];
    std::uint32_t keys[kPerThread];
#pragma unroll
    for (std::uint32_t row = 0; row < kPerThread; ++row) {
      const std::uint32_t index = index_in_row(row), output = tile + index - kMostStitchReach;
      stitched[row] = sh_.found[index];  // 0 for those, and behind the last position
      if (finding_.stitch) {
        if (output >= segment_positions_) stitched[row] = 0;
        keys[row] = (index + (stitched[row] >> 16)) << 11 | (index + 1);
        sh_.stitched_offset[index] = static_cast<std::uint16_t>(stitched[row]);
      }
    }
    if (finding_.stitch) scan_in_warp(keys);
    __syncthreads();
    std::uint32_t earlier = 0;
    if (finding_.stitch)
      earlier = max(largest_over_warp(lane_ < warp_ ? sh_.scan_totals[lane_ % kWarps] : 0u),
                    sh_.carry_end[parity_] << 11);
#pragma unroll
    for (std::uint32_t row = 0; row < kPerThread; ++row) {
      const std::uint32_t index = index_in_row(row), output = tile + index - kMostStitchReach;
      if (finding_.stitch) stitched[row] = winner(index, output, max(keys[row], earlier));
      if (index >= kTilePositions - kMostStitchReach)
        sh_.found[index - (kTilePositions - kMostStitchReach)] = sh_.found[kMostStitchReach + index];
      if (output < segment_positions_) records_[output] = rank_record(stitched[row]);
    }
  }

  // Keys become the largest so far in the warp.
  __device__ void scan_in_warp(std::uint32_t (&keys)[kPerThread]) {
#pragma unroll
    for (std::uint32_t row = 0; row < kPerThread; ++row) {
#pragma unroll
      for (unsigned distance = 1; distance < 32; distance *= 2) {
        const std::uint32_t other = __shfl_up_sync(~0u, keys[row], distance);
        if (lane_ >= distance) keys[row] = max(keys[row], other);
      }
      if (row > 0) keys[row] = max(keys[row], __shfl_sync(~0u, keys[row - 1], 31));
    }
    if (lane_ == 31) sh_.scan_totals[warp_] = keys[kPerThread - 1];
  }

  // The match of a position after the largest key so far is applied. The tile's last position determines what the next tile
  // inherits, the segment's last one what the next segment inherits.
  __device__ Rank winner(std::uint32_t index, std::uint32_t output, std::uint32_t key) {
    const std::uint32_t from = key & ((1u << 11) - 1), end = key >> 11;
    const std::uint32_t low = from == 0 ? sh_.carry_offset[parity_] : sh_.stitched_offset[from - 1];
    const Rank rank = end == index ? 0 : (end - index) << 16 | low;
    if (index == kTilePositions - 1) {
      sh_.carry_end[parity_ ^ 1] = end > kTilePositions ? end - kTilePositions : 0;
      sh_.carry_offset[parity_ ^ 1] = low;
    }
    if (output == segment_positions_ - 1)
      finding_.d_carries[blockIdx.x] = rank >> 16 > 1 ? rank_record(rank - (1u << 16)) : 0;
    return rank;
  }

  const TileFinding& finding_;
  TileState& sh_;
  const std::uint32_t thread_ = threadIdx.x, lane_ = thread_ % 32, warp_ = thread_ / 32;
  const std::uint32_t ring_positions_;
  std::uint32_t* const sh_ring_;
  std::uint16_t* const sh_links_;
  const std::uint32_t readable_;  // no comparison reads further than this, whatever the block's size
  const std::uint32_t segment_positions_, walked_positions_;
  MatchRecord* const records_;
  const std::uint32_t before_;  // bytes before the segment, where that matters
  const std::uint32_t hash_width_;
  // Coordinates x of the ring: 0 is the 16-byte boundary at or before the first byte to which a match can point.
  std::uint32_t misaligned_, base_end_;
  const std::byte* base_;
  std::int32_t first_block_position_;  // links from there on are the block's, those before its history's
  const std::uint16_t *block_links_, *history_links_;

  std::uint32_t tile_slot_;
  unsigned parity_ = 0;
  std::uint32_t links_[kPerThread];
  Rank ranks_[kPerThread];
};

template <Candidates kCandidates, bool kRingLinks = false, bool kExactLinks = false,
          std::uint32_t kNear = kNearBytes>
__global__ void __launch_bounds__(kTileThreads, thread_blocks(kRingLinks, kExactLinks))
    find_tiles(const TileFinding finding) {
  extern __shared__ uint4 sh_memory[];
  __shared__ TileState sh;
  const std::uint32_t block_index = blockIdx.x / finding.segments_per_block;
  const std::uint32_t segment_begin = blockIdx.x % finding.segments_per_block * kSegmentPositions;
  const DeviceBlock block = finding.batch.d_blocks[block_index];
  if (segment_begin >= block.block_bytes) return;
  SegmentFinder<kCandidates, kRingLinks, kExactLinks, kNear>(finding, block, block_index, segment_begin,
                                                             sh_memory, sh)
      .find();
}

// Applies what a segment carries into the next one: the record of its last position, shorter by one at each position, wherever it
// is longer than the position's own. These are the first positions, since the running maximum rises. One warp a segment.
static __global__ void __launch_bounds__(32) join_segments(const TileFinding finding) {
  const std::uint32_t segment = blockIdx.x % finding.segments_per_block;
  const DeviceBlock block = finding.batch.d_blocks[blockIdx.x / finding.segments_per_block];
  if (segment == 0 || std::uint64_t{segment} * kSegmentPositions >= block.block_bytes) return;
  const std::uint32_t segment_positions =
      min(block.block_bytes - segment * kSegmentPositions, kSegmentPositions);
  const MatchRecord carry = finding.d_carries[blockIdx.x - 1];
  MatchRecord* records = finding.d_records + block.position + segment * kSegmentPositions;
  for (std::uint32_t position = threadIdx.x; position - threadIdx.x < segment_positions; position += 32) {
    const bool longer = position < segment_positions && position < record_length(carry) &&
                        record_length(carry) - position > record_length(records[position]);
    if (longer) records[position] = pack_match(record_offset(carry), record_length(carry) - position);
    if (!__all_sync(~0u, longer)) return;
  }
}

constexpr KernelBudget kJoinBudget("stitch.join_segments", "join_segments", {.threads = 32, .registers = 24});

}  // namespace tiles

consteval KernelBudget find_tiles_budget(std::string_view name, std::string_view entry = "find_tiles",
                                         std::uint32_t registers = 64) {
  return {name,
          entry,
          {.threads = kTileThreads,
           .dynamic_shared_bytes = tiles::shared_bytes<kDeepNearBytes>(
               tiles::ring_positions<kDeepNearBytes>(kMaxRecordOffset), true),
           .registers = registers,
           .shared_bytes = 216 * 1024}};
}

// Positions of the ring for finding in `batch`.
template <std::uint32_t kNear = kNearBytes>
std::uint32_t ring_positions(const DeviceBlocks& batch, std::uint32_t window_bytes) {
  const std::uint64_t longest = std::uint64_t{batch.max_history_bytes} + batch.max_block_bytes;
  return tiles::ring_positions<kNear>(
      static_cast<std::uint32_t>(longest < window_bytes ? longest : window_bytes));
}

// Launches the kernels; `finding` lacks only the geometry. kRingLinks: links are in shared memory, else in device memory.
// kExactLinks: every link within the window is valid, else the walk checks it. kNear: how far comparisons stay in shared memory.
template <Candidates kCandidates, bool kRingLinks = false, bool kExactLinks = false,
          std::uint32_t kNear = kNearBytes>
void launch_find_tiles(TileFinding finding, const char* name, cudaStream_t stream) {
  finding.segments_per_block = segments_per_block(finding.batch);
  const std::uint32_t thread_blocks = finding.batch.block_count * finding.segments_per_block;
  if (thread_blocks == 0) return;
  finding.ring_positions = ring_positions<kNear>(finding.batch, finding.window_bytes);
  finding.capped_rank = finding.cap_bytes << 16;
  const std::uint32_t shared_bytes = tiles::shared_bytes<kNear>(finding.ring_positions, kRingLinks);
  check(cudaFuncSetAttribute(tiles::find_tiles<kCandidates, kRingLinks, kExactLinks, kNear>,
                             cudaFuncAttributeMaxDynamicSharedMemorySize, static_cast<int>(shared_bytes)),
        name);
  tiles::find_tiles<kCandidates, kRingLinks, kExactLinks, kNear>
      <<<thread_blocks, kTileThreads, shared_bytes, stream>>>(finding);
  check_launch(name);
  if (finding.stitch && finding.segments_per_block > 1) {
    tiles::join_segments<<<thread_blocks, 32, 0, stream>>>(finding);
    check_launch("stitch.join_segments");
  }
}

}  // namespace hemstitch::cuda
