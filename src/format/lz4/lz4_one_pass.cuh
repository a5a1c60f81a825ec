// Level 1 from bytes to an LZ4 block, by one warp, in one pass from left to right: for blocks of at most 64 KB without
// history, pages among them.
//
// hash_chain of depth 1, the stitch, lazy and the encoder look little ahead and carry little along, so a warp takes 32
// positions, a *row*, through all of them while the numbers are in registers; between the stages nothing is stored. A lane
// owns one position of the row.
//
//   look up    The lane's four bytes are hashed. The candidate is the nearest lane to the left with that hash (matching
//              lanes), else the table's newest position; the row's newest positions enter the table. The candidates' first
//              bytes are asked for a row before they are looked at.
//   compare    The candidate, up to the cap of 16 bytes: four words. And back: how many of the four bytes before agree as
//              well, which is what a neighbour to the left may borrow.
//   extend     Where a match reached the cap, the warp compares on, 128 bytes a step, for the first such lane; every other
//              lane with that offset, in this row and later ones, ends where it ends. 32 such ends are remembered, one a
//              lane.
//   stitch     One row behind, since position p looks at p+1..p+4: four shuffles. Then the running maximum of the ends.
//   lazy       One position behind again, since p looks at p+1: the lane decides for the position to its left.
//   walk       From match to match over one word of decisions.
//   write      Sequences gather in a list. When there are 32, each lane takes one: sizes, prefix sum, bytes into shared
//              memory, from there to the output in words of 16.
//
// A match found here is never cut, and never longer than a record can say: a length is the true one, or that of a true
// one's tail. So a sequence never goes on with the match before it, and there is nothing to join.
//
// What binds is instructions, about 230 a row of a page. Bounds of work: a row has at most 32 extensions, each of a stretch
// that nothing is remembered of. Shared memory a warp: the table, 1.5 KB, and for a page its 4 KB. Synchronisation: within
// the warp. CPU twins: hash_chain_reference.cpp, stitch_reference.cpp, lazy_reference.cpp, lz4_encode_reference.cpp.
#pragma once

#include <cstddef>
#include <cstdint>

#include "core/match.hpp"
#include "core/page.hpp"
#include "format/lz4/lz4_emission.hpp"
#include "format/lz4/lz4_one_pass_tuning.hpp"
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
// Of four bytes in which a difference is not 0: how many of the first agree, how many of the last.
__device__ __forceinline__ std::uint32_t agreeing_low_bytes(std::uint32_t difference) {
  return lowest_bit(difference) >> 3;
}
__device__ __forceinline__ std::uint32_t agreeing_high_bytes(std::uint32_t difference) {
  return static_cast<std::uint32_t>(__clz(static_cast<int>(difference))) >> 3;
}

// The 20 bytes around a position: the four before it and the 16 from it on.
struct Around {
  std::uint32_t before, words[4];
};

// A page in shared memory. What is read before and behind it is there, and whatever it is it does not count.
class SharedText {
 public:
  static constexpr bool kPage = true;
  // Rows are read up to the fourth behind the page's end.
  static constexpr std::uint32_t kLead = 16, kAhead = 160;
  struct alignas(16) Storage {
    std::uint32_t words[(kLead + 16 + kPageBytes + kAhead) / 4];
  };

  __device__ SharedText(Storage& sh, const std::byte* page, std::uint32_t page_bytes, unsigned lane)
      : sh_(sh), page_bytes_(page_bytes) {
    const auto misaligned = static_cast<std::uint32_t>(reinterpret_cast<std::uintptr_t>(page) % 16);
    begin_ = kLead + misaligned;
    auto* chunks = reinterpret_cast<uint4*>(sh_.words) + kLead / 16;
    const std::byte* base = page - misaligned;
    const std::uint32_t end = misaligned + page_bytes;
#pragma unroll
    for (std::uint32_t i = 0; i < kPageBytes / 16 / 32; ++i) {
      const std::uint32_t at = (i * 32 + lane) * 16;
      if (at >= misaligned && at + 16 <= end) chunks[at / 16] = *reinterpret_cast<const uint4*>(base + at);
    }
    // What is left: up to 15 bytes before the first whole chunk and behind the last one, and a chunk that a misaligned page
    // has more.
    auto* bytes = reinterpret_cast<std::byte*>(chunks);
    if (lane < 16 && lane >= misaligned && lane < end) bytes[lane] = base[lane];
    const std::uint32_t tail = min(end / 16 * 16, static_cast<std::uint32_t>(kPageBytes));
    if (tail + lane >= misaligned && tail + lane < end) bytes[tail + lane] = base[tail + lane];
    __syncwarp();
  }

