// Level 1 from bytes to an LZ4 block, by one warp, in one pass from left to right: for blocks of at most 64 KB without
// history, pages among them.
//
// hash_step, the stitch, lazy and the encoder look little ahead and carry little along, so a warp takes 32 positions, a
// *row*, through all of them while the numbers are in registers; between the stages nothing is stored. A lane owns one
// position of the row.
//
//   look up    The lane's four bytes are hashed; the table gives the newest position before the row. Then the row enters.
//              The candidates' first bytes are asked for a row before they are looked at.
//   near       Whether byte p equals byte p-1, p-2, p-4 is one bit a position, one word a row: a match at such an offset is
//              a run of ones. Most rows have none, and pass on after one vote.
//   compare    The table's candidate, up to the cap of 16 bytes: four words.
//   extend     Where a match reached the cap, the warp compares on, 128 bytes a step, for the first such lane; every other
//              lane with that offset, in this row and later ones, ends where it ends. 32 such ends are remembered, one a
//              lane.
//   back       How many of the four bytes before the lane's match agree as well: what a neighbour to the left may borrow.
//   stitch     One row behind, since position p looks at p+1..p+4: four shuffles. Then the running maximum of the ends.
//   lazy       One position behind again, since p looks at p+1: the lane decides for the position to its left.
//   walk       From match to match over one word of decisions.
//   write      Sequences gather in a list. When it holds more than 24, each lane takes one: sizes, prefix sum, bytes into
//              shared memory, from there to the output in words of 16.
//
// A match found here is never cut, and never longer than a record can say: a length is the true one, or that of a true
// one's tail. So a sequence never goes on with the match before it, and there is nothing to join.
//
// Packings. A rank: length << 16 | (65535 - offset), 0 for no match: the better match is the larger. A forward key: end,
// counted from the row's begin, << 6 | (lane + 1), with 0 in place of lane + 1 for what earlier rows carry in: on equal
// ends the later position wins, which is the position's own. A choice: usable length << 16 | offset.
//
// What binds is instructions, about 230 a row, and the latency of the chain from row to row. Bounds of work: a row has at
// most 32 extensions, each of a stretch that nothing is remembered of. Shared memory a warp: the table, 1.3 KB, and for a
// page its 4 KB. Synchronisation: within the warp. CPU twins: hash_step_reference.cpp, stitch_reference.cpp,
// lazy_reference.cpp, lz4_encode_reference.cpp.
#pragma once

#include <cstddef>
#include <cstdint>

#include "core/match.hpp"
#include "core/page.hpp"
#include "format/lz4/lz4_emission.hpp"
#include "format/lz4/lz4_one_pass_tuning.hpp"
#include "match/hash_step/hash_step_tuning.hpp"
#include "match/hash_word.hpp"

