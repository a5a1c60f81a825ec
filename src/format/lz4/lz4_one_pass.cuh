// Level 1 from bytes to LZ4 blocks of at most 64 KB without history, from left to right: pages by a warp each, larger
// blocks by a workgroup each.
//
// hash_chain of depth 1, the stitch, lazy and the encoder look little ahead and carry little along, so a warp takes 32
// positions, a *row*, through all of them while the numbers are in registers. A lane owns one position of the row. The text
// is in shared memory.
//
//   look up    Pages alone: the lane's four bytes are hashed, the row enters the table (match/enter_row.cuh), and each lane
//              has the newest position before it with its hash. A larger block's candidates stand in memory, links that
//              hash_chain.cu has built.
//   compare    The candidate, up to the cap of 16 bytes: four words. And how many of the four bytes before agree as well,
//              which is what a neighbour to the left may borrow.
//   extend     Where a match reached the cap, the warp compares on, 128 bytes a step, for the first such lane; every other
//              lane with that offset, in this row and later ones, ends where it ends. 32 such ends are remembered, one a
//              lane.
//   stitch     One row behind, since position p looks at p+1..p+4: four shuffles. Then the running maximum of the ends.
//   lazy       One position behind again, since p looks at p+1: the lane decides for the position to its left.
//   walk       From match to match over one word of decisions; where each match leads the lanes say beforehand.
//   write      Sequences gather in a list. When there are 32, each lane takes one: sizes, prefix sum, bytes into shared
//              memory, from there to the output in words of 16.
//
// A match found here is never cut, and never longer than a record can say: a length is the true one, or that of a true
// one's tail. So a sequence never goes on with the match before it, and there is nothing to join.
//
// A workgroup's warps each find the sequences of a segment, a tenth of 64 KB. Only the walk and what the running maximum carries pass
// from one segment to the next, and both soon forget where they began: a warp begins 512 bytes before its segment. Where the
// state that it enters its segment with is not the one that the warp before left, it goes over the segment again, from the
// true state: the result is exact, and a block takes at most as many turns as it has warps. Sequences go to lists in memory,
// and are written when the sizes of all segments are known.
//
// What binds is instructions: a row of a page costs about 200, its share of the writing included 250. Bounds of work: a row
// has at most 32 extensions, each of a stretch that nothing is remembered of. Shared memory: a warp with a page has the
// table, 4 KB, the page, and 1 KB for what it writes; a workgroup the block, and 1 KB a warp. Synchronisation: within the
// warp; a workgroup's barriers stand between the turns. CPU twins: hash_chain_reference.cpp, stitch_reference.cpp,
// lazy_reference.cpp, lz4_encode_reference.cpp.
#pragma once

#include <cstddef>
#include <cstdint>

#include "core/match.hpp"
#include "core/page.hpp"
#include "format/lz4/lz4_emission.hpp"
#include "format/lz4/lz4_one_pass_tuning.hpp"
#include "match/enter_row.cuh"
#include "match/hash_word.hpp"

