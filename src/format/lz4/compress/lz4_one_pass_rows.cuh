// Rows of 32 positions from candidates to the matches that are taken, by one warp, from left to right. The tiles of level 1
// (lz4_one_pass_tile.cuh) consist of them.
//
// hash_chain of depth 1, the stitch and lazy look little ahead and carry little along, so a warp takes 32 positions, a
// *row*, through all of them while the numbers are in registers. A lane owns one position of the row. The text is in shared
// memory; candidates are links in device memory, which match/stitch/build_chains.cuh has built.
//
//   compare    The candidate is compared up to the cap of 16 bytes, in four words, and also with the four bytes before:
//              matches may begin as much earlier.
//   extend     Where a match has reached the cap, the warp compares on, 128 bytes a step, for the first such lane. Every
//              other match of that offset, in this row and later ones, ends at the same place. 32 such ends are remembered, one a
//              lane.
//   stitch     One row behind, since position p looks at p+1..p+4: four shuffles. Then the running maximum of the ends.
//   lazy       One position behind again, since p looks at p+1: the lane decides for the position to its left.
//   walk       From match to match over one word of decisions; lanes compute beforehand where each match leads.
//
// Instructions limit the speed. Bounds of work: a row has at most 32 extensions, each of a stretch of which nothing is remembered,
// and of no more bytes than a record can hold and a segment has. CPU twins: hash_chain_reference.cpp, stitch_reference.cpp,
// lazy_reference.cpp.
#pragma once

#include "format/lz4/compress/lz4_one_pass.cuh"

namespace hemstitch::cuda {

// Comparisons are of four words.
inline constexpr std::uint32_t kOnePassCapBytes = 16;

// The steps of rows whose candidates are known.
//
// Packings.
//   match   length, code: of two the better is the larger; 0 for none
//   key     of the forward maximum: end, counted from the row's begin, then lane + 1, with 0 in place of lane + 1 for
//           matches of earlier rows: on equal ends the later position wins, which is the position's own match. A position without a
//           match gets one that ends at the position itself, which is no worse than none
//
// Positions, and the ends of matches, count from where `Text` begins.
template <class Text>
class RowPass : protected RowWriter<Text> {
 protected:
  using Writer = RowWriter<Text>;
  using Writer::kCodeBits, Writer::kMostOffset, Writer::forward_maximum;
  using Writer::lane_, Writer::lanes_below_, Writer::listed_, Writer::sh_, Writer::text_;

  static constexpr unsigned kEndShift = 6;  // in a key
  static constexpr std::uint32_t kKeyLanes = 63;
  static constexpr unsigned kReach = 4;

  // A remembered end may serve positions up to `most_known` after the match that found it: comparisons go as far beyond
  // that match's longest length.
  __device__ RowPass(typename Writer::Shared& sh, const Text& text, unsigned lane, std::uint32_t most_known)
      : Writer(sh, text, lane), place_(text.place(lane)), most_known_(most_known) {
#pragma unroll
    for (unsigned k = 1; k <= kReach; ++k) first_lanes_[k - 1] = lane < k ? ~0u : 0;
  }

  struct Probe {
    bool present;
    typename Text::Candidate candidate;
  };
  struct Found {
    std::uint32_t match;
    std::uint32_t
        carried[kReach];  // the match begun 1, 2, .. bytes earlier; 0 where those bytes do not agree
  };

  // Loads the candidate of a lane's position.
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
      // Bytes before the block count as different.
      differs_before =
          (own.before ^ other.before) | high_bit_of_byte(text_.in_block(probe.candidate.position));
    }
    const bool capped = match >= kOnePassCapBytes << kCodeBits;
    const unsigned open = __ballot_sync(~0u, capped);
    bool longest = false;
    if (open != 0) {
      match = extend(match, open, position);
      longest = __any_sync(~0u, match >= (kMaxRecordLength - kReach) << kCodeBits) != 0;
    }