  __device__ __forceinline__ std::uint32_t bytes() const { return page_bytes_; }
  __device__ __forceinline__ std::uint32_t word(std::uint32_t position) const {
    const std::uint32_t at = begin_ + position;
    return __funnelshift_r(sh_.words[at / 4], sh_.words[at / 4 + 1], at % 4 * 8);
  }
  __device__ __forceinline__ std::byte byte(std::uint32_t position) const {
    return reinterpret_cast<const std::byte*>(sh_.words)[begin_ + position];
  }
  __device__ __forceinline__ void prefetch(std::uint32_t) const {}
  __device__ __forceinline__ Around around(std::uint32_t, std::uint32_t position) const {
    const std::uint32_t at = begin_ + position, shift = at % 4 * 8;
    const std::uint32_t* words = sh_.words + at / 4;
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
    return {position, sh_.words[at / 4], sh_.words[at / 4 + 1]};
  }
  __device__ __forceinline__ std::uint32_t first_word(const Candidate& c) const {
    return __funnelshift_r(c.low, c.high, (begin_ + c.position) % 4 * 8);
  }
  __device__ __forceinline__ Around around(const Candidate& c) const {
    const std::uint32_t at = begin_ + c.position, shift = at % 4 * 8;
    const std::uint32_t* words = sh_.words + at / 4;
    const std::uint32_t before = words[-1], third = words[2], fourth = words[3], fifth = words[4];
    return {__funnelshift_r(before, c.low, shift),
            {__funnelshift_r(c.low, c.high, shift), __funnelshift_r(c.high, third, shift),
             __funnelshift_r(third, fourth, shift), __funnelshift_r(fourth, fifth, shift)}};
  }

 private:
  Storage& sh_;
  std::uint32_t page_bytes_, begin_;
};

// A block in device memory. Words are read whole where they lie inside the block with all that is read around them, else
// byte by byte; bytes outside the block are 0.
class GlobalText {
 public:
  static constexpr bool kPage = false;
  struct Storage {};

  __device__ GlobalText(Storage&, const std::byte* block, std::uint32_t block_bytes, unsigned)
      : block_(block), block_bytes_(block_bytes) {}

  __device__ __forceinline__ std::uint32_t bytes() const { return block_bytes_; }
  __device__ __forceinline__ std::uint32_t word(std::uint32_t position) const {
    if (position - 4 < block_bytes_ && position + 8 <= block_bytes_) {  // a negative number is a huge one
      const auto* words = words_at(position);
      return __funnelshift_r(__ldg(words), __ldg(words + 1), shift_at(position));
    }
    return edge_word(position);
  }
  __device__ __forceinline__ std::byte byte(std::uint32_t position) const { return block_[position]; }
  __device__ __forceinline__ void prefetch(std::uint32_t position) const {
#if defined(__CUDA_ARCH__)
    if (position < block_bytes_) asm volatile("prefetch.global.L2 [%0];" ::"l"(block_ + position));
#endif
  }
  // Of a row's lane; `row_begin` decides for all of them.
  __device__ __forceinline__ Around around(std::uint32_t row_begin, std::uint32_t position) const {
    if (row_begin - 8 < block_bytes_ && row_begin + 52 <= block_bytes_) return whole_words(position);
    return edge(position);
  }