namespace hemstitch::cuda {

// The largest block: a position, plus one, fits 16 bits wherever a hash can begin, and no length passes a record's.
inline constexpr std::uint32_t kOnePassBlockBytes = 65536;
static_assert(kOnePassBlockBytes - 1 <= kMaxRecordLength);
// Comparisons are of four words.
inline constexpr std::uint32_t kOnePassCapBytes = 16;

__device__ __forceinline__ std::uint32_t lowest_bit(std::uint32_t bits) {
  return static_cast<std::uint32_t>(__ffs(static_cast<int>(bits)) - 1);
}
__device__ __forceinline__ std::uint32_t highest_bit(std::uint32_t bits) {
  return static_cast<std::uint32_t>(31 - __clz(static_cast<int>(bits)));
}
__device__ __forceinline__ std::uint32_t bit_count(std::uint32_t bits) {
  return static_cast<std::uint32_t>(__popc(bits));
}
// All bits from bit `begin` on; none where that is 32 or more, for which C++ has no shift and the device has.
__device__ __forceinline__ std::uint32_t bits_from(std::uint32_t begin) {
  std::uint32_t bits;
  asm("shl.b32 %0, -1, %1;" : "=r"(bits) : "r"(begin));
  return bits;
}
// The highest bit of byte `index` of a word, counted from its last; none from the fourth on.
__device__ __forceinline__ std::uint32_t high_bit_of_byte(std::uint32_t index) {
  std::uint32_t bit;
  asm("shr.u32 %0, 0x80000000, %1;" : "=r"(bit) : "r"(index * 8));
  return bit;
}
// Of four bytes, by the bits that differ: how many of the first agree.
__device__ __forceinline__ std::uint32_t agreeing_low_bytes(std::uint32_t difference) {
  return min(lowest_bit(difference) >> 3, 4u);
}

// The 20 bytes around a position: the four before it and the 16 from it on.
struct Around {
  std::uint32_t before, words[4];
};

// A block in shared memory, at its own misalignment, so that it is loaded in words of 16 bytes. What is read before and
// behind it is there, and whatever it is it does not count.
template <std::uint32_t kMostBytes>
class SharedText {
 public:
  static constexpr bool kPage = kMostBytes <= kPageBytes;
  // Rows are read up to the fourth behind the end.
  static constexpr std::uint32_t kLead = 16, kAhead = 160;
  struct alignas(16) Storage {
    std::uint32_t words[(kLead + 16 + kMostBytes + kAhead) / 4];
  };

  // By `kThreads` threads, of which this is number `thread`; a barrier among them has to follow.
  template <unsigned kThreads>
  static __device__ __forceinline__ void load(Storage& sh, const std::byte* block, std::uint32_t block_bytes,
                                              unsigned thread) {
    const std::uint32_t misaligned = misalignment(block);
    auto* chunks = reinterpret_cast<uint4*>(sh.words) + kLead / 16;
    const std::byte* base = block - misaligned;
    const std::uint32_t end = misaligned + block_bytes;
#pragma unroll 8
    for (std::uint32_t i = 0; i < (kMostBytes / 16 + kThreads - 1) / kThreads; ++i) {
      const std::uint32_t at = (i * kThreads + thread) * 16;
      if (at >= misaligned && at + 16 <= end) chunks[at / 16] = *reinterpret_cast<const uint4*>(base + at);
    }
    // What is left: up to 15 bytes before the first whole chunk and behind the last one.
    auto* bytes = reinterpret_cast<std::byte*>(chunks);
    if (thread < 16 && thread >= misaligned && thread < end) bytes[thread] = base[thread];
    const std::uint32_t tail = end / 16 * 16 + thread;
    if (thread < 16 && tail >= misaligned && tail < end) bytes[tail] = base[tail];
  }

  __device__ SharedText(const Storage& sh, const std::byte* block, std::uint32_t block_bytes)
      : words_(sh.words), bytes_(block_bytes), begin_(kLead + misalignment(block)) {}

  __device__ __forceinline__ std::uint32_t bytes() const { return bytes_; }
  __device__ __forceinline__ std::uint32_t word(std::uint32_t position) const {
    const std::uint32_t at = begin_ + position;
    return __funnelshift_r(words_[at / 4], words_[at / 4 + 1], at % 4 * 8);
  }
  __device__ __forceinline__ std::byte byte(std::uint32_t position) const {
    return reinterpret_cast<const std::byte*>(words_)[begin_ + position];
  }
  // A lane's position in the first row; in the others it is as many words farther as they are.
  struct Place {
    const std::uint32_t* words;
    std::uint32_t shift;
  };
  __device__ __forceinline__ Place place(unsigned lane) const {
    const std::uint32_t at = begin_ + lane;
    return {words_ + at / 4, at % 4 * 8};
  }
  static __device__ __forceinline__ Around around(const Place& place, std::uint32_t row) {
    const std::uint32_t* words = place.words + row / 4;
    const std::uint32_t shift = place.shift;
    Around around;
    std::uint32_t low = words[-1], high = words[0];
    around.before = __funnelshift_r(low, high, shift);
#pragma unroll
    for (unsigned i = 0; i < 4; ++i) {
      low = high, high = words[i + 1];
      around.words[i] = __funnelshift_r(low, high, shift);
    }
    return around;
  }

