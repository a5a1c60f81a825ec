// Level 1 from bytes to an LZ4 block of at most 64 KB without history, by one thread block, from left to right.
//
// hash_chain of depth 1, the stitch, lazy and the encoder look little ahead and carry little along, so a warp takes 32
// positions, a *row*, through all of them while the numbers are in registers. A lane owns one position of the row. The text
// is in shared memory; candidates stand in memory, links that hash_chain.cu has built.
//
//   compare    The candidate, up to the cap of 16 bytes: four words. And how many of the four bytes before agree as well,
//              which is what a neighbour to the left may borrow.
//   extend     Where a match reached the cap, the warp compares on, 128 bytes a step, for the first such lane; every other
//              lane with that offset, in this row and later ones, ends where it ends. 32 such ends are remembered, one a
//              lane.
//   stitch     One row behind, since position p looks at p+1..p+4: four shuffles. Then the running maximum of the ends.
//   lazy       One position behind again, since p looks at p+1: the lane decides for the position to its left.
//   walk       From match to match over one word of decisions; where each match leads the lanes say beforehand.
//   write      lz4_one_pass.cuh.
//
// The warps each find the sequences of a segment, a tenth of 64 KB. Only the walk and what the running maximum carries pass
// from one segment to the next, and both soon forget where they began: a warp begins 512 bytes before its segment. Where the
// state that it enters its segment with is not the one that the warp before left, it goes over the segment again, from the
// true state: the result is exact, and a block takes at most as many turns as it has warps. Sequences go to lists in memory,
// and are written when the sizes of all segments are known.
//
// What binds is instructions. Bounds of work: a row has at most 32 extensions, each of a stretch that nothing is remembered
// of. Shared memory: the block, and 1 KB a warp. Synchronisation: within the warp; barriers of the thread block stand between
// the turns. CPU twins: hash_chain_reference.cpp, stitch_reference.cpp, lazy_reference.cpp, lz4_encode_reference.cpp.
#pragma once

#include "format/lz4/compress/lz4_one_pass.cuh"
#include "gpu/cuda/kernel_trace.hpp"
#include "match/common/hash_word.hpp"

namespace hemstitch::cuda {

// Comparisons are of four words.
inline constexpr std::uint32_t kOnePassCapBytes = 16;

// What rows go through once their candidates are known.
//
// Packings.
//   match   length, code: of two the better is the larger; 0 for none
//   key     of the forward maximum: end, counted from the row's begin, then lane + 1, with 0 in place of lane + 1 for what
//           earlier rows carry in: on equal ends the later position wins, which is the position's own. A position without a
//           match has one that ends where it stands, which is no worse than none
class RowPass : protected RowWriter<SharedText<kOnePassBlockBytes>> {
 protected:
  using Text = SharedText<kOnePassBlockBytes>;
  static constexpr unsigned kEndShift = 6;  // in a key
  static constexpr std::uint32_t kKeyLanes = 63;
  static constexpr unsigned kReach = 4;

  __device__ RowPass(Shared& sh, const Text& text, unsigned lane)
      : RowWriter(sh, text, lane), place_(text.place(lane)) {
#pragma unroll
    for (unsigned k = 1; k <= kReach; ++k) first_lanes_[k - 1] = lane < k ? ~0u : 0;
  }

  struct Probe {
    bool present;
    Text::Candidate candidate;
  };
  struct Found {
    std::uint32_t match;
    std::uint32_t
        carried[kReach];  // the match begun 1, 2, .. bytes earlier; 0 where those bytes do not agree
  };

  // The candidate of a lane's position, asked for.
  __device__ __forceinline__ Probe probe(bool present, std::uint32_t candidate) const {
    Probe probe{};
    probe.present = present;
    if (present) probe.candidate = text_.candidate(candidate);
    return probe;
  }