  struct Candidate {
    std::uint32_t position, low, high;
  };
  __device__ __forceinline__ Candidate candidate(std::uint32_t position) const {
    if (inside(position)) {
      const auto* words = words_at(position);
      return {position, __ldg(words), __ldg(words + 1)};
    }
    return {position, edge_word(position), 0};
  }
  __device__ __forceinline__ std::uint32_t first_word(const Candidate& c) const {
    return inside(c.position) ? __funnelshift_r(c.low, c.high, shift_at(c.position)) : c.low;
  }
  __device__ __forceinline__ Around around(const Candidate& c) const {
    if (!inside(c.position)) return edge(c.position);
    const auto* words = words_at(c.position);
    const std::uint32_t shift = shift_at(c.position);
    const std::uint32_t before = __ldg(words - 1), third = __ldg(words + 2), fourth = __ldg(words + 3),
                        fifth = __ldg(words + 4);
    return {__funnelshift_r(before, c.low, shift),
            {__funnelshift_r(c.low, c.high, shift), __funnelshift_r(c.high, third, shift),
             __funnelshift_r(third, fourth, shift), __funnelshift_r(fourth, fifth, shift)}};
  }

 private:
  // Whether all words around a position are the block's.
  __device__ __forceinline__ bool inside(std::uint32_t position) const {
    return position - 8 < block_bytes_ && position + 20 <= block_bytes_;
  }
  __device__ __forceinline__ const std::uint32_t* words_at(std::uint32_t position) const {
    return reinterpret_cast<const std::uint32_t*>(reinterpret_cast<std::uintptr_t>(block_ + position) &
                                                  ~std::uintptr_t{3});
  }
  __device__ __forceinline__ std::uint32_t shift_at(std::uint32_t position) const {
    return static_cast<std::uint32_t>(reinterpret_cast<std::uintptr_t>(block_) + position) % 4 * 8;
  }
  __device__ __forceinline__ Around whole_words(std::uint32_t position) const {
    const auto* words = words_at(position);
    const std::uint32_t shift = shift_at(position);
    Around around;
    std::uint32_t low = __ldg(words - 1), high = __ldg(words);
    around.before = __funnelshift_r(low, high, shift);
#pragma unroll
    for (unsigned i = 0; i < 4; ++i) {
      low = high, high = __ldg(words + i + 1);
      around.words[i] = __funnelshift_r(low, high, shift);
    }
    return around;
  }
  __device__ Around edge(std::uint32_t position) const {
    return {
        edge_word(position - 4),
        {edge_word(position), edge_word(position + 4), edge_word(position + 8), edge_word(position + 12)}};
  }
  __device__ __noinline__ std::uint32_t edge_word(std::uint32_t position) const {
    std::uint32_t word = 0;
    for (std::uint32_t i = 0; i < 4; ++i)
      if (position + i < block_bytes_) word |= static_cast<std::uint32_t>(block_[position + i]) << (8 * i);
    return word;
  }

  const std::byte* block_;
  std::uint32_t block_bytes_;
};

// What a warp needs of shared memory.
template <class Text, unsigned kHashBits>
struct alignas(16) OnePassShared {
  std::uint32_t stage[(kOnePassStageBytes + 16) / 4];
  uint2 list[64];                         // position, choice
  std::uint16_t newest[1u << kHashBits];  // the newest position, plus one, of each hash
  typename Text::Storage text;
};

// Packings. Offsets are kept as `code`, the largest offset less the offset, so that the nearer is the larger.
//   rank    length, code: of two matches the better is the larger; 0 for none
//   found   a page: back, length, code. A block: rank; back is in words of one bit a lane
//   key     of the forward maximum: end, then lane + 1, with 0 in place of lane + 1 for what earlier rows carry in: on equal
//           ends the later position wins, which is the position's own. A page's ends count from its begin and are followed
//           by the code; a block's count from the row's begin
//   choice  usable length, code
template <class Text, unsigned kHashBits>
class OnePass {
 public:
  using Shared = OnePassShared<Text, kHashBits>;