  // What is compared with a lane's own bytes: the word at `position` is asked for at once, the others later.
  struct Candidate {
    std::uint32_t position, low, high;
  };
  __device__ __forceinline__ Candidate candidate(std::uint32_t position) const {
    const std::uint32_t at = begin_ + position;
    return {position, words_[at / 4], words_[at / 4 + 1]};
  }
  __device__ __forceinline__ std::uint32_t first_word(const Candidate& c) const {
    return __funnelshift_r(c.low, c.high, (begin_ + c.position) % 4 * 8);
  }
  __device__ __forceinline__ Around around(const Candidate& c) const {
    const std::uint32_t at = begin_ + c.position, shift = at % 4 * 8;
    const std::uint32_t* words = words_ + at / 4;
    const std::uint32_t before = words[-1], third = words[2], fourth = words[3], fifth = words[4];
    return {__funnelshift_r(before, c.low, shift),
            {__funnelshift_r(c.low, c.high, shift), __funnelshift_r(c.high, third, shift),
             __funnelshift_r(third, fourth, shift), __funnelshift_r(fourth, fifth, shift)}};
  }

 private:
  static __device__ std::uint32_t misalignment(const std::byte* block) {
    return static_cast<std::uint32_t>(reinterpret_cast<std::uintptr_t>(block) % 16);
  }

  const std::uint32_t* words_;
  std::uint32_t bytes_, begin_;
};

// Sequences on their way to the output, of one warp.
template <std::uint32_t kStageBytes>
struct alignas(16) RowShared {
  std::uint32_t stage[(kStageBytes + 16) / 4];
  uint2 list[48];  // 31, and 8 a row of two
};

// What rows go through once their candidates are known.
//
// Packings. Offsets are kept as `code`, the largest offset less the offset, so that the nearer is the larger.
//   match   length, code: of two the better is the larger; 0 for none. In a page six bits between them are 0
//   key     of the forward maximum: end, then lane + 1, with 0 in place of lane + 1 for what earlier rows carry in: on equal
//           ends the later position wins, which is the position's own. A page's ends count from its begin and are followed
//           by the code, so that a key is a match and a number of the lane's; a larger block's count from the row's begin.
//           A position without a match has one that ends where it stands, which is no worse than none
//   entry   of the list: a position, and behind it a page's key or a larger block's match
template <class Text>
class RowPass {
 public:
  static constexpr std::uint32_t kStageBytes = Text::kPage ? kPageStageBytes : kBlockStageBytes;
  using Shared = RowShared<kStageBytes>;

  __device__ RowPass(Shared& sh, const Text& text, unsigned lane)
      : sh_(sh), text_(text), place_(text.place(lane)), lane_(lane), lanes_below_((1u << lane) - 1) {
#pragma unroll
    for (unsigned k = 1; k <= kReach; ++k) first_lanes_[k - 1] = lane < k ? ~0u : 0;
  }

 protected:
  static constexpr bool kPage = Text::kPage;
  static constexpr unsigned kCodeBits = kPage ? 12 : 16;
  static constexpr std::uint32_t kMostOffset = (1u << kCodeBits) - 1;
  static constexpr unsigned kLengthShift = kPage ? 18 : 16;
  static constexpr unsigned kEndShift = kPage ? 18 : 6;  // in a key
  static constexpr std::uint32_t kKeyLanes = 63u << (kPage ? kCodeBits : 0);
  static_assert(kPageBytes == 4096, "offsets of a page have 12 bits, lengths 13");
  static constexpr unsigned kReach = 4;