  // The row's matches, extended, and how far they agree backwards.
  __device__ __forceinline__ Found compare(const Around& own, const Probe& probe, std::uint32_t row) {
    const std::uint32_t position = row + lane_;
    std::uint32_t match = 0, differs_before = ~0u;
    if (probe.present && text_.first_word(probe.candidate) == own.words[0]) {
      const Around other = text_.around(probe.candidate);
      std::uint32_t length = 12, difference = own.words[3] ^ other.words[3];
      if (own.words[2] != other.words[2]) length = 8, difference = own.words[2] ^ other.words[2];
      if (own.words[1] != other.words[1]) length = 4, difference = own.words[1] ^ other.words[1];
      length = min(length + agreeing_low_bytes(difference), text_.bytes() - position);
      const std::uint32_t offset = position - probe.candidate.position;
      match = length << kCodeBits | (kMostOffset - offset);
      // What stands before the block does not agree.
      differs_before = (own.before ^ other.before) | high_bit_of_byte(probe.candidate.position);
    }
    const bool capped = match >= kOnePassCapBytes << kCodeBits;
    const unsigned open = __ballot_sync(~0u, capped);
    if (open != 0) match = extend(match, open, position);

    Found found;
    found.match = match;
#pragma unroll
    for (unsigned k = 1; k <= kReach; ++k)
      found.carried[k - 1] = differs_before <= 0xFFFFFFFFu >> (8 * k - 1) >> 1 ? match + (k << kCodeBits) : 0;
    return found;
  }

  // Replaces every length that reached the cap, in the lanes of `open`, by the true one.
  __device__ std::uint32_t extend(std::uint32_t match, unsigned open, std::uint32_t position) {
    const std::uint32_t code = match & kMostOffset;
    do {
      const std::uint32_t leader = lowest_bit(open);
      const std::uint32_t leader_code = __shfl_sync(~0u, code, leader);
      const std::uint32_t leader_position = position - lane_ + leader;
      // What is known holds from some position before this one on.
      const unsigned knows = __ballot_sync(~0u, known_code_ == leader_code && leader_position < known_end_);
      std::uint32_t end;
      if (knows != 0) {
        end = __shfl_sync(~0u, known_end_, lowest_bit(knows));
      } else {
        end = agreement_end(leader_position + kOnePassCapBytes, kMostOffset - leader_code);
        if (lane_ == facts_ % 32) known_code_ = leader_code, known_end_ = end;
        ++facts_;
      }
      const bool ends_there = (open >> lane_ & 1) != 0 && code == leader_code && position < end;
      if (ends_there) match = (end - position) << kCodeBits | code;
      open &= ~__ballot_sync(~0u, ends_there);
    } while (open != 0);
    return match;
  }

  // A lane's part of the decisions about a row's positions from the one before it on. The lane speaks for the position to its
  // left.
  struct Decisions {
    unsigned decided;    // in every lane: the positions whose match is taken, if the walk comes to them
    std::uint32_t left;  // the key of the position
    std::uint32_t code;  // its match's
  };