  // By all lanes of the warp. At most `capacity` bytes are written to `output`.
  __device__ OnePass(Shared& sh, const std::byte* block, std::uint32_t block_bytes, std::byte* output,
                     std::uint64_t capacity, unsigned lane)
      : sh_(sh),
        text_(sh.text, block, block_bytes, lane),
        output_(output),
        capacity_(capacity),
        lane_(lane),
        lanes_below_((1u << lane) - 1) {
    auto* table = reinterpret_cast<uint4*>(sh_.newest);
    for (std::uint32_t i = lane; i < sizeof(sh_.newest) / 16; i += 32) table[i] = {0, 0, 0, 0};
    __syncwarp();
    hashed_end_ = block_bytes < kHashedBytes ? 0 : block_bytes - static_cast<std::uint32_t>(kHashedBytes) + 1;
  }

  static constexpr std::uint32_t kDoesNotFit = ~0u;

  // The bytes written, or kDoesNotFit.
  __device__ std::uint32_t compress() {
    // In turn a row is compared, the one behind it looked up, the one behind that loaded; and the one before it stitched.
    // Two rows at a time, so that none has to be moved.
    Around around[2] = {text_.around(0, lane_), text_.around(32, 32 + lane_)};
    Probe probe[2];
    probe[0] = look_up(around[0], 0);
    Found found[2] = {};
    for (std::uint32_t begin = 0; begin < text_.bytes() + 32; begin += 64) {
      if (begin % 128 == 0) text_.prefetch(begin + kOnePassPrefetchBytes);
#pragma unroll
      for (unsigned odd = 0; odd < 2; ++odd) {
        const std::uint32_t row = begin + odd * 32;
        probe[1 - odd] = look_up(around[1 - odd], row + 32);
        found[odd] = compare(around[odd], probe[odd], row);
        around[odd] = text_.around(row + 64, row + 64 + lane_);
        stitch_and_walk(found[1 - odd], found[odd], row - 32);
      }
      if (listed_ >= 32 && !write_list(false)) return kDoesNotFit;
    }
    if (!write_list(true)) return kDoesNotFit;
    return written_;
  }

 private:
  static constexpr bool kPage = Text::kPage;
  static constexpr unsigned kCodeBits = kPage ? 12 : 16;
  static constexpr std::uint32_t kMostOffset = (1u << kCodeBits) - 1;
  static constexpr unsigned kBackShift = 25;  // in a page's `found`
  static_assert(kPageBytes == 4096, "offsets of a page have 12 bits, lengths 13");

  struct Probe {
    bool present;
    typename Text::Candidate candidate;
  };
  struct Found {
    std::uint32_t match;
    std::uint32_t
        back[kPage ? 1 : 4];  // a block: bit i of back[k - 1]: the k bytes before the match of lane i agree
  };

  // Looks the row up, enters it, and asks for the candidates' bytes.
  //
  // Positions without a hash stand behind all others, so neither a lane nor a row that is looked up ever sees them.
  __device__ __forceinline__ Probe look_up(const Around& around, std::uint32_t row) {
    const std::uint32_t slot = hash_word(around.words[0], kHashBits);
    std::uint32_t newest = sh_.newest[slot];
    const unsigned peers = __match_any_sync(~0u, slot);
    const unsigned nearer = peers & lanes_below_;
    if (nearer != 0) newest = row + 1 + highest_bit(nearer);
    __syncwarp();
    const std::uint32_t position = row + lane_;
    if ((peers & ~lanes_below_) == 1u << lane_) sh_.newest[slot] = static_cast<std::uint16_t>(position + 1);
    __syncwarp();
    Probe probe{};
    probe.present = newest != 0 && position < hashed_end_;
    if (probe.present) probe.candidate = text_.candidate(newest - 1);
    return probe;
  }

