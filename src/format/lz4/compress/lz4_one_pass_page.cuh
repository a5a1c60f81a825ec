// Level 1 from bytes to an LZ4 block for a page, by one warp, from left to right.
//
// hash_pairs, lazy and the encoder look little ahead and carry little along, so a warp takes 64 positions, a *row*, through
// all of them while the numbers are in registers. A lane owns two positions of the row, a *pair*, and at most one match.
// The page is in shared memory.
//
//   look up    The four bytes at each position of the pair are hashed. The odd position looks into the table as the rows
//              before have left it; then the even positions enter (match/common/cuda/enter_row.cuh), and each sees the newest one
//              before it. That gives two candidates; the first word decides between them.
//   compare    The candidate is compared up to 16 bytes, in four words, and also with the four bytes before.
//   extend     Where a match has 16 bytes and is not covered, the warp compares on, 128 bytes a step, for the first such
//              lane. Matches that this one covers are left out, so a row has at most four extensions, and each goes on after the
//              one before.
//   carry      One row behind, since a match may begin two pairs before its own: two shuffles. Then the running maximum of
//              ends.
//   lazy       One position behind again, since p looks at p+1: the lane decides for the position to the left of its pair and
//              for the pair's first.
//   walk       From match to match over one word of 64 decisions; lanes compute beforehand where each match leads.
//   write      lz4_one_pass.cuh.
//
// Instructions limit the speed. Bounds of work: a row has at most four extensions, and all of them together compare each byte of
// the page once. Shared memory: 4 KB for the table, the page, and 1.3 KB for its output. Synchronisation: within the warp. CPU
// twins: hash_pairs_reference.cpp, lazy_reference.cpp, lz4_encode_reference.cpp.
#pragma once

#include "format/lz4/compress/lz4_one_pass.cuh"
#include "match/common/cuda/enter_row.cuh"
#include "match/common/hash_word.hpp"
#include "match/hash_pairs/hash_pairs.hpp"

namespace hemstitch::cuda {

// The shared memory that a warp needs for a page.
template <unsigned kHashBits>
struct PageShared {
  RowWriter<SharedText<kPageBytes>>::Shared rows;
  std::uint16_t newest[1u << kHashBits];  // the newest pair of each hash
  SharedText<kPageBytes>::Storage text;
};

// Packings.
//   key     end, code: of two matches that both begin early enough the better is the larger; 0 for none
//   found   a pair's match: how many positions before the pair's first it reaches, plus one, and its key. 0 for none; 0 in
//           the upper part for one that begins at the pair's second position
template <unsigned kHashBits>
class PagePass : RowWriter<SharedText<kPageBytes>> {
  using Text = SharedText<kPageBytes>;
  using Writer = RowWriter<Text>;
  using Writer::kCodeBits, Writer::kMostOffset;
  using Writer::lane_, Writer::lanes_below_, Writer::listed_, Writer::text_;

 public:
  using Shared = PageShared<kHashBits>;
  static constexpr std::uint32_t kDoesNotFit = ~0u;

  // By all lanes of the warp.
  __device__ PagePass(Shared& sh, const std::byte* page, std::uint32_t page_bytes, unsigned lane)
      : Writer(sh.rows, Text(sh.text, page, page_bytes), lane),
        newest_(sh.newest),
        place_(text_.place(2 * lane)),
        first_lane_(lane < 1 ? ~0u : 0),
        first_two_lanes_(lane < 2 ? ~0u : 0) {
    Text::load<32>(sh.text, page, page_bytes, lane);
    auto* table = reinterpret_cast<uint4*>(sh.newest);
#pragma unroll
    for (std::uint32_t i = 0; i < sizeof(sh.newest) / 16 / 32; ++i) table[i * 32 + lane] = {0, 0, 0, 0};
    __syncwarp();
  }

