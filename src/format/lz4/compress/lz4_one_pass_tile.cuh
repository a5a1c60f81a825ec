// Level 1 on blocks of any size without history: which matches are taken, by thread blocks that each have a *tile* of 64 KB.
//
// A tile's text is in shared memory, with as much before it as walks need to meet. Candidates before that are read from device
// memory, which neighbouring thread blocks have just read too. The instructions are the same, since the pointer tells which memory
// is meant.
//
// The warps each take a *segment*, a twelfth of a tile, through the rows (lz4_one_pass_rows.cuh). Only the walk and the running
// maximum pass from one segment to the next, and both soon no longer depend on where they began: so a warp begins 384 bytes before
// its segment. If it entered its segment in another state than the warp before left, it goes over the segment again from the true
// state. So the result is exact, and a tile takes at most as many turns as it has warps. Another kernel does the same from tile to
// tile (lz4_one_pass_tiles.cu).
//
// Matches go to lists in memory. Shared memory: the tile, and half a KB a warp. Synchronisation: within the warp; barriers of
// the thread block stand between the turns.
#pragma once

#include "format/lz4/compress/lz4_one_pass_rows.cuh"
#include "gpu/cuda/kernel_trace.hpp"
#include "match/common/cuda/device_block.hpp"
#include "match/common/cuda/device_text.cuh"
#include "match/common/hash_word.hpp"

namespace hemstitch::cuda {

inline constexpr std::uint32_t kTileBytes = 65536;
inline constexpr std::uint32_t kSegmentBytes = (kTileBytes / kTileWarps + 63) / 64 * 64;
// Bytes in shared memory before a tile, for the run-up and for comparisons, and after it, for rows that are read ahead.
inline constexpr std::uint32_t kTileLeadBytes = kRunUpBytes + 64;
inline constexpr std::uint32_t kTileAheadBytes = 160;
static_assert(kSegmentBytes % 64 == 0 && kRunUpBytes % 64 == 0 && kRunUpBytes <= kSegmentBytes);
static_assert(kTileBytes > kSegmentBytes * (kTileWarps - 1), "every warp has a part of a whole tile");

HEMSTITCH_HOST_DEVICE constexpr std::uint32_t tiles_of(std::uint32_t block_bytes) {
  return block_bytes == 0 ? 1 : (block_bytes - 1) / kTileBytes + 1;
}

// A match in the lists' form: 24 bits for its begin in the block, 24 for its end, and the code of its offset.
class TileMatch {
 public:
  static constexpr std::uint32_t kMostBlockBytes = 1u << 24;  // the last of them are literals

  TileMatch() = default;
  __device__ TileMatch(std::uint32_t begin, std::uint32_t end, std::uint32_t code)
      : words_{begin | code << 24, end | code >> 8 << 24} {}
  __device__ std::uint32_t begin() const { return words_.x & 0xFFFFFF; }
  __device__ std::uint32_t end() const { return words_.y & 0xFFFFFF; }
  __device__ std::uint32_t code() const { return words_.x >> 24 | words_.y >> 24 << 8; }

 private:
  uint2 words_;
};

// All that the first decision of a segment depends on, which the segment before leaves.
struct WalkState {
  std::uint32_t walk, carried_key, carried_code;
  __device__ bool operator==(const WalkState& other) const {
    return walk == other.walk && carried_key == other.carried_key && carried_code == other.carried_code;
  }
};

// What is known of a tile, in device memory.
struct Tile {
  struct Segment {
    WalkState left;
    std::uint32_t matches;      // in its list
    std::uint32_t matches_end;  // behind the last of them; 0 if there is none
    std::uint32_t bytes;        // of its sequences
    std::uint32_t at;           // where in the block's output they begin
  };
  WalkState entered;             // by its first segment
  std::uint32_t literals_begin;  // behind the last match of the tiles before
  std::uint32_t cut;             // whether a match may have been longer than a record can hold
  Segment segments[kTileWarps];
};

// The tiles of a batch and their lists.
struct Tiles {
  Tile* d_tiles;
  TileMatch* d_matches;

  // A list has room for a match every four bytes, for one that reaches into its segment, and for rounding.
  static constexpr std::uint32_t kListSlack = 8;

  HEMSTITCH_HOST_DEVICE static std::uint64_t most_tiles(std::uint64_t batch_bytes,
                                                        std::uint32_t block_count) {
    return batch_bytes / kTileBytes + block_count;
  }
  HEMSTITCH_HOST_DEVICE static std::uint64_t most_matches(std::uint64_t batch_bytes,
                                                          std::uint32_t block_count) {
    return batch_bytes / kLz4MinMatchBytes + most_tiles(batch_bytes, block_count) * kTileWarps * kListSlack;
  }