  // The row's matches, extended, and how far they agree backwards.
  __device__ __forceinline__ Found compare(const Around& own, const Probe& probe, std::uint32_t row) {
    const std::uint32_t position = row + lane_;
    std::uint32_t match = 0, back = 0;
    if (probe.present && text_.first_word(probe.candidate) == own.words[0]) {
      const Around other = text_.around(probe.candidate);
      std::uint32_t length = 12, difference = own.words[3] ^ other.words[3];
      if (own.words[2] != other.words[2]) length = 8, difference = own.words[2] ^ other.words[2];
      if (own.words[1] != other.words[1]) length = 4, difference = own.words[1] ^ other.words[1];
      length += difference != 0 ? agreeing_low_bytes(difference) : 4;
      length = min(length, text_.bytes() - position);
      const std::uint32_t offset = position - probe.candidate.position;
      match = length << kCodeBits | (kMostOffset - offset);
      const std::uint32_t difference_before = own.before ^ other.before;
      // Nothing stands before the block.
      back =
          min(difference_before != 0 ? agreeing_high_bytes(difference_before) : 4u, probe.candidate.position);
    }
    const bool capped = match >= kOnePassCapBytes << kCodeBits;
    const unsigned open = __ballot_sync(~0u, capped);
    if (open != 0) match = extend(match, open, position);

    Found found;
    if constexpr (kPage) {
      found.match = match | back << kBackShift;
    } else {
      found.match = match;
#pragma unroll
      for (unsigned k = 1; k <= 4; ++k) found.back[k - 1] = __ballot_sync(~0u, back >= k);
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

  // The stitch for the row that begins at `row`, where `found` is (nothing, for the row before the first); decisions for the
  // positions from the one before it on; the walk over them.
  __device__ __forceinline__ void stitch_and_walk(const Found& found, const Found& next, std::uint32_t row) {
    std::uint32_t rank = kPage ? found.match & ((1u << kBackShift) - 1) : found.match;
#pragma unroll
    for (unsigned ahead = 1; ahead <= 4; ++ahead) {
      // Lanes count modulo 32: the first of the next row stand behind the last.
      const std::uint32_t other =
          __shfl_sync(~0u, lane_ < ahead ? next.match : found.match, static_cast<int>(lane_ + ahead));
      if constexpr (kPage) {
        if (other >= ahead << kBackShift)
          rank = max(rank, (other & ((1u << kBackShift) - 1)) + (ahead << kCodeBits));
      } else {
        const std::uint32_t agrees = __funnelshift_r(found.back[ahead - 1], next.back[ahead - 1], ahead);
        if ((agrees & (1u << lane_)) != 0) rank = max(rank, other + (ahead << kCodeBits));
      }
    }

    const std::uint32_t position = row + lane_;
    int length;
    std::uint32_t code;
    if constexpr (kPage) {
      std::uint32_t key = 0;
      if (rank != 0) key = ((rank >> kCodeBits) + position) << 18 | (lane_ + 1) << 12 | (rank & kMostOffset);
      key = max(forward_maximum(key), carried_key_);
      carried_key_ = __shfl_sync(~0u, key, 31) & ~(63u << 12);
      length = static_cast<int>((key >> 18) - position);
      code = key & kMostOffset;
    } else {
      std::uint32_t key = 0;
      if (rank != 0) key = ((rank >> kCodeBits) + lane_) << 6 | (lane_ + 1);
      key = max(forward_maximum(key), carried_key_);
      const std::uint32_t winner = key & 63;
      code = __shfl_sync(~0u, rank & kMostOffset, static_cast<int>(winner) - 1);
      if (winner == 0) code = carried_code_;
      const std::uint32_t last_key = __shfl_sync(~0u, key, 31) & ~63u;
      carried_key_ = last_key > 32u << 6 ? last_key - (32u << 6) : 0;
      carried_code_ = __shfl_sync(~0u, code, 31);
      length = static_cast<int>((key >> 6) - lane_);
    }

    // The last 5 bytes are literals, the last match starts 12 before the end.
    const int most = static_cast<int>(text_.bytes()) - 5 - static_cast<int>(position);
    length = min(length, most);
    if (length < static_cast<int>(kLz4MinMatchBytes) || most < 7) length = 0;
    const std::uint32_t length_bits = static_cast<std::uint32_t>(length) << kCodeBits;

    // From here on the lane speaks for the position to its left.
    const std::uint32_t turned = __shfl_sync(~0u, length_bits | code, static_cast<int>(lane_ + 31));
    const std::uint32_t left = lane_ == 0 ? last_choice_ : turned;
    last_choice_ = turned;  // lane 0 has the row's last
    const unsigned decided = __ballot_sync(~0u, left > kMostOffset && length_bits <= left);
    // `walk_` is where the walk stands, counted from this row's first decision.
    unsigned open = walk_ < 32 ? decided & (~0u << walk_) : 0, taken = 0;
    while (open != 0) {
      const std::uint32_t match = lowest_bit(open);
      taken |= 1u << match;
      walk_ = match + (__shfl_sync(~0u, left, match) >> kCodeBits);
      open &= walk_ < 32 ? ~0u << walk_ : 0;
    }
    walk_ = walk_ > 32 ? walk_ - 32 : 0;
    if ((taken & (1u << lane_)) != 0)
      sh_.list[listed_ + bit_count(taken & lanes_below_)] = {position - 1, left};
    listed_ += bit_count(taken);
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

  // Writes the first 32 sequences of the list, or, as the block's last, all that are left, which are fewer, and the last
  // literals.
  __device__ bool write_list(bool last) {
    __syncwarp();
    const std::uint32_t matches = min(listed_, 32u);
    uint2 entry{text_.bytes(), 0};  // of the lane behind the last: the last literals
    if (lane_ < matches) entry = sh_.list[lane_];
    const std::uint32_t match_length = entry.y >> kCodeBits;
    const std::uint32_t behind = entry.x + match_length;
    Placed own;
    own.literals = __shfl_up_sync(~0u, behind, 1);
    if (lane_ == 0) own.literals = literals_begin_;
    own.bytes = 0;
    own.sequence = {0, match_length, kMostOffset - (entry.y & kMostOffset)};
    if (lane_ < matches || (last && lane_ == matches)) {
      own.sequence.literal_count = entry.x - own.literals;
      own.bytes = static_cast<std::uint32_t>(lz4_sequence_bytes(own.sequence.literal_count, match_length));
    }
    std::uint32_t end = own.bytes;
#pragma unroll
    for (unsigned distance = 1; distance < 32; distance *= 2) {
      const std::uint32_t other = __shfl_up_sync(~0u, end, distance);
      if (lane_ >= distance) end += other;
    }
    own.at = end - own.bytes;
    const std::uint32_t total = __shfl_sync(~0u, end, 31);
    literals_begin_ = __shfl_sync(~0u, behind, 31);
    if (total > capacity_ - written_) return false;

    std::byte* const target = output_ + written_;
    if (total <= kOnePassStageBytes) {
      const auto misaligned = static_cast<std::uint32_t>(reinterpret_cast<std::uintptr_t>(target) % 16);
      write_sequences(own, reinterpret_cast<std::byte*>(sh_.stage) + misaligned);
      __syncwarp();
      store_stage(misaligned, total, target - misaligned);
    } else {
      write_sequences(own, target);
    }
    written_ += total;
    // The rest moves to the front.
    uint2 rest{};
    if (lane_ + 32 < listed_) rest = sh_.list[lane_ + 32];
    __syncwarp();
    if (lane_ + 32 < listed_) sh_.list[lane_] = rest;
    listed_ -= matches;
    __syncwarp();
    return true;
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

  Shared& sh_;
  Text text_;
  std::byte* output_;
  std::uint64_t capacity_;
  unsigned lane_, lanes_below_;
  std::uint32_t hashed_end_;  // behind the last position that has a hash

  std::uint32_t known_code_ = 0, known_end_ = 0,
                facts_ = 0;                           // a fact a lane: an offset, and where it ends to agree
  std::uint32_t carried_key_ = 0, carried_code_ = 0;  // what the next row inherits
  std::uint32_t last_choice_ = 0;                     // lane 0: of the last position of the row before
  // Decisions begin with the row before the first, and its first is for the position before it.
  std::uint32_t walk_ = 33;
  std::uint32_t listed_ = 0, literals_begin_ = 0, written_ = 0;
};

}  // namespace hemstitch::cuda