  // The bytes written, or kDoesNotFit. At most `capacity` bytes are written to `output`.
  __device__ std::uint32_t compress(std::byte* output, std::uint64_t capacity) {
    // In each turn a row is compared, the next one looked up, the one after that loaded, and the one before it carried. Two rows at
    // a time, so that no row has to be moved between registers.
    Window window[2] = {Text::window(place_, 0), Text::window(place_, kRow)};
    Probe probe[2];
    probe[0] = look_up_first(enter(window[0], 0));
    std::uint32_t found[2] = {0, 0};
    std::uint32_t written = 0;
    for (std::uint32_t begin = 0; begin < text_.bytes() + kRow; begin += 2 * kRow) {
#pragma unroll
      for (unsigned odd = 0; odd < 2; ++odd) {
        const std::uint32_t row = begin + odd * kRow;
        if (odd == 1 && begin >= text_.bytes()) break;
        found[odd] = compare(window[odd], probe[odd], row);
        const Entered entered = enter(window[1 - odd], row + kRow);
        window[odd] = Text::window(place_, row + 2 * kRow);
        const Decisions decisions = carry(found[1 - odd], found[odd], row - kRow);
        probe[1 - odd] = look_up(entered);
        walk(decisions, row - kRow);
      }
      const bool last = begin + 2 * kRow >= text_.bytes() + kRow;
      if (listed_ < 32 && !last) continue;
      do {
        const std::uint32_t matches = min(listed_, 32u);
        __syncwarp();
        const typename Writer::Group group =
            Writer::place(Writer::listed(Writer::sh_.list[lane_]), matches, last && listed_ < 32);
        if (group.bytes > capacity - written) return kDoesNotFit;
        Writer::write(group, output + written);
        written += group.bytes;
        if (listed_ < 32) return written;
        Writer::drop_32();
      } while (last);
    }
    return written;
  }

 private:
  static constexpr std::uint32_t kRow = kHashPairsRowBytes;
  static_assert(kRow == 64, "two positions a lane");
  static constexpr unsigned kKeyBits = kCodeBits + 13;
  static constexpr std::uint32_t kKey = (1u << kKeyBits) - 1;
  static constexpr std::uint32_t kOneEnd = 1u << kCodeBits;

  struct Probe {
    Text::Candidate candidate[2];
  };
  struct Entered {
    RowEntry even;
    std::uint32_t odd_newest;
  };

  // The even positions of a row enter.
  //
  // An unused slot holds 0, as if the page's first position had entered. That position has another hash, so its word differs. All
  // positions enter, even those without a hash. Positions with a hash do not see these, and what they find themselves begins in the
  // last 7 bytes, where LZ4 allows no match.
  __device__ __forceinline__ Entered enter(const Window& window, std::uint32_t row) {
    // Before a lane enters: RowEntry begins with a barrier of the warp.
    const std::uint32_t odd_newest = newest_[hash_word(window.word(0, place_.shift + 8), kHashBits)];
    return {RowEntry(newest_, hash_word(window.word(0, place_.shift), kHashBits), true, row / 2 + lane_),
            odd_newest};
  }
  // Looks the row up, and loads the candidates' bytes.
  __device__ __forceinline__ Probe look_up(Entered entered) const {
    const std::uint32_t newest = entered.even.finish(lane_);
    return {{text_.candidate(2 * newest), text_.candidate(2 * entered.odd_newest)}};
  }
  // In the first row, the first position and all odd ones have no candidate: they get their own bytes, inverted, which never agree.
  __device__ __forceinline__ Probe look_up_first(Entered entered) const {
    Probe probe = look_up(entered);
    if (lane_ == 0) invert(probe.candidate[0]);
    probe.candidate[1] = text_.candidate(2 * lane_ + 1);
    invert(probe.candidate[1]);
    return probe;
  }
  static __device__ void invert(Text::Candidate& candidate) {
    candidate.low = ~candidate.low, candidate.high = ~candidate.high;
  }