namespace hemstitch::cuda {

inline constexpr std::uint32_t kOnePassCapBytes = kHashStepCapBytes;
static_assert(kOnePassCapBytes == 16 && kHashStepGroupPositions == 32, "a row is a group, a comparison four words");

// The largest block: a position, plus one, fits 16 bits wherever a hash can begin, and no length passes a record's.
inline constexpr std::uint32_t kOnePassBlockBytes = 65536;
static_assert(kOnePassBlockBytes - 1 <= kMaxRecordLength);

// A bit shorter than int casts of CUDA's intrinsics.
__device__ __forceinline__ std::uint32_t lowest_bit(std::uint32_t bits) {
  return static_cast<std::uint32_t>(__ffs(static_cast<int>(bits)) - 1);
}
// Of four bytes in which a difference is not 0: how many of the first agree, how many of the last.
__device__ __forceinline__ std::uint32_t agreeing_low_bytes(std::uint32_t difference) {
  return lowest_bit(difference) >> 3;
}
__device__ __forceinline__ std::uint32_t agreeing_high_bytes(std::uint32_t difference) {
  return static_cast<std::uint32_t>(__clz(static_cast<int>(difference))) >> 3;
}

// The table: the newest position, plus one, of each hash. enter() has all lanes; of those with a position the newest wins.
template <unsigned kHashBits>
struct MaxTable {
  static constexpr unsigned kBits = kHashBits;
  std::uint32_t newest[1u << kHashBits];
  __device__ __forceinline__ void enter(bool hashed, std::uint32_t slot, std::uint32_t position, unsigned) {
    if (hashed) atomicMax(&newest[slot], position + 1);
  }
};
template <unsigned kHashBits>
struct MatchTable {
  static constexpr unsigned kBits = kHashBits;
  std::uint16_t newest[1u << kHashBits];
  __device__ __forceinline__ void enter(bool hashed, std::uint32_t slot, std::uint32_t position,
                                        unsigned lane) {
    const unsigned peers = __match_any_sync(~0u, hashed ? slot : 1u << 31 | lane);
    if (hashed && peers >> lane == 1) newest[slot] = static_cast<std::uint16_t>(position + 1);
  }
};
template <unsigned kHashBits>
struct RetryTable {
  static constexpr unsigned kBits = kHashBits;
  std::uint16_t newest[1u << kHashBits];
  __device__ __forceinline__ void enter(bool hashed, std::uint32_t slot, std::uint32_t position, unsigned) {
    bool enters = hashed;
    do {
      if (enters) newest[slot] = static_cast<std::uint16_t>(position + 1);
      __syncwarp();
      enters = enters && newest[slot] <= position;
    } while (__any_sync(~0u, enters));
  }
};

// A page in shared memory. What is read before and behind it is there, and whatever it is it does not count.
class SharedText {
 public:
  static constexpr std::uint32_t kLead = 16, kAhead = 32;
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
    for (std::uint32_t i = 0; i < kPageBytes / 16 / 32 + 1; ++i) {
      const std::uint32_t at = (i * 32 + lane) * 16;
      if (at >= misaligned && at + 16 <= end) {
        chunks[at / 16] = *reinterpret_cast<const uint4*>(base + at);
      } else if (at < end) {
        auto* bytes = reinterpret_cast<std::byte*>(chunks);
        for (std::uint32_t j = max(at, misaligned); j < min(at + 16, end); ++j) bytes[j] = base[j];
      }
    }
    __syncwarp();
  }

  __device__ __forceinline__ std::uint32_t bytes() const { return page_bytes_; }
  // Four bytes from `position` on, which may be up to 8 before the page or at its end.
  __device__ __forceinline__ std::uint32_t word(std::uint32_t position) const {
    const std::uint32_t at = begin_ + position;
    return __funnelshift_r(sh_.words[at / 4], sh_.words[at / 4 + 1], at % 4 * 8);
  }
  __device__ __forceinline__ std::byte byte(std::uint32_t position) const {
    return reinterpret_cast<const std::byte*>(sh_.words)[begin_ + position];
  }
  __device__ __forceinline__ void prefetch(std::uint32_t) const {}

  // What is compared with a lane's own bytes: the word at `position` at once, the others later.
  struct Candidate {
    std::uint32_t at, low, high;
  };
  __device__ __forceinline__ Candidate candidate(std::uint32_t position) const {
    const std::uint32_t at = begin_ + position;
    return {at, sh_.words[at / 4], sh_.words[at / 4 + 1]};
  }
  __device__ __forceinline__ std::uint32_t first_word(const Candidate& c) const {
    return __funnelshift_r(c.low, c.high, c.at % 4 * 8);
  }
  // The words 4 before, 4, 8 and 12 behind the first.
  __device__ __forceinline__ uint4 other_words(const Candidate& c) const {
    const std::uint32_t* words = sh_.words + c.at / 4;
    const std::uint32_t shift = c.at % 4 * 8, before = words[-1], a = words[2], b = words[3], d = words[4];
    return {__funnelshift_r(before, c.low, shift), __funnelshift_r(c.high, a, shift),
            __funnelshift_r(a, b, shift), __funnelshift_r(b, d, shift)};
  }

 private:
  Storage& sh_;
  std::uint32_t page_bytes_, begin_;
};

// A block in device memory. Words are read whole where they lie inside the block with all that is read around them, else
// byte by byte; bytes outside the block are 0.
class GlobalText {
 public:
  struct Storage {};

  __device__ GlobalText(Storage&, const std::byte* block, std::uint32_t block_bytes, unsigned)
      : block_(block), block_bytes_(block_bytes) {}