  // Blocks are in order and do not overlap, so no two tiles have the same place.
  __device__ static std::uint64_t first_of(const DeviceBlock& block, std::uint32_t block_index) {
    return block.position / kTileBytes + block_index;
  }
  __device__ Tile* of(const DeviceBlock& block, std::uint32_t block_index) const {
    return d_tiles + first_of(block, block_index);
  }
  __device__ TileMatch* list_of(const DeviceBlock& block, std::uint32_t block_index, std::uint32_t tile,
                                unsigned segment) const {
    const std::uint64_t begin = block.position + std::uint64_t{tile} * kTileBytes + segment * kSegmentBytes;
    const std::uint64_t number = (first_of(block, block_index) + tile) * kTileWarps + segment;
    return d_matches + begin / kLz4MinMatchBytes + number * kListSlack;
  }
};

// A tile's text. Positions count from the first byte in shared memory; before it they are negative, modulo 2^32. kAlone: the block
// has no other tile, so all of it is in shared memory, and candidates need no check.
template <bool kAlone>
class TileText {
  using Near = SharedText<kTileLeadBytes + kTileBytes + kTileAheadBytes>;

 public:
  static constexpr bool kPage = false;
  static constexpr std::uint32_t kStageBytes = 0;  // nothing is written from here
  // There are at most 31 when two rows of 32 positions begin.
  static constexpr unsigned kListed = 32 + 2 * 32 / kLz4MinMatchBytes;
  using Storage = typename Near::Storage;
  using Place = typename Near::Place;
  using Candidate = typename Near::Candidate;

  __device__ TileText(Storage& sh, const DeviceBlock* block, std::uint32_t tile)
      : TileText(sh, *block, tile * kTileBytes) {}

  // By all threads of the thread block; a barrier must follow.
  __device__ __forceinline__ void load(Storage& sh, unsigned thread) const {
    Near::load<kTileWarps * 32>(sh, first_byte(), loaded_bytes(), thread);
  }

  __device__ __forceinline__ std::uint32_t bytes() const { return bytes_; }  // to the block's end
  __device__ __forceinline__ std::uint32_t in_block(std::uint32_t position) const {
    return kAlone ? position : position + begin_;
  }

  __device__ __forceinline__ Place place(std::uint32_t position) const { return near_.place(position); }
  static __device__ __forceinline__ Around around(const Place& place, std::uint32_t row) {
    return Near::around(place, row);
  }

  // A word from anywhere in the block.
  __device__ std::uint32_t word(std::uint32_t position) const {
    if (kAlone) return near_.word(position);
    const std::uint32_t loaded = loaded_bytes();
    if (is_near(position) && (position + 8 <= loaded || loaded == bytes_)) return near_.word(position);
    const DeviceText block(DeviceBlock{first_byte() - begin_, begin_ + bytes_, 0, 0});
    return block.word(block.block() + in_block(position));
  }

  __device__ __forceinline__ Candidate candidate(std::uint32_t position) const {
    if (kAlone) return near_.candidate(position);
    const std::uint32_t* words = words_at(position);
    return {position, words[0], words[1]};
  }
  __device__ __forceinline__ std::uint32_t first_word(const Candidate& c) const {
    return near_.first_word(c);
  }
  __device__ __forceinline__ Around around(const Candidate& c) const {
    if (kAlone) return near_.around(c);
    const std::uint32_t* words = words_at(c.position);
    // Bytes before the block do not count; a word that is wholly before it is not read.
    const std::uint32_t before = words[in_block(c.position) > near_.at(c.position) % 4 ? -1 : 0];
    const std::uint32_t third = words[2], fourth = words[3], fifth = words[4];
    return near_.around(c, before, third, fourth, fifth);
  }

 private:
  __device__ TileText(Storage& sh, const DeviceBlock& block, std::uint32_t tile_begin)
      : near_(sh, block.d_block + lead_begin(tile_begin), 0),
        begin_(lead_begin(tile_begin)),
        bytes_(block.block_bytes - begin_) {
    far_words_ = near_.words_in(block.d_block + begin_);
  }
  static __device__ std::uint32_t lead_begin(std::uint32_t tile_begin) {
    return kAlone ? 0 : tile_begin - min(tile_begin, kTileLeadBytes);
  }