  // The pair's match, at its full length.
  __device__ __forceinline__ std::uint32_t compare(const Window& own, const Probe& probe, std::uint32_t row) {
    static_assert(kHashPairsCoverBytes == 16 && kHashPairsReach == 4, "four words, and the one before");
    const bool even = text_.first_word(probe.candidate[0]) == own.word(0, place_.shift);
    const bool odd_agrees = text_.first_word(probe.candidate[1]) == own.word(0, place_.shift + 8);
    std::uint32_t found = 0, covers_to = 0;  // where its first 16 bytes end, if it has as many
    if (even | odd_agrees) {
      const std::uint32_t odd = even ? 0 : 1;
      const typename Text::Candidate candidate = even ? probe.candidate[0] : probe.candidate[1];
      const Around other = text_.around(candidate);
      const std::uint32_t shift = place_.shift + 8 * odd;
      std::uint32_t length = 12, difference = own.word(3, shift) ^ other.words[3];
      const std::uint32_t third = own.word(2, shift) ^ other.words[2];
      const std::uint32_t second = own.word(1, shift) ^ other.words[1];
      if (third != 0) length = 8, difference = third;
      if (second != 0) length = 4, difference = second;
      const std::uint32_t position = row + 2 * lane_ + odd;
      const std::uint32_t end = min(position + length + agreeing_low_bytes(difference), text_.bytes());
      if (end >= position + 16) covers_to = position + 16;
      // Bytes before the block count as different.
      const std::uint32_t differs_before =
          (own.word(-1, shift) ^ other.before) | high_bit_of_byte(candidate.position);
      const auto reach = static_cast<std::uint32_t>(__clz(static_cast<int>(differs_before))) / 8;
      found =
          (reach + 1 - odd) << kKeyBits | end << kCodeBits | (kMostOffset - (position - candidate.position));
    }
    if (__any_sync(~0u, covers_to != 0)) found = extend(found, covers_to);
    return found;
  }

  // Matches of 16 bytes get their true ends, or are left out where they are covered.
  __device__ std::uint32_t extend(std::uint32_t found, std::uint32_t covers_to) {
    bool kept = covers_to == 0;
    unsigned open = __ballot_sync(~0u, covers_to > covered_end_);
    while (open != 0) {
      const std::uint32_t leader = lowest_bit(open);
      const std::uint32_t key = __shfl_sync(~0u, found, leader) & kKey;
      const std::uint32_t begin = key >> kCodeBits;
      covered_end_ = Writer::agreement_end(begin, kMostOffset - (key & kMostOffset), text_.bytes());
      if (lane_ == leader) {
        found += (covered_end_ - begin) << kCodeBits;
        kept = true;
      }
      open = __ballot_sync(~0u, covers_to > covered_end_);
    }
    return kept ? found : 0;
  }

  // Decisions about a row's positions, beginning with the one before the row: a lane decides for the position to the left of its
  // pair and for the pair's first.
  struct Decisions {
    unsigned low, high;        // in every lane: the positions whose match is taken, if the walk comes to them
    std::uint32_t left, even;  // keys
  };

  // Carries the row that begins at `row`, whose matches are `found`, and makes the decisions.
  __device__ __forceinline__ Decisions carry(std::uint32_t found, std::uint32_t next_found,
                                             std::uint32_t row) {
    // Lanes count modulo 32: the first ones of the next row follow the last one.
    const std::uint32_t second =
        __shfl_sync(~0u, (next_found & first_lane_) | (found & ~first_lane_), lane_ + 1);
    const std::uint32_t third =
        __shfl_sync(~0u, (next_found & first_two_lanes_) | (found & ~first_two_lanes_), lane_ + 2);
    // Matches that begin at the pair's first position or before it, and at its second.
    const auto reaching = [](std::uint32_t match, std::uint32_t back) {
      return match >= (back + 1) << kKeyBits ? match & kKey : 0;
    };
    const std::uint32_t from_even = __vimax3_u32(reaching(found, 0), reaching(second, 2), reaching(third, 4));
    const std::uint32_t from_odd = __vimax3_u32(found & kKey, reaching(second, 1), reaching(third, 3));

    const std::uint32_t carried = carried_key_;
    std::uint32_t odd = max(Writer::forward_maximum(from_odd), carried);
    std::uint32_t left = __shfl_up_sync(~0u, odd, 1);
    if (lane_ == 0) left = carried;
    std::uint32_t even = max(from_even, left);
    carried_key_ = __shfl_sync(~0u, odd, 31);

    const std::uint32_t position = row + 2 * lane_;
    // LZ4's limits matter only if a match ends in the last 7 bytes.
    if (static_cast<int>(carried_key_ >> kCodeBits) > static_cast<int>(text_.bytes()) - 8) {
      left = within_limits(left, position - 1);
      even = within_limits(even, position);
      odd = within_limits(odd, position + 1);
    }
    const unsigned left_decided = __ballot_sync(~0u, taken_at(left, even, position - 1));
    const unsigned even_decided = __ballot_sync(~0u, taken_at(even, odd, position));
    // In the positions' order: a lane picks the decisions with its own number, and with 32 more.
    const unsigned picked = ((lane_ & 1) != 0 ? even_decided : left_decided) >> (lane_ / 2);
    return {__ballot_sync(~0u, (picked & 1) != 0), __ballot_sync(~0u, (picked >> 16 & 1) != 0), left, even};
  }