    Found found;
    found.match = match;
#pragma unroll
    for (unsigned k = 1; k <= kReach; ++k)
      found.carried[k - 1] = differs_before <= 0xFFFFFFFFu >> (8 * k - 1) >> 1 ? match + (k << kCodeBits) : 0;
    if (longest) {
      cut_ = true;
#pragma unroll
      for (unsigned k = 1; k <= kReach; ++k)
        if (found.carried[k - 1] != 0 && found.carried[k - 1] < match)  // its length has passed 16 bits
          found.carried[k - 1] = kMaxRecordLength << kCodeBits | (match & kMostOffset);
    }
    return found;
  }

  // Replaces every length that reached the cap, in the lanes of `open`, by the true one.
  __device__ std::uint32_t extend(std::uint32_t match, unsigned open, std::uint32_t position) {
    const std::uint32_t code = match & kMostOffset;
    do {
      const std::uint32_t leader = lowest_bit(open);
      const std::uint32_t leader_code = __shfl_sync(~0u, code, leader);
      const std::uint32_t leader_position = position - lane_ + leader;
      // A remembered end holds from some position before this one on.
      const unsigned knows = __ballot_sync(~0u, known_code_ == leader_code && leader_position < known_end_);
      std::uint32_t end;
      if (knows != 0) {
        end = __shfl_sync(~0u, known_end_, lowest_bit(knows));
      } else {
        end = Writer::agreement_end(leader_position + kOnePassCapBytes, kMostOffset - leader_code,
                                    min(text_.bytes(), leader_position + kMaxRecordLength + most_known_));
        if (lane_ == facts_ % 32) known_code_ = leader_code, known_end_ = end;
        ++facts_;
      }
      const bool ends_there = (open >> lane_ & 1) != 0 && code == leader_code && position < end;
      if (ends_there) match = min(end - position, kMaxRecordLength) << kCodeBits | code;
      open &= ~__ballot_sync(~0u, ends_there);
    } while (open != 0);
    return match;
  }

  // A lane's part of the decisions about a row's positions, beginning with the one before the row. The lane decides for the
  // position to its left.
  struct Decisions {
    unsigned decided;    // in every lane: the positions whose match is taken, if the walk comes to them
    std::uint32_t left;  // the key of the position
    std::uint32_t code;  // its match's
  };

  // Stitches the row that begins at `row`, whose matches are `found`, and makes the decisions.
  __device__ __forceinline__ Decisions stitch(const Found& found, const Found& next, std::uint32_t row) {
    // Lanes count modulo 32: the first ones of the next row follow the last one.
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
    // The carried key, which is of an earlier row, becomes that of the position before this row.
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

    // From here on the lane decides for the position to its left: its match is taken if it is long enough and the lane's own is not
    // longer.
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
    // `walk_` is the walk's place, counted from the row's first decision. Each lane computes beforehand where the walk goes from
    // its match, and to which match it comes there.
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

  // The key of the position `from_row` after the row's begin, after LZ4's limits: the last 5 bytes are literals, the last match
  // starts 12 before the end. The limits do not matter if no match of the row ends in the last 7 bytes.
  static __device__ std::uint32_t within_limits(std::uint32_t key, std::uint32_t from_row,
                                                std::uint32_t bytes_left) {
    if (static_cast<int>(from_row) > static_cast<int>(bytes_left) - 12) return 0;
    const std::uint32_t most_end = (bytes_left - 5) << kEndShift;
    return min(key & ~((1u << kEndShift) - 1), most_end) | (key & ((1u << kEndShift) - 1));
  }

  // The bytes around the lane's position of a row.
  __device__ __forceinline__ Around around(std::uint32_t row) const { return Text::around(place_, row); }

  typename Text::Place place_;
  std::uint32_t most_known_;
  std::uint32_t first_lanes_[kReach];  // all bits in the first 1, 2, .. lanes

  std::uint32_t known_code_ = 0, known_end_ = 0,
                facts_ = 0;                           // a fact a lane: an offset, and where matches of it end
  std::uint32_t carried_key_ = 0, carried_code_ = 0;  // what the next row inherits
  std::uint32_t walk_ = 1;                            // a row's first decision is for the position before it
  bool cut_ = false;  // there was a match that is longer than a record can hold, or nearly so
};

}  // namespace hemstitch::cuda