  // The stitch for the row that begins at `row`, where `found` is, and the decisions.
  __device__ __forceinline__ Decisions stitch(const Found& found, const Found& next, std::uint32_t row) {
    // Lanes count modulo 32: the first of the next row stand behind the last.
    std::uint32_t carried[kReach];
#pragma unroll
    for (unsigned k = 1; k <= kReach; ++k) {
      const std::uint32_t from_next = first_lanes_[k - 1];
      carried[k - 1] = __shfl_sync(
          ~0u, (next.carried[k - 1] & from_next) | (found.carried[k - 1] & ~from_next), lane_ + k);
    }
    const std::uint32_t rank =
        __vimax3_u32(__vimax3_u32(found.match, carried[0], carried[1]), carried[2], carried[3]);

    const std::uint32_t bytes_left = text_.bytes() - row;
    // Of a key of an earlier row, that of the position before this row.
    std::uint32_t key, code = 0, carried_left = carried_key_, carried_left_code = carried_code_;
    std::uint32_t last_end;  // from the row on
    key = max(forward_maximum((rank >> kCodeBits << kEndShift) + (lane_ << kEndShift) + lane_ + 1),
              carried_key_);
    const std::uint32_t winner = key & kKeyLanes;
    code = __shfl_sync(~0u, rank & kMostOffset, winner - 1);
    if (winner == 0) code = carried_code_;
    const std::uint32_t last_key = __shfl_sync(~0u, key, 31) & ~kKeyLanes;
    last_end = last_key >> kEndShift;
    carried_key_ = max(last_key, 32u << kEndShift) - (32u << kEndShift);
    carried_code_ = __shfl_sync(~0u, code, 31);

    // From here on the lane speaks for the position to its left: its match is taken where it is long enough, and the lane's
    // own is no longer.
    const std::uint32_t turned = __shfl_sync(~0u, key, lane_ + 31);
    std::uint32_t left = lane_ == 0 ? carried_left : turned;
    if (static_cast<int>(last_end) > static_cast<int>(bytes_left) - 8) {
      left = within_limits(left, lane_ - 1, bytes_left);
      key = within_limits(key, lane_, bytes_left);
    }
    const unsigned decided =
        __ballot_sync(~0u, left >= (lane_ - 1 + kLz4MinMatchBytes) << kEndShift &&
                               static_cast<int>(key - (left & ~((1u << kEndShift) - 1))) <
                                   static_cast<int>(2u << kEndShift));
    code = __shfl_sync(~0u, code, lane_ + 31);
    if (lane_ == 0) code = carried_left_code;
    return {decided, left, code};
  }

  // From match to match over the decisions about the row that begins at `row`.
  __device__ __forceinline__ void walk(const Decisions& decisions, std::uint32_t row) {
    // Where the walk stands, counted from the row's first decision, is `walk_`; where it goes from the lane's match, and the
    // match that it comes to there, each lane says beforehand.
    const std::uint32_t goes_to = (decisions.left >> kEndShift) + 1;
    const std::uint32_t comes_to = lowest_bit(decisions.decided & bits_from(goes_to));
    unsigned taken = 0;
    std::uint32_t match = lowest_bit(decisions.decided & bits_from(walk_)), last = 0;
    for (; match < 32; match = __shfl_sync(~0u, comes_to, match)) {
      taken |= 1u << match;
      last = match;
    }
    if (taken != 0) walk_ = __shfl_sync(~0u, goes_to, last);
    walk_ = max(walk_, 32u) - 32;
    if ((taken >> lane_ & 1) != 0) {
      const std::uint32_t entry = ((decisions.left >> kEndShift) + 1 - lane_) << kCodeBits | decisions.code;
      sh_.list[listed_ + bit_count(taken & lanes_below_)] = {row + lane_ - 1, entry};
    }
    listed_ += bit_count(taken);
  }

  // A key, of the position `from_row` from the row on, after LZ4's limits: the last 5 bytes are literals, the last match
  // starts 12 before the end. They are of no account where no match of the row ends in the last 7 bytes.
  static __device__ std::uint32_t within_limits(std::uint32_t key, std::uint32_t from_row,
                                                std::uint32_t bytes_left) {
    if (static_cast<int>(from_row) > static_cast<int>(bytes_left) - 12) return 0;
    const std::uint32_t most_end = (bytes_left - 5) << kEndShift;
    return min(key & ~((1u << kEndShift) - 1), most_end) | (key & ((1u << kEndShift) - 1));
  }

  // The bytes around the lane's position of a row.
  __device__ __forceinline__ Around around(std::uint32_t row) const { return Text::around(place_, row); }

  Text::Place place_;
  std::uint32_t first_lanes_[kReach];  // all bits in the first 1, 2, .. lanes