  struct Probe {
    bool present;
    typename Text::Candidate candidate;
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
      match = length << kLengthShift | (kMostOffset - offset);
      // What stands before the block does not agree.
      differs_before = (own.before ^ other.before) | high_bit_of_byte(probe.candidate.position);
    }
    const bool capped = match >= kOnePassCapBytes << kLengthShift;
    const unsigned open = __ballot_sync(~0u, capped);
    if (open != 0) match = extend(match, open, position);

    Found found;
    found.match = match;
#pragma unroll
    for (unsigned k = 1; k <= kReach; ++k)
      found.carried[k - 1] =
          differs_before <= 0xFFFFFFFFu >> (8 * k - 1) >> 1 ? match + (k << kLengthShift) : 0;
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
      if (ends_there) match = (end - position) << kLengthShift | code;
      open &= ~__ballot_sync(~0u, ends_there);
    } while (open != 0);
    return match;
  }

  // Where the bytes from `from` on stop agreeing with those `offset` before them.
  __device__ std::uint32_t agreement_end(std::uint32_t from, std::uint32_t offset) const {
    for (; from < text_.bytes(); from += 128) {
      // What is read behind the end does not count.
      const std::uint32_t at = min(from + lane_ * 4, text_.bytes());
      const std::uint32_t difference = text_.word(at) ^ text_.word(at - offset);
      const unsigned differs = __ballot_sync(~0u, difference != 0);
      if (differs != 0) {
        const std::uint32_t first = lowest_bit(differs);
        const std::uint32_t agreed = agreeing_low_bytes(__shfl_sync(~0u, difference, first));
        return min(from + first * 4 + agreed, text_.bytes());
      }
    }
    return text_.bytes();
  }

  // A lane's part of the decisions about a row's positions from the one before it on. The lane speaks for the position to its
  // left.
  struct Decisions {
    unsigned decided;    // in every lane: the positions whose match is taken, if the walk comes to them
    std::uint32_t left;  // the key of the position
    std::uint32_t code;  // in a larger block: its match's
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
    if constexpr (kPage) {
      key = max(forward_maximum(rank + ((row + lane_) << kEndShift) + ((lane_ + 1) << kCodeBits)),
                carried_key_);
      carried_key_ = __shfl_sync(~0u, key, 31) & ~kKeyLanes;
      last_end = (carried_key_ >> kEndShift) - row;
    } else {
      key = max(forward_maximum((rank >> kLengthShift << kEndShift) + (lane_ << kEndShift) + lane_ + 1),
                carried_key_);
      const std::uint32_t winner = key & kKeyLanes;
      code = __shfl_sync(~0u, rank & kMostOffset, winner - 1);
      if (winner == 0) code = carried_code_;
      const std::uint32_t last_key = __shfl_sync(~0u, key, 31) & ~kKeyLanes;
      last_end = last_key >> kEndShift;
      carried_key_ = max(last_key, 32u << kEndShift) - (32u << kEndShift);
      carried_code_ = __shfl_sync(~0u, code, 31);
    }

    // From here on the lane speaks for the position to its left: its match is taken where it is long enough, and the lane's
    // own is no longer.
    const std::uint32_t turned = __shfl_sync(~0u, key, lane_ + 31);
    std::uint32_t left = lane_ == 0 ? carried_left : turned;
    const std::uint32_t first_end = kPage ? row : 0;  // of a key, an end at the row's begin
    if (static_cast<int>(last_end) > static_cast<int>(bytes_left) - 8) {
      left = within_limits(left, lane_ - 1, bytes_left, first_end);
      key = within_limits(key, lane_, bytes_left, first_end);
    }
    const unsigned decided =
        __ballot_sync(~0u, left >= (first_end + lane_ - 1 + kLz4MinMatchBytes) << kEndShift &&
                               static_cast<int>(key - (left & ~((1u << kEndShift) - 1))) <
                                   static_cast<int>(2u << kEndShift));
    if constexpr (!kPage) {
      code = __shfl_sync(~0u, code, lane_ + 31);
      if (lane_ == 0) code = carried_left_code;
    }
    return {decided, left, code};
  }

  // From match to match over the decisions about the row that begins at `row`.
  __device__ __forceinline__ void walk(const Decisions& decisions, std::uint32_t row) {
    // Where the walk stands, counted from the row's first decision, is `walk_`; where it goes from the lane's match, and the
    // match that it comes to there, each lane says beforehand.
    const std::uint32_t goes_to = (decisions.left >> kEndShift) + 1 - (kPage ? row : 0);
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
      std::uint32_t entry = decisions.left;
      if constexpr (!kPage)
        entry = ((decisions.left >> kEndShift) + 1 - lane_) << kLengthShift | decisions.code;
      sh_.list[listed_ + bit_count(taken & lanes_below_)] = {row + lane_ - 1, entry};
    }
    listed_ += bit_count(taken);
  }

  // A key, of the position `from_row` from the row on, after LZ4's limits: the last 5 bytes are literals, the last match
  // starts 12 before the end. They are of no account where no match of the row ends in the last 7 bytes.
  static __device__ std::uint32_t within_limits(std::uint32_t key, std::uint32_t from_row,
                                                std::uint32_t bytes_left, std::uint32_t first_end) {
    if (static_cast<int>(from_row) > static_cast<int>(bytes_left) - 12) return 0;
    const std::uint32_t most_end = (first_end + bytes_left - 5) << kEndShift;
    return min(key & ~((1u << kEndShift) - 1), most_end) | (key & ((1u << kEndShift) - 1));
  }

  // Of an entry of the list.
  static __device__ __forceinline__ std::uint32_t match_length(uint2 entry) {
    return (entry.y >> kLengthShift) - (kPage ? entry.x : 0);
  }

  // Of the lanes up to this one.
  __device__ __forceinline__ std::uint32_t forward_maximum(std::uint32_t key) const {
#pragma unroll
    for (unsigned distance = 1; distance < 32; distance *= 2)
      key = max(key, __shfl_up_sync(~0u, key, distance));  // a lane without a left neighbour gets its own
    return key;
  }

  // A lane's sequence, and where it is written.
  struct Placed {
    Sequence sequence;
    std::uint32_t bytes, at, literals;  // bytes is 0 where the lane has none
  };

  // The lane's part of `matches` sequences, given as entries of the list; the last literals behind them if they are the
  // block's last. Also the bytes of all, and where the literals behind them begin.
  struct Group {
    Placed own;
    std::uint32_t bytes;
  };
  __device__ __forceinline__ Group place(uint2 entry, std::uint32_t matches, bool last) {
    const std::uint32_t match_bytes = lane_ < matches ? match_length(entry) : 0;
    if (lane_ >= matches) entry.x = text_.bytes();  // of the lane behind them: the last literals
    const std::uint32_t behind = entry.x + match_bytes;
    Group group;
    group.own.literals = __shfl_up_sync(~0u, behind, 1);
    if (lane_ == 0) group.own.literals = literals_begin_;
    group.own.bytes = 0;
    group.own.sequence = {0, match_bytes, kMostOffset - (entry.y & kMostOffset)};
    if (lane_ < matches || (last && lane_ == matches)) {
      group.own.sequence.literal_count = entry.x - group.own.literals;
      group.own.bytes =
          static_cast<std::uint32_t>(lz4_sequence_bytes(group.own.sequence.literal_count, match_bytes));
    }
    std::uint32_t end = group.own.bytes;
#pragma unroll
    for (unsigned distance = 1; distance < 32; distance *= 2) {
      const std::uint32_t other = __shfl_up_sync(~0u, end, distance);
      if (lane_ >= distance) end += other;
    }
    group.own.at = end - group.own.bytes;
    group.bytes = __shfl_sync(~0u, end, 31);
    if (matches != 0) literals_begin_ = __shfl_sync(~0u, behind, static_cast<int>(matches) - 1);
    return group;
  }

  __device__ __forceinline__ void write(const Group& group, std::byte* target) const {
    if (group.bytes <= kStageBytes) {
      const auto misaligned = static_cast<std::uint32_t>(reinterpret_cast<std::uintptr_t>(target) % 16);
      write_sequences(group.own, reinterpret_cast<std::byte*>(sh_.stage) + misaligned);
      __syncwarp();
      store_stage(misaligned, group.bytes, target - misaligned);
    } else {
      write_sequences(group.own, target);
    }
    __syncwarp();  // the stage is used again
  }

  // Drops the first 32 entries of the list.
  __device__ __forceinline__ void drop_32() {
    uint2 rest{};
    if (lane_ + 32 < listed_) rest = sh_.list[lane_ + 32];
    __syncwarp();
    if (lane_ + 32 < listed_) sh_.list[lane_] = rest;
    listed_ -= 32;
    __syncwarp();
  }

  __device__ __forceinline__ void write_sequences(const Placed& own, std::byte* place) const {
    const std::uint32_t count = own.sequence.literal_count;
    std::uint32_t at = own.at;
    const auto put = [&](std::uint32_t i, std::uint32_t byte) {
      place[at + i] = static_cast<std::byte>(byte);
    };
    if (own.bytes != 0) {
      at += put_lz4_head(count, own.sequence.match_length, put);
      at += count;
      put_lz4_tail(own.sequence.offset, own.sequence.match_length, put);
      at -= count;
    }
    if (count <= kLaneLiteralBytes) {
#pragma unroll
      for (std::uint32_t i = 0; i < kLaneLiteralBytes; i += 4) {
        if (i >= count) continue;
        const std::uint32_t word = text_.word(own.literals + i);
#pragma unroll
        for (std::uint32_t j = 0; j < 4; ++j)
          if (i + j < count) place[at + i + j] = static_cast<std::byte>(word >> (8 * j));
      }
    }
    unsigned runs = __ballot_sync(~0u, count > kLaneLiteralBytes);
    for (; runs != 0; runs &= runs - 1) {
      const std::uint32_t owner = lowest_bit(runs);
      const std::uint32_t run_at = __shfl_sync(~0u, at, owner), run_count = __shfl_sync(~0u, count, owner);
      const std::uint32_t run_source = __shfl_sync(~0u, own.literals, owner);
      copy_run(place + run_at, run_source, run_count);
    }
  }

  // By the warp: 512 bytes a step, then single bytes.
  __device__ __forceinline__ void copy_run(std::byte* target, std::uint32_t source,
                                           std::uint32_t count) const {
    constexpr std::uint32_t kWords = 4;
    std::uint32_t done = 0;
    if (count >= kWords * 128 + 4) {
      done = static_cast<std::uint32_t>(-reinterpret_cast<std::uintptr_t>(target)) % 4;
      if (lane_ < done) target[lane_] = text_.byte(source + lane_);
      for (; done + kWords * 128 <= count; done += kWords * 128) {
        std::uint32_t words[kWords];
#pragma unroll
        for (std::uint32_t i = 0; i < kWords; ++i)
          words[i] = text_.word(source + done + (i * 32 + lane_) * 4);
#pragma unroll
        for (std::uint32_t i = 0; i < kWords; ++i)
          *reinterpret_cast<std::uint32_t*>(target + done + (i * 32 + lane_) * 4) = words[i];
      }
    }
#pragma unroll 1
    for (std::uint32_t i = done + lane_; i < count; i += 32) target[i] = text_.byte(source + i);
  }
  // Stores `bytes` bytes of the stage from `misaligned` on; `base`, aligned to 16, is where the stage's begin belongs.
  __device__ void store_stage(std::uint32_t misaligned, std::uint32_t bytes, std::byte* base) const {
    const auto* stage_bytes = reinterpret_cast<const std::byte*>(sh_.stage);
    const auto* stage = reinterpret_cast<const uint4*>(sh_.stage);
    const std::uint32_t end = misaligned + bytes;
    const std::uint32_t first_whole = misaligned == 0 ? 0 : 16, last_whole = end / 16 * 16;
    for (std::uint32_t i = first_whole + lane_ * 16; i < last_whole; i += 32 * 16)
      *reinterpret_cast<uint4*>(base + i) = stage[i / 16];
    if (lane_ < 16) {
      if (misaligned != 0 && lane_ >= misaligned && lane_ < end) base[lane_] = stage_bytes[lane_];
      const std::uint32_t tail = max(last_whole, first_whole) + lane_;
      if (tail < end) base[tail] = stage_bytes[tail];
    }
  }

  // The bytes around the lane's position of a row.
  __device__ __forceinline__ Around around(std::uint32_t row) const { return Text::around(place_, row); }

  Shared& sh_;
  Text text_;
  typename Text::Place place_;
  unsigned lane_, lanes_below_;
  std::uint32_t first_lanes_[kReach];  // all bits in the first 1, 2, .. lanes

  std::uint32_t known_code_ = 0, known_end_ = 0,
                facts_ = 0;                           // a fact a lane: an offset, and where it ends to agree
  std::uint32_t carried_key_ = 0, carried_code_ = 0;  // what the next row inherits
  std::uint32_t walk_ = 1;                            // a row's first decision is for the position before it
  std::uint32_t listed_ = 0, literals_begin_ = 0;
};