  // In device memory.
  __device__ __forceinline__ const std::byte* first_byte() const {
    return reinterpret_cast<const std::byte*>(far_words_) + near_.at(0);
  }
  __device__ __forceinline__ std::uint32_t loaded_bytes() const {
    return min(bytes_, kTileLeadBytes + kTileBytes + kTileAheadBytes);
  }
  // Whether the bytes from the fourth before a position on are in shared memory.
  __device__ __forceinline__ bool is_near(std::uint32_t position) const {
    return static_cast<int>(position) >= 4;
  }
  // The aligned word that holds a position, in one memory or the other.
  __device__ __forceinline__ const std::uint32_t* words_at(std::uint32_t position) const {
    const int at = static_cast<int>(near_.at(position)) >> 2;
    return (is_near(position) ? near_.words() : far_words_) + at;
  }

  Near near_;
  const std::uint32_t* far_words_;
  std::uint32_t begin_, bytes_;
};

// The shared memory that a thread block needs for a tile, alone or not.
struct TileShared {
  TileText<true>::Storage text;
  RowWriter<TileText<true>>::Shared rows[kTileWarps];
  WalkState left[kTileWarps], entered[kTileWarps];
  Tile* tile;  // here, since every register counts
};

// A tile by one thread block, a segment a warp.
template <bool kAlone>
class TilePass : RowPass<TileText<kAlone>> {
  using Text = TileText<kAlone>;
  using Rows = RowPass<Text>;
  using Rows::cut_, Rows::lane_, Rows::listed_, Rows::text_;
  using typename Rows::Probe, typename Rows::Found;
  // Added to a match's longest length: a remembered end comes from the same segment, or from the rows around it.
  static constexpr std::uint32_t kMostKnown = kSegmentBytes + kRunUpBytes + 128;

 public:
  // By all threads; a barrier follows. `links` has the distance from every position of the block to its nearest candidate, 0 for
  // none.
  __device__ TilePass(TileShared& sh, const DeviceBlock* block, std::uint32_t tile,
                      const std::uint16_t* links, TileMatch* list, unsigned warp, unsigned lane)
      : Rows(sh.rows[warp], Text(sh.text, block, tile), lane, kMostKnown),
        tile_sh_(sh),
        links_(links + text_.in_block(0)),
        warp_(warp),
        begin_(tile * kTileBytes - text_.in_block(0) + warp * kSegmentBytes),
        end_(min(begin_ + kSegmentBytes, tile * kTileBytes - text_.in_block(0) + kTileBytes)),
        d_list_(list) {
    text_.load(sh.text, warp * 32 + lane);
  }

  // Lists the matches of all segments. First all segments at once; then, in order, each one that began in another state than the
  // segment before it left, which is rare.
  __device__ void list_matches(Tile* tile) {
    if (warp_ == 0 && lane_ == 0) tile_sh_.tile = tile;
#pragma unroll 1
    for (unsigned turn = 0; turn < kTileWarps; ++turn) {
      __syncthreads();
      if (turn == 0 ? begin_ < text_.bytes() : enters_again(turn))
        list_segment(turn != 0);
      else if (turn == 0 && lane_ == 0)
        tile_sh_.tile->segments[warp_] = {};
    }
    __syncthreads();
    if (warp_ == 0 && lane_ == 0) {
      tile_sh_.tile->entered = tile_sh_.entered[0];
      tile_sh_.tile->literals_begin = 0;
    }
    leave_cut(0);
  }

  // The same for a tile that has been listed from another state than the one that the tile before left.
  __device__ void list_matches_again(Tile* tile, const WalkState& state) {
    if (lane_ == 0) {
      tile_sh_.left[warp_] = tile->segments[warp_].left;
      if (warp_ != 0) tile_sh_.entered[warp_] = tile->segments[warp_ - 1].left;
      if (warp_ == 0) tile_sh_.entered[0] = state;
      if (warp_ == 0) tile_sh_.tile = tile;
    }
#pragma unroll 1
    for (unsigned turn = 0; turn < kTileWarps; ++turn) {
      __syncthreads();
      if (turn == 0 ? warp_ == 0 : enters_again(turn)) list_segment(true);
    }
    if (warp_ == 0 && lane_ == 0) tile->entered = state;
    leave_cut(tile->cut);
  }

 private:
  // Whether the warp must list its segment again in this turn, from a new state.
  __device__ bool enters_again(unsigned turn) {
    if (turn != warp_ || begin_ >= text_.bytes()) return false;
    const WalkState state = tile_sh_.left[turn - 1];
    if (tile_sh_.entered[turn] == state) return false;
    __syncwarp();
    if (lane_ == 0) tile_sh_.entered[turn] = state;
    __syncwarp();
    return true;
  }