  std::uint32_t known_code_ = 0, known_end_ = 0,
                facts_ = 0;                           // a fact a lane: an offset, and where it ends to agree
  std::uint32_t carried_key_ = 0, carried_code_ = 0;  // what the next row inherits
  std::uint32_t walk_ = 1;                            // a row's first decision is for the position before it
};

// What a thread block needs of shared memory for a block.
struct BlockShared {
  // What a segment's first decision depends on, and so what the segment before has to leave.
  struct State {
    std::uint32_t walk, carried_key, carried_code;
    __device__ bool operator==(const State& other) const {
      return walk == other.walk && carried_key == other.carried_key && carried_code == other.carried_code;
    }
  };
  SharedText<kOnePassBlockBytes>::Storage text;
  RowWriter<SharedText<kOnePassBlockBytes>>::Shared rows[kBlockWarps];
  State left[kBlockWarps], entered[kBlockWarps];
  std::uint32_t literals_begin[kBlockWarps];  // behind a segment's last match; 0 if it has none
  std::uint32_t bytes[kBlockWarps];
};

// Sequences of a segment: one for 4 positions, what is left in the list when it is stored, and one that begins before it.
inline constexpr std::uint32_t kBlockSegmentBytes = (kOnePassBlockBytes / kBlockWarps + 63) / 64 * 64;
inline constexpr std::uint32_t kSegmentSequences = kBlockSegmentBytes / kLz4MinMatchBytes + 64;
static_assert(kBlockSegmentBytes % 64 == 0 && kBlockRunUpBytes % 64 == 0 &&
              kBlockRunUpBytes <= kBlockSegmentBytes);

// A block by one thread block, a segment a warp.
class BlockPass : RowPass {
  using Rows = RowPass;

 public:
  static constexpr std::uint32_t kDoesNotFit = ~0u;

  // By all threads; behind it stands a barrier. `links` has the distance to the nearest candidate of every position, 0 for
  // none. `d_lists` has room for kSegmentSequences entries a warp.
  __device__ BlockPass(BlockShared& sh, const std::byte* block, std::uint32_t block_bytes,
                       const std::uint16_t* links, uint2* d_lists, unsigned warp, unsigned lane)
      : Rows(sh.rows[warp], Text(sh.text, block, block_bytes), lane),
        block_sh_(sh),
        links_(links),
        warp_(warp),
        begin_(warp * kBlockSegmentBytes),
        d_list_(d_lists + warp * kSegmentSequences) {
    hashed_end_ = block_bytes < kHashedBytes ? 0 : block_bytes - static_cast<std::uint32_t>(kHashedBytes) + 1;
    Text::load<kBlockWarps * 32>(sh.text, block, block_bytes, warp * 32 + lane);
  }

  // The bytes written, or kDoesNotFit. At most `capacity` bytes are written to `output`.
  __device__ std::uint32_t compress(std::byte* output, std::uint64_t capacity) {
    __syncthreads();
    // First all segments at once. Then, in order, each that began to walk from another state than the one before it left:
    // few do.
    for (unsigned turns = kBlockWarps; turns != 0; --turns) {
      const unsigned turn = kBlockWarps - turns;
      const bool has_part = begin_ < text_.bytes();
      if (turn == 0 ? has_part
                    : turn == warp_ && has_part && !(block_sh_.entered[turn] == block_sh_.left[turn - 1]))
        find_sequences(turn != 0);
      else if (turn == 0 && lane_ == 0)
        block_sh_.literals_begin[warp_] = 0;
      __syncthreads();
    }

    // Sizes; where a segment's first literals begin is known only now.
    std::uint32_t literals_begin = 0;
    for (unsigned warp = 0; warp < warp_; ++warp)
      literals_begin = max(literals_begin, block_sh_.literals_begin[warp]);
    const bool last_warp = warp_ == kBlockWarps - 1;
    Rows::literals_begin_ = literals_begin;
    std::uint32_t bytes = 0;
    for (std::uint32_t first = 0; first < stored_ + (last_warp ? 1 : 0); first += 32)
      bytes += group_at(first, last_warp).bytes;
    if (lane_ == 0) block_sh_.bytes[warp_] = bytes;
    __syncthreads();
    std::uint64_t total = 0, at = 0;
    for (unsigned warp = 0; warp < kBlockWarps; ++warp) {
      if (warp < warp_) at += block_sh_.bytes[warp];
      total += block_sh_.bytes[warp];
    }
    if (total > capacity) return kDoesNotFit;

    if (lane_ == 0) trace_mark(kTraceWriteSegment, begin_);
    Rows::literals_begin_ = literals_begin;
    for (std::uint32_t first = 0; first < stored_ + (last_warp ? 1 : 0); first += 32) {
      const Rows::Group group = group_at(first, last_warp);
      Rows::write(group, output + at);
      at += group.bytes;
    }
    return static_cast<std::uint32_t>(total);
  }