// What a warp needs of shared memory for a page.
template <unsigned kHashBits>
struct PageShared {
  RowShared<kPageStageBytes> rows;
  std::uint16_t newest[1u << kHashBits];  // the newest position, plus one, of each hash
  SharedText<kPageBytes>::Storage text;
};

// A page by one warp.
template <unsigned kHashBits>
class PagePass : RowPass<SharedText<kPageBytes>> {
  using Text = SharedText<kPageBytes>;
  using Rows = RowPass<Text>;
  using Rows::lane_, Rows::lanes_below_, Rows::listed_, Rows::text_;
  using Probe = Rows::Probe;
  using Found = Rows::Found;

 public:
  using Shared = PageShared<kHashBits>;
  static constexpr std::uint32_t kDoesNotFit = ~0u;

  // By all lanes of the warp.
  __device__ PagePass(Shared& sh, const std::byte* page, std::uint32_t page_bytes, unsigned lane)
      : Rows(sh.rows, Text(sh.text, page, page_bytes), lane), newest_(sh.newest) {
    Text::load<32>(sh.text, page, page_bytes, lane);
    auto* table = reinterpret_cast<uint4*>(sh.newest);
#pragma unroll
    for (std::uint32_t i = 0; i < sizeof(sh.newest) / 16 / 32; ++i) table[i * 32 + lane] = {0, 0, 0, 0};
    __syncwarp();
    hashed_end_ = page_bytes < kHashedBytes ? 0 : page_bytes - static_cast<std::uint32_t>(kHashedBytes) + 1;
  }