  __device__ __forceinline__ std::uint32_t bytes() const { return block_bytes_; }
  __device__ __forceinline__ std::uint32_t word(std::uint32_t position) const {
    if (position - 4 < block_bytes_ && position + 8 <= block_bytes_) {  // a negative number is a huge one
      const auto address = reinterpret_cast<std::uintptr_t>(block_ + position);
      const auto* words = reinterpret_cast<const std::uint32_t*>(address & ~std::uintptr_t{3});
      return __funnelshift_r(__ldg(words), __ldg(words + 1), static_cast<std::uint32_t>(address % 4 * 8));
    }
    return edge_word(position);
  }
  __device__ __forceinline__ std::byte byte(std::uint32_t position) const { return block_[position]; }
  __device__ __forceinline__ void prefetch(std::uint32_t position) const {
#if defined(__CUDA_ARCH__)
    if (position < block_bytes_) asm volatile("prefetch.global.L2 [%0];" ::"l"(block_ + position));
#endif
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
  __device__ __forceinline__ uint4 other_words(const Candidate& c) const {
    if (inside(c.position)) {
      const auto* words = words_at(c.position);
      const std::uint32_t shift = shift_at(c.position);
      const std::uint32_t before = __ldg(words - 1), a = __ldg(words + 2), b = __ldg(words + 3),
                          d = __ldg(words + 4);
      return {__funnelshift_r(before, c.low, shift), __funnelshift_r(c.high, a, shift),
              __funnelshift_r(a, b, shift), __funnelshift_r(b, d, shift)};
    }
    return {edge_word(c.position - 4), edge_word(c.position + 4), edge_word(c.position + 8),
            edge_word(c.position + 12)};
  }

 private:
  // Whether all words around a candidate are the block's.
  __device__ __forceinline__ bool inside(std::uint32_t position) const {
    return position - 8 < block_bytes_ && position + 20 <= block_bytes_;
  }
  __device__ __forceinline__ const std::uint32_t* words_at(std::uint32_t position) const {
    return reinterpret_cast<const std::uint32_t*>(reinterpret_cast<std::uintptr_t>(block_ + position) &
                                                  ~std::uintptr_t{3});
  }
  __device__ __forceinline__ std::uint32_t shift_at(std::uint32_t position) const {
    return static_cast<std::uint32_t>(reinterpret_cast<std::uintptr_t>(block_ + position) % 4 * 8);
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
template <class Text, class Table>
struct alignas(16) OnePassShared {
  std::uint32_t stage[(kOnePassStageBytes + 16) / 4];
  uint2 list[32];  // position, choice
  Table table;
  typename Text::Storage text;
};

template <class Text, class Table>
class OnePass {
 public:
  using Shared = OnePassShared<Text, Table>;

  // By all lanes of the warp. At most `capacity` bytes are written to `output`.
  __device__ OnePass(Shared& sh, const std::byte* block, std::uint32_t block_bytes, std::byte* output,
                     std::uint64_t capacity, unsigned lane)
      : sh_(sh), text_(sh.text, block, block_bytes, lane), output_(output), capacity_(capacity), lane_(lane) {
    auto* table = reinterpret_cast<uint4*>(sh_.table.newest);
    for (std::uint32_t i = lane; i < sizeof(sh_.table) / 16; i += 32) table[i] = {0, 0, 0, 0};
    __syncwarp();
  }

  static constexpr std::uint32_t kDoesNotFit = ~0u;

  // The bytes written, or kDoesNotFit.
  __device__ std::uint32_t compress() {
    const std::uint32_t rows = (text_.bytes() + 31) / 32;
    const auto position = [&](std::uint32_t row) { return row * 32 + lane_; };
    // In turn `row` is compared, the one behind it is looked up, the one behind that is loaded; and the one before it is
    // stitched.
    const std::uint32_t first_bytes = lane_ >= 28 ? text_.word(lane_ - 32) : 0;  // the last one ends with byte 2
    Row here = complete(text_.word(position(0)), first_bytes, position(0));
    Row next = complete(text_.word(position(1)), here.word, position(1));
    Probe probe = look_up(here, position(0));
    Found found{};
    for (std::uint32_t row = 0; row <= rows; ++row) {
      const std::uint32_t loaded = text_.word(position(row + 2));
      if (row % 4 == 0) text_.prefetch((row + kOnePassPrefetchRows) * 32);
      const Probe next_probe = look_up(next, position(row + 1));
      const Found before = found;
      found = compare(here, next, probe, position(row));
      if (row > 0 && !stitch_and_walk(before, found, (row - 1) * 32)) return kDoesNotFit;
      here = next;
      next = complete(loaded, next.word, position(row + 2));
      probe = next_probe;
    }
    if (!write_list(true)) return kDoesNotFit;
    return written_;
  }

 private:
  // A lane's part of a row.
  struct Row {
    std::uint32_t word, before;               // its four bytes and the four before them
    std::uint32_t equal_1, equal_2, equal_4;  // bit i: the row's byte i equals the one 1, 2, 4 before it
  };
  struct Probe {
    std::uint32_t offset;  // of the table's candidate, 0 for none
    typename Text::Candidate candidate;
  };
  // What is found in a row.
  struct Found {
    std::uint32_t rank;
    std::uint32_t back[4];  // bit i of back[k - 1]: the k bytes before the match of lane i agree
  };

  static __device__ std::uint32_t rank_of(std::uint32_t length, std::uint32_t offset) {
    return length << 16 | (0xFFFF - offset);
  }
  static __device__ std::uint32_t offset_of(std::uint32_t rank) { return 0xFFFF - (rank & 0xFFFF); }

  __device__ bool hashed(std::uint32_t position) const { return position + kHashedBytes <= text_.bytes(); }

  __device__ Row complete(std::uint32_t word, std::uint32_t word_before, std::uint32_t position) const {
    Row row;
    row.word = word;
    row.before = __shfl_sync(~0u, lane_ >= 28 ? word_before : word, (lane_ + 28) % 32);
    // The position's own byte four times, against the four before it.
    const std::uint32_t difference = __byte_perm(word, 0, 0) ^ row.before;
    const bool inside = position < text_.bytes();
    row.equal_1 = __ballot_sync(~0u, (difference & 0xFF000000u) == 0 && inside && position >= 1);
    row.equal_2 = __ballot_sync(~0u, (difference & 0x00FF0000u) == 0 && inside && position >= 2);
    row.equal_4 = __ballot_sync(~0u, (difference & 0x000000FFu) == 0 && inside && position >= 4);
    return row;
  }

  // Looks the row up, enters it, and asks for the candidates' bytes.
  __device__ Probe look_up(const Row& row, std::uint32_t position) {
    const bool enters = hashed(position);
    const std::uint32_t slot = hash_word(row.word, Table::kBits);
    const std::uint32_t newest = enters ? sh_.table.newest[slot] : 0;
    __syncwarp();
    sh_.table.enter(enters, slot, position, lane_);
    __syncwarp();
    Probe probe{};
    if (newest != 0) probe = {position + 1 - newest, text_.candidate(newest - 1)};
    return probe;
  }

  // The row's best matches, extended, and how far they agree backwards.
  __device__ Found compare(const Row& row, const Row& next, const Probe& probe, std::uint32_t position) {
    // The word `ahead` lanes further on.
    const auto word_ahead = [&](unsigned ahead) {
      return __shfl_sync(~0u, lane_ < ahead ? next.word : row.word, (lane_ + ahead) % 32);
    };
    const std::uint32_t own_1 = word_ahead(4), own_2 = word_ahead(8), own_3 = word_ahead(12);
    std::uint32_t rank = 0, candidate_before = 0;

    const std::uint32_t run_1 = __funnelshift_r(row.equal_1, next.equal_1, lane_);
    const std::uint32_t run_2 = __funnelshift_r(row.equal_2, next.equal_2, lane_);
    const std::uint32_t run_4 = __funnelshift_r(row.equal_4, next.equal_4, lane_);
    const auto holds = [](std::uint32_t run) { return (run & 15) == 15; };
    if (__any_sync(~0u, holds(run_1) || holds(run_2) || holds(run_4))) {
      // Bits behind the end of the block are 0, so that no run passes it.
      const auto consider = [&](std::uint32_t run, std::uint32_t offset) {
        const std::uint32_t length = lowest_bit(~run | 1u << kOnePassCapBytes);
        if (length >= kHashedBytes) rank = max(rank, rank_of(length, offset));
      };
      consider(run_1, 1);
      consider(run_2, 2);
      consider(run_4, 4);
    }

    if (probe.offset != 0 && text_.first_word(probe.candidate) == row.word) {
      const uint4 others = text_.other_words(probe.candidate);
      candidate_before = others.x;
      std::uint32_t length = 12, difference = own_3 ^ others.w;
      if (own_2 != others.z) length = 8, difference = own_2 ^ others.z;
      if (own_1 != others.y) length = 4, difference = own_1 ^ others.y;
      length += difference != 0 ? agreeing_low_bytes(difference) : 4;
      rank = max(rank, rank_of(min(length, text_.bytes() - position), probe.offset));
    }

    if (__any_sync(~0u, rank >> 16 >= kOnePassCapBytes)) rank = extend(rank, position);

    std::uint32_t back = 0;
    if (rank != 0) {
      const std::uint32_t offset = offset_of(rank);
      if (offset != probe.offset) candidate_before = text_.word(position - offset - 4);
      const std::uint32_t difference = candidate_before ^ row.before;
      // Nothing stands before the block.
      back = min(difference != 0 ? agreeing_high_bytes(difference) : 4u, position - offset);
    }
    Found found;
    found.rank = rank;
#pragma unroll
    for (unsigned k = 1; k <= 4; ++k) found.back[k - 1] = __ballot_sync(~0u, back >= k);
    return found;
  }

  // Replaces every length that reached the cap by the true one.
  __device__ std::uint32_t extend(std::uint32_t rank, std::uint32_t position) {
    const std::uint32_t offset = offset_of(rank);
    unsigned open = __ballot_sync(~0u, rank >> 16 >= kOnePassCapBytes);
    do {
      const std::uint32_t leader = lowest_bit(open);
      const std::uint32_t leader_offset = __shfl_sync(~0u, offset, leader);
      const std::uint32_t leader_position = __shfl_sync(~0u, position, leader);
      // What is known holds from some position before this one on.
      const unsigned knows = __ballot_sync(~0u, known_offset_ == leader_offset && leader_position < known_end_);
      std::uint32_t end;
      if (knows != 0) {
        end = __shfl_sync(~0u, known_end_, lowest_bit(knows));
      } else {
        end = agreement_end(leader_position + kOnePassCapBytes, leader_offset);
        if (lane_ == facts_ % 32) known_offset_ = leader_offset, known_end_ = end;
        ++facts_;
      }
      const bool ends_there = (open >> lane_ & 1) != 0 && offset == leader_offset && position < end;
      if (ends_there) rank = rank_of(end - position, offset);
      open &= ~__ballot_sync(~0u, ends_there);
    } while (open != 0);
    return rank;
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

  // The stitch for the row that begins at `row_begin`, where `found` is; decisions for the positions from the one before it
  // on; the walk over them. False where the output does not fit.
  __device__ bool stitch_and_walk(const Found& found, const Found& next, std::uint32_t row_begin) {
    std::uint32_t rank = found.rank;
#pragma unroll
    for (unsigned ahead = 1; ahead <= 4; ++ahead) {
      const std::uint32_t other =
          __shfl_sync(~0u, lane_ < ahead ? next.rank : found.rank, (lane_ + ahead) % 32);
      const std::uint32_t agrees = __funnelshift_r(found.back[ahead - 1], next.back[ahead - 1], ahead);
      if ((agrees >> lane_ & 1) != 0) rank = max(rank, other + (ahead << 16));
    }

    std::uint32_t key = rank != 0 ? (lane_ + (rank >> 16)) << 6 | (lane_ + 1) : 0;
#pragma unroll
    for (unsigned distance = 1; distance < 32; distance *= 2)
      key = max(key, __shfl_up_sync(~0u, key, distance));  // a lane without a left neighbour gets its own
    key = max(key, carried_end_ << 6);
    const std::uint32_t winner = key & 63, end = key >> 6;
    std::uint32_t offset = __shfl_sync(~0u, offset_of(rank), winner - 1);
    if (winner == 0) offset = carried_offset_;

    // The last 5 bytes are literals, the last match starts 12 before the end.
    const int most = static_cast<int>(text_.bytes()) - 5 - static_cast<int>(row_begin + lane_);
    int length = min(static_cast<int>(end) - static_cast<int>(lane_), most);
    if (length < static_cast<int>(kLz4MinMatchBytes) || most < 7) length = 0;
    const std::uint32_t choice = static_cast<std::uint32_t>(length) << 16 | offset;

    const std::uint32_t last_end = __shfl_sync(~0u, end, 31);
    carried_end_ = last_end > 32 ? last_end - 32 : 0;
    carried_offset_ = __shfl_sync(~0u, offset, 31);

    // From here on the lane speaks for the position to its left.
    const std::uint32_t turned = __shfl_sync(~0u, choice, (lane_ + 31) % 32);
    const std::uint32_t left = lane_ == 0 ? last_choice_ : turned;
    last_choice_ = turned;  // lane 0 has the row's last
    const unsigned decided =
        __ballot_sync(~0u, left >> 16 != 0 && static_cast<std::uint32_t>(length) <= left >> 16);
    // `walk_` is where the walk stands, counted from this row's first decision.
    unsigned open = walk_ < 32 ? decided & (~0u << walk_) : 0, taken = 0;
    while (open != 0) {
      const std::uint32_t match = lowest_bit(open);
      taken |= 1u << match;
      walk_ = match + (__shfl_sync(~0u, left, match) >> 16);
      open &= walk_ < 32 ? ~0u << walk_ : 0;
    }
    walk_ = walk_ > 32 ? walk_ - 32 : 0;
    if (taken == 0) return true;
    if (taken >> lane_ & 1)
      sh_.list[listed_ + static_cast<std::uint32_t>(__popc(taken & ((1u << lane_) - 1)))] = {
          row_begin + lane_ - 1, left};
    listed_ += static_cast<std::uint32_t>(__popc(taken));
    __syncwarp();
    return listed_ <= 24 || write_list(false);
  }

  // A lane's sequence, and where it is written.
  struct Placed {
    Sequence sequence;
    std::uint32_t bytes, at, literals;  // bytes is 0 where the lane has none
  };

  // Writes the sequences of the list; the last literals behind them if they are the block's last.
  __device__ bool write_list(bool last) {
    uint2 entry{text_.bytes(), 0};  // of the lane behind the last: the last literals
    if (lane_ < listed_) entry = sh_.list[lane_];
    const std::uint32_t match_length = entry.y >> 16;
    const std::uint32_t behind = entry.x + match_length;
    Placed own;
    own.literals = __shfl_up_sync(~0u, behind, 1);
    if (lane_ == 0) own.literals = literals_begin_;
    own.bytes = 0;
    own.sequence = {0, match_length, entry.y & 0xFFFF};
    if (lane_ < listed_ + (last ? 1 : 0)) {
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
    if (listed_ != 0) literals_begin_ = __shfl_sync(~0u, behind, listed_ - 1);
    listed_ = 0;
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
    __syncwarp();  // list and stage are used again
    written_ += total;
    return true;
  }

  __device__ __forceinline__ void write_sequences(const Placed& own, std::byte* place) const {
    const std::uint32_t count = own.sequence.literal_count;
    std::uint32_t at = own.at;
    const auto put = [&](std::uint32_t i, std::uint32_t byte) { place[at + i] = static_cast<std::byte>(byte); };
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
  __device__ __forceinline__ void copy_run(std::byte* target, std::uint32_t source, std::uint32_t count) const {
    constexpr std::uint32_t kWords = 4;
    std::uint32_t done = 0;
    if (count >= kWords * 128) {
      const auto lead = static_cast<std::uint32_t>(-reinterpret_cast<std::uintptr_t>(target) % 4);
      if (lane_ < lead) target[lane_] = text_.byte(source + lane_);
      for (done = lead; done + kWords * 128 <= count; done += kWords * 128) {
        std::uint32_t words[kWords];
#pragma unroll
        for (std::uint32_t i = 0; i < kWords; ++i) words[i] = text_.word(source + done + (i * 32 + lane_) * 4);
#pragma unroll
        for (std::uint32_t i = 0; i < kWords; ++i)
          *reinterpret_cast<std::uint32_t*>(target + done + (i * 32 + lane_) * 4) = words[i];
      }
    }
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
  unsigned lane_;

  std::uint32_t known_offset_ = 0, known_end_ = 0, facts_ = 0;  // a fact a lane: an offset, and where it ends to agree
  std::uint32_t carried_end_ = 0, carried_offset_ = 0;          // what the next row inherits
  std::uint32_t last_choice_ = 0;                               // lane 0: of the last position of the row before
  std::uint32_t walk_ = 1;  // the first decision of the first row is for a position before the block
  std::uint32_t listed_ = 0, literals_begin_ = 0, written_ = 0;
};

}  // namespace hemstitch::cuda