  // A position's match is taken if it is long enough and the next position's is not longer.
  static __device__ __forceinline__ bool taken_at(std::uint32_t key, std::uint32_t next_key,
                                                  std::uint32_t position) {
    return key >= (position + kLz4MinMatchBytes) * kOneEnd &&
           static_cast<int>(next_key - (key & ~kMostOffset)) < static_cast<int>(2 * kOneEnd);
  }

  // A key after LZ4's limits are applied: the last 5 bytes are literals, the last match starts 12 before the end.
  __device__ __forceinline__ std::uint32_t within_limits(std::uint32_t key, std::uint32_t position) const {
    if (static_cast<int>(position) > static_cast<int>(text_.bytes()) - 12) return 0;
    return min(key >> kCodeBits, text_.bytes() - 5) << kCodeBits | (key & kMostOffset);
  }

  // The number of the first decision from `begin` on; 64 or more: none.
  static __device__ __forceinline__ std::uint32_t first_decided(const Decisions& decisions,
                                                                std::uint32_t begin) {
    const unsigned low = decisions.low & bits_from(begin);
    const unsigned high = decisions.high & bits_from(max(begin, 32u) - 32);
    return lowest_bit(low != 0 ? low : high) | (low != 0 ? 0 : 32);
  }

  // From match to match over the decisions about the row that begins at `row`.
  __device__ __forceinline__ void walk(const Decisions& decisions, std::uint32_t row) {
    // `walk_` is the walk's place, counted from the row's first decision. Each lane computes beforehand where the walk goes from
    // its matches, and to which match it comes there.
    const std::uint32_t left_goes_to = (decisions.left >> kCodeBits) + 1 - row;
    const std::uint32_t even_goes_to = (decisions.even >> kCodeBits) + 1 - row;
    const std::uint32_t comes_to =
        __byte_perm(first_decided(decisions, left_goes_to), first_decided(decisions, even_goes_to), 0x0040);
    std::uint32_t own = kRow, last = 0;
    unsigned any = 0;
    for (std::uint32_t match = first_decided(decisions, walk_); match < kRow;) {
      last = match / 2;
      if (lane_ == last) own = match;
      any = 1;
      match = __shfl_sync(~0u, comes_to, last) >> (match % 2 * 8) & 0xFF;
    }
    if (any != 0) {
      const bool even = own % 2 != 0;
      walk_ = __shfl_sync(~0u, even ? even_goes_to : left_goes_to, last);
      const unsigned taken = __ballot_sync(~0u, own != kRow);
      if (own != kRow)
        Writer::sh_.list[listed_ + bit_count(taken & lanes_below_)] = {
            row + own - 1, even ? decisions.even : decisions.left};
      listed_ += bit_count(taken);
    }
    walk_ = max(walk_, kRow) - kRow;
  }

  std::uint16_t* newest_;
  Text::Place place_;
  std::uint32_t first_lane_, first_two_lanes_;  // all bits in the first lane and the first two

  std::uint32_t covered_end_ = 0;  // where the last long match ends
  std::uint32_t carried_key_ = 0;  // what the next row inherits
  // The number of the row's decision at which the walk is; the first decision is for the position before the row. It begins after
  // an imaginary row.
  std::uint32_t walk_ = kRow + 1;
};

}  // namespace hemstitch::cuda