  // The bytes written, or kDoesNotFit. At most `capacity` bytes are written to `output`.
  __device__ std::uint32_t compress(std::byte* output, std::uint64_t capacity) {
    // In turn a row is compared, the one behind it looked up, the one behind that loaded; and the one before it stitched.
    // Two rows at a time, so that none has to be moved.
    Around around[2] = {Rows::around(0), Rows::around(32)};
    Probe probe[2];
    RowEntry first = enter(around[0], 0);
    probe[0] = look_up(first, 0);
    Found found[2] = {};
    std::uint32_t written = 0;
    for (std::uint32_t begin = 0; begin < text_.bytes() + 32; begin += 64) {
#pragma unroll
      for (unsigned odd = 0; odd < 2; ++odd) {
        const std::uint32_t row = begin + odd * 32;
        found[odd] = Rows::compare(around[odd], probe[odd], row);
        RowEntry entry = enter(around[1 - odd], row + 32);
        around[odd] = Rows::around(row + 64);
        if (row == 0) {
          probe[1 - odd] = look_up(entry, row + 32);
          continue;
        }
        const Rows::Decisions decisions = Rows::stitch(found[1 - odd], found[odd], row - 32);
        probe[1 - odd] = look_up(entry, row + 32);
        Rows::walk(decisions, row - 32);
      }
      const bool last = begin + 64 >= text_.bytes() + 32;
      if (listed_ < 32 && !last) continue;
      do {
        const std::uint32_t matches = min(listed_, 32u);
        __syncwarp();
        const Rows::Group group = Rows::place(Rows::sh_.list[lane_], matches, last && listed_ < 32);
        if (group.bytes > capacity - written) return kDoesNotFit;
        Rows::write(group, output + written);
        written += group.bytes;
        if (listed_ < 32) return written;
        Rows::drop_32();
      } while (last);
    }
    return written;
  }