 private:
  // The segment's sequences, from the state that the segment before it left, or from what some rows before it lead to.
  __device__ __forceinline__ void find_sequences(bool from_state) {
    if (lane_ == 0) trace_mark(kTraceCompressSegment, begin_);
    const std::uint32_t from = from_state || begin_ < kBlockRunUpBytes ? begin_ : begin_ - kBlockRunUpBytes;
    const std::uint32_t end = begin_ + kBlockSegmentBytes;
    const std::uint32_t read_end = min(end, text_.bytes()) + 32;
    Rows::known_end_ = 0;  // what is known of later positions says nothing of these
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
        // The row behind the segment is compared, for the stitch, and is the next segment's.
        if (row != from && row < end + 32)
          Rows::walk(Rows::stitch(found[1 - odd], found[odd], row - 32), row - 32);
      }
      if (listed_ >= 32) {
        __syncwarp();
        d_list_[stored_ + lane_] = Rows::sh_.list[lane_];
        stored_ += 32;
        Rows::drop_32();
      }
    }
    __syncwarp();
    if (lane_ < listed_) d_list_[stored_ + lane_] = Rows::sh_.list[lane_];
    stored_ += listed_;
    __syncwarp();
    if (lane_ != 0) return;
    block_sh_.left[warp_] = {Rows::walk_, Rows::carried_key_, Rows::carried_code_};
    std::uint32_t literals_begin = 0;
    if (stored_ != 0) {
      const uint2 last = d_list_[stored_ - 1];
      literals_begin = last.x + Rows::match_length(last);
    }
    block_sh_.literals_begin[warp_] = literals_begin;
  }

  // Before the segment's first decision.
  __device__ __forceinline__ void enter_segment(bool from_state) {
    if (from_state) {
      const BlockShared::State state = block_sh_.left[warp_ - 1];
      Rows::walk_ = state.walk;
      Rows::carried_key_ = state.carried_key;
      Rows::carried_code_ = state.carried_code;
    } else if (lane_ == 0) {
      block_sh_.entered[warp_] = {Rows::walk_, Rows::carried_key_, Rows::carried_code_};
    }
    listed_ = stored_ = 0;
    __syncwarp();  // other lanes' entries stand where the next ones are written
  }

  __device__ __forceinline__ std::uint32_t link_at(std::uint32_t position) const {
    return position < text_.bytes() ? links_[position] : 0;
  }
  __device__ __forceinline__ Probe candidate_at(std::uint32_t position, std::uint32_t link) const {
    return Rows::probe(link != 0 && position < hashed_end_, position - link);
  }

  // 32 of the stored sequences, from `first` on.
  __device__ __forceinline__ Rows::Group group_at(std::uint32_t first, bool last_warp) {
    const std::uint32_t matches = min(stored_ - first, 32u);
    uint2 entry{};
    if (lane_ < matches) entry = d_list_[first + lane_];
    return Rows::place(entry, matches, last_warp && matches < 32);
  }

  BlockShared& block_sh_;
  const std::uint16_t* links_;
  unsigned warp_;
  std::uint32_t begin_;  // the segment's
  uint2* d_list_;
  std::uint32_t stored_ = 0;
  std::uint32_t hashed_end_;  // behind the last position that has a hash
};

}  // namespace hemstitch::cuda