  __device__ void leave_cut(std::uint32_t cut_before) {
    const int cut = __syncthreads_or(cut_ ? 1 : 0);
    if (warp_ == 0 && lane_ == 0) tile_sh_.tile->cut = cut_before | static_cast<std::uint32_t>(cut);
  }

  // Lists the segment's matches, from its entry state, or from what the rows before it lead to.
  __device__ __forceinline__ void list_segment(bool from_state) {
    if (lane_ == 0) trace_mark(kTraceCompressSegment, text_.in_block(begin_));
    const std::uint32_t from = from_state || begin_ < kRunUpBytes ? begin_ : begin_ - kRunUpBytes;
    const std::uint32_t read_end = min(end_, text_.bytes()) + 32;
    Rows::known_end_ = 0;  // ends remembered from later positions do not hold here
    Rows::walk_ = 1;
    Rows::carried_key_ = Rows::carried_code_ = 0;
    Around around[2] = {Rows::around(from), Rows::around(from + 32)};
    std::uint32_t link = link_at(from + 32 + lane_);
    Probe probe[2];
    probe[0] = candidate_at(from + lane_, link_at(from + lane_));
    Found found[2] = {};
    listed_ = stored_ = 0;
    for (std::uint32_t begin = from; begin < read_end; begin += 64) {
#pragma unroll
      for (unsigned odd = 0; odd < 2; ++odd) {
        const std::uint32_t row = begin + odd * 32;
        found[odd] = Rows::compare(around[odd], probe[odd], row);
        probe[1 - odd] = candidate_at(row + 32 + lane_, link);
        link = link_at(row + 64 + lane_);
        around[odd] = Rows::around(row + 64);
        if (odd == 1 && begin == begin_) enter_segment(from_state);
        // The row after the segment is compared too, for the stitch, but belongs to the next segment.
        if (row != from && row < end_ + 32)
          Rows::walk(Rows::stitch(found[1 - odd], found[odd], row - 32), row - 32);
      }
      if (listed_ >= 32) {
        __syncwarp();
        store(32);
        stored_ += 32;
        Rows::drop_32();
      }
    }
    __syncwarp();
    std::uint32_t last_end = store(listed_);
    if (listed_ != 0)
      last_end = __shfl_sync(~0u, last_end, static_cast<int>(listed_) - 1);
    else if (stored_ != 0)
      last_end = d_list_[stored_ - 1].end();
    stored_ += listed_;
    __syncwarp();
    if (lane_ != 0) return;
    const WalkState left{Rows::walk_, Rows::carried_key_, Rows::carried_code_};
    tile_sh_.left[warp_] = left;
    tile_sh_.tile->segments[warp_] = {left, stored_, stored_ == 0 ? 0 : last_end, 0, 0};
  }

  // Stores the first `count` matches of the list in device memory, one a lane; returns where the lane's match ends.
  __device__ __forceinline__ std::uint32_t store(std::uint32_t count) {
    if (lane_ >= count) return 0;
    const uint2 entry = Rows::sh_.list[lane_];
    const std::uint32_t begin = text_.in_block(entry.x), end = begin + Rows::match_length(entry);
    d_list_[stored_ + lane_] = TileMatch(begin, end, entry.y & Rows::kMostOffset);
    return end;
  }

  // Sets the state before the segment's first decision.
  __device__ __forceinline__ void enter_segment(bool from_state) {
    if (from_state) {
      const WalkState state = tile_sh_.entered[warp_];
      Rows::walk_ = state.walk;
      Rows::carried_key_ = state.carried_key;
      Rows::carried_code_ = state.carried_code;
    } else if (lane_ == 0) {
      tile_sh_.entered[warp_] = {Rows::walk_, Rows::carried_key_, Rows::carried_code_};
    }
    listed_ = stored_ = 0;
    __syncwarp();  // the next entries are written over those of other lanes
  }

  __device__ __forceinline__ std::uint32_t link_at(std::uint32_t position) const {
    return position < text_.bytes() ? links_[position] : 0;
  }
  __device__ __forceinline__ Probe candidate_at(std::uint32_t position, std::uint32_t link) const {
    return Rows::probe(link != 0 && position + std::uint32_t{kHashedBytes} <= text_.bytes(), position - link);
  }

  TileShared& tile_sh_;
  const std::uint16_t* links_;
  unsigned warp_;
  std::uint32_t begin_, end_;  // the segment's
  TileMatch* d_list_;
  std::uint32_t stored_ = 0;
};

}  // namespace hemstitch::cuda