 private:
  // Enters the row; looks it up, and asks for the candidates' bytes.
  //
  // Positions without a hash stand behind all others, so neither a lane nor a row that is looked up ever sees them.
  __device__ __forceinline__ RowEntry enter(const Around& around, std::uint32_t row) {
    return RowEntry(newest_, hash_word(around.words[0], kHashBits), true, row + lane_ + 1);
  }
  __device__ __forceinline__ Probe look_up(RowEntry& entry, std::uint32_t row) {
    const std::uint32_t newest = entry.finish<true>(lane_);
    return Rows::probe(newest != 0 && row + lane_ < hashed_end_, newest - 1);
  }

  std::uint16_t* newest_;
  std::uint32_t hashed_end_;  // behind the last position that has a hash
};

// What a workgroup needs of shared memory for a block.
struct BlockShared {
  // What a segment's first decision depends on, and so what the segment before has to leave.
  struct State {
    std::uint32_t walk, carried_key, carried_code;
    __device__ bool operator==(const State& other) const {
      return walk == other.walk && carried_key == other.carried_key && carried_code == other.carried_code;
    }
  };
  SharedText<kOnePassBlockBytes>::Storage text;
  RowShared<kBlockStageBytes> rows[kBlockWarps];
  State left[kBlockWarps], entered[kBlockWarps];
  std::uint32_t literals_begin[kBlockWarps];  // behind a segment's last match; 0 if it has none
  std::uint32_t bytes[kBlockWarps];
};

// Sequences of a segment: one for 4 positions, what is left in the list when it is stored, and one that begins before it.
inline constexpr std::uint32_t kBlockSegmentBytes = (kOnePassBlockBytes / kBlockWarps + 63) / 64 * 64;
inline constexpr std::uint32_t kSegmentSequences = kBlockSegmentBytes / kLz4MinMatchBytes + 64;
static_assert(kBlockSegmentBytes % 64 == 0 && kBlockRunUpBytes % 64 == 0 &&
              kBlockRunUpBytes <= kBlockSegmentBytes);

// A block by one workgroup, a segment a warp.
class BlockPass : RowPass<SharedText<kOnePassBlockBytes>> {
  using Text = SharedText<kOnePassBlockBytes>;
  using Rows = RowPass<Text>;
  using Rows::lane_, Rows::listed_, Rows::text_;
  using Probe = Rows::Probe;
  using Found = Rows::Found;

 public:
  static constexpr std::uint32_t kDoesNotFit = ~0u;

  // By all threads; behind it stands a barrier. `links` has the distance to the nearest candidate of every position, 0 for
  // none. `d_lists` has room for kSegmentSequences entries a warp.
  __device__ BlockPass(BlockShared& sh, const std::byte* block, std::uint32_t block_bytes,
                       const std::uint16_t* links, uint2* d_lists, unsigned thread)
      : Rows(sh.rows[thread / 32], Text(sh.text, block, block_bytes), thread % 32),
        block_sh_(sh),
        links_(links),
        warp_(thread / 32),
        begin_(thread / 32 * kBlockSegmentBytes),
        d_list_(d_lists + thread / 32 * kSegmentSequences) {
    hashed_end_ = block_bytes < kHashedBytes ? 0 : block_bytes - static_cast<std::uint32_t>(kHashedBytes) + 1;
    Text::load<kBlockWarps * 32>(sh.text, block, block_bytes, thread);
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
