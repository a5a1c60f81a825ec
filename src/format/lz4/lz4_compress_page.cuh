// A page at level 1 from bytes to LZ4, by one warp, in one pass from left to right.
//
// hash_step, the stitch, lazy and the encoder look little ahead and carry little along, so a warp takes 32 positions, a
// *row*, through all of them while the numbers are in registers; between the stages nothing is stored. A lane owns one
// position of the row.
//
//   look up    The lane's four bytes are hashed; the table gives the newest position before the row. Then the row enters.
//   near       Whether byte p equals byte p-1, p-2, p-4 is one bit a position, one word a row: a match at such an offset is
//              a run of ones. Most rows have none, and pass on after one vote.
//   compare    The table's candidate, up to the cap of 16 bytes: four words.
//   extend     Where a match reached the cap, the warp compares on, 128 bytes a step, for the first such lane; every other
//              lane with that offset, in this row and the following ones, ends where it ends.
//   back       How many of the four bytes before the lane's match agree as well: what a neighbour to the left may borrow.
//   stitch     One row behind, since position p looks at p+1..p+4: four shuffles. Then the running maximum of the ends.
//   lazy       One position behind again, since p looks at p+1: the lane decides for the position to its left.
//   walk       From match to match over one word of decisions.
//   write      Sequences gather in a list. When it holds more than 24, each lane takes one: sizes, prefix sum, bytes into
//              shared memory, from there to the output in words of 16.
//
// A match found here is never cut: a length is the true one, or that of a true one's tail. So a sequence never goes on with
// the match before it, and there is nothing to join.
//
// Packings. A match, `found`: length << 15 | (4095 - offset) << 3 | back: of two the better is the larger, whatever `back`
// is. A forward key: end << 18 | (lane + 1) << 12 | (4095 - offset), lane + 1 = 0 for what the row before carries in: on
// equal ends the later position wins, which is the position's own.
//
// Bounds of work: a row has at most 32 extensions of at most 32 steps. Shared memory a page: 4 KB of data, the table, 1.3
// KB. Synchronisation: within the warp. CPU twins: hash_step_reference.cpp, stitch_reference.cpp, lazy_reference.cpp,
// lz4_encode_reference.cpp.
#pragma once

#include <cstddef>
#include <cstdint>

#include "core/page.hpp"
#include "format/lz4/lz4_compress_page_tuning.hpp"
#include "format/lz4/lz4_emission.hpp"
#include "match/hash_step/hash_step_tuning.hpp"
#include "match/hash_word.hpp"

namespace hemstitch::cuda {

inline constexpr unsigned kPageHashBits = hash_step_bits(kPageBytes);
inline constexpr std::uint32_t kPageCapBytes = kHashStepCapBytes;
static_assert(kPageCapBytes == 16 && kHashStepGroupPositions == 32,
              "a row is a group, a comparison four words");
static_assert(kPageBytes == 4096, "positions have 12 bits, lengths and ends 13");

// Two tables of the newest position (plus one) of each hash: enter() has all lanes, of which those with a position enter it,
// the newest winning.
struct MaxTable {
  std::uint32_t newest[1u << kPageHashBits];
  __device__ __forceinline__ void enter(bool hashed, std::uint32_t slot, std::uint32_t position, unsigned) {
    if (hashed) atomicMax(&newest[slot], position + 1);
  }
};
struct MatchTable {
  std::uint16_t newest[1u << kPageHashBits];
  __device__ __forceinline__ void enter(bool hashed, std::uint32_t slot, std::uint32_t position,
                                        unsigned lane) {
    const unsigned peers = __match_any_sync(~0u, hashed ? slot : 1u << 31 | lane);
    if (hashed && peers >> lane == 1) newest[slot] = static_cast<std::uint16_t>(position + 1);
  }
};
struct RetryTable {
  std::uint16_t newest[1u << kPageHashBits];
  __device__ __forceinline__ void enter(bool hashed, std::uint32_t slot, std::uint32_t position, unsigned) {
    bool enters = hashed;
    do {
      if (enters) newest[slot] = static_cast<std::uint16_t>(position + 1);
      __syncwarp();
      enters = enters && newest[slot] <= position;
    } while (__any_sync(~0u, enters));
  }
};

// What a warp needs of shared memory.
template <class Table>
struct alignas(16) PageShared {
  // The page stands at kLead + its own misalignment, so that it is loaded in words of 16 bytes.
  static constexpr std::uint32_t kLead = 16, kAhead = 32;
  std::uint32_t text[(kLead + 16 + kPageBytes + kAhead) / 4];
  std::uint32_t stage[(kPageStageBytes + 16) / 4];
  uint2 list[32];  // position | length << 16, offset
  alignas(16) Table table;
};

// The four bytes at byte `at` of words in shared memory.
__device__ __forceinline__ std::uint32_t word_at(const std::uint32_t* words, std::uint32_t at) {
  return __funnelshift_r(words[at / 4], words[at / 4 + 1], at % 4 * 8);
}

// Four bytes in which a difference is not 0: how many of the first agree, how many of the last.
__device__ __forceinline__ std::uint32_t agreeing_low_bytes(std::uint32_t difference) {
  return static_cast<std::uint32_t>(__ffs(static_cast<int>(difference)) - 1) >> 3;
}
__device__ __forceinline__ std::uint32_t agreeing_high_bytes(std::uint32_t difference) {
  return static_cast<std::uint32_t>(__clz(static_cast<int>(difference))) >> 3;
}

template <class Table>
class PageCompressor {
  using Shared = PageShared<Table>;

 public:
  // All lanes of the warp. Writes at most `capacity` bytes to `output`.
  __device__ PageCompressor(Shared& sh, const std::byte* page, std::uint32_t page_bytes, std::byte* output,
                            std::uint64_t capacity, unsigned lane)
      : sh_(sh), page_bytes_(page_bytes), output_(output), capacity_(capacity), lane_(lane) {
    load(page);
  }

  static constexpr std::uint32_t kDoesNotFit = ~0u;

  // The bytes written, or kDoesNotFit.
  __device__ std::uint32_t compress() {
    const std::uint32_t rows = (page_bytes_ + 31) / 32;
    // The row ahead: its words and near equalities; and its matches.
    Row next = read_row(0);
    std::uint32_t found = 0, found_next = 0;
    for (std::uint32_t row = 0; row <= rows; ++row) {
      // `found_next` becomes what is found in row `row`; `found` is what was found in the one before.
      const Row here = next;
      next = row + 1 < rows ? read_row(row + 1) : Row{};
      found = found_next;
      found_next = row < rows ? find(here, next, row * 32 + lane_) : 0;
      if (row > 0 && !stitch_and_walk(found, found_next, (row - 1) * 32)) return kDoesNotFit;
    }
    if (!write_list(true)) return kDoesNotFit;
    return written_;
  }

 private:
  // A lane's part of a row.
  struct Row {
    std::uint32_t before, word, word_behind;  // the aligned words around its position, as they are shifted in
    std::uint32_t equal_1, equal_2, equal_4;  // bit i: the row's byte i equals the one 1, 2, 4 before it
  };

  __device__ void load(const std::byte* page) {
    const auto misaligned = static_cast<std::uint32_t>(reinterpret_cast<std::uintptr_t>(page) % 16);
    begin_ = Shared::kLead + misaligned;
    auto* text = reinterpret_cast<uint4*>(sh_.text) + 1;
    const std::byte* base = page - misaligned;
    const std::uint32_t end = misaligned + page_bytes_;
#pragma unroll
    for (std::uint32_t i = 0; i < kPageBytes / 16 / 32 + 1; ++i) {
      const std::uint32_t at = (i * 32 + lane_) * 16;
      if (at >= misaligned && at + 16 <= end) {
        text[at / 16] = *reinterpret_cast<const uint4*>(base + at);
      } else if (at < end) {
        auto* bytes = reinterpret_cast<std::byte*>(text);
        for (std::uint32_t j = at < misaligned ? misaligned : at; j < at + 16 && j < end; ++j)
          bytes[j] = base[j];
      }
    }
    auto* table = reinterpret_cast<uint4*>(sh_.table.newest);
#pragma unroll
    for (std::uint32_t i = 0; i < sizeof(sh_.table) / 16 / 32; ++i) table[i * 32 + lane_] = {0, 0, 0, 0};
    __syncwarp();
  }

  __device__ Row read_row(std::uint32_t row) const {
    Row read;
    const std::uint32_t at = begin_ + row * 32 + lane_;
    const std::uint32_t* words = sh_.text + at / 4;
    const std::uint32_t shift = at % 4 * 8;
    read.word_behind = words[1];
    read.before = __funnelshift_r(words[-1], words[0], shift);
    read.word = __funnelshift_r(words[0], words[1], shift);
    // The position's own byte four times, against the four before it.
    const std::uint32_t difference = __byte_perm(read.word, 0, 0) ^ read.before;
    const std::uint32_t position = row * 32 + lane_;
    const bool inside = position < page_bytes_;
    read.equal_1 = __ballot_sync(~0u, (difference & 0xFF000000u) == 0 && inside && position >= 1);
    read.equal_2 = __ballot_sync(~0u, (difference & 0x00FF0000u) == 0 && inside && position >= 2);
    read.equal_4 = __ballot_sync(~0u, (difference & 0x000000FFu) == 0 && inside && position >= 4);
    return read;
  }

  static __device__ std::uint32_t pack(std::uint32_t length, std::uint32_t offset) {
    return length << 15 | (4095 - offset) << 3;
  }
  static __device__ std::uint32_t offset_of(std::uint32_t found) { return 4095 - (found >> 3 & 4095); }
  static __device__ std::uint32_t length_of(std::uint32_t found) { return found >> 15; }

  // The lane's best match, extended, and how far it agrees backwards.
  __device__ std::uint32_t find(const Row& row, const Row& next, std::uint32_t position) {
    const bool hashed = position + kHashedBytes <= page_bytes_;
    const std::uint32_t slot = hash_word(row.word, kPageHashBits);
    const std::uint32_t newest = hashed ? sh_.table.newest[slot] : 0;
    __syncwarp();
    sh_.table.enter(hashed, slot, position, lane_);
    __syncwarp();

    const std::uint32_t limit = hashed ? min(kPageCapBytes, page_bytes_ - position) : 0;
    std::uint32_t found = 0;

    const std::uint32_t run_1 = __funnelshift_r(row.equal_1, next.equal_1, lane_);
    const std::uint32_t run_2 = __funnelshift_r(row.equal_2, next.equal_2, lane_);
    const std::uint32_t run_4 = __funnelshift_r(row.equal_4, next.equal_4, lane_);
    const auto holds = [](std::uint32_t run) { return (run & 15) == 15; };
    if (__any_sync(~0u, holds(run_1) || holds(run_2) || holds(run_4))) {
      // Bits behind the end of the page are 0, so that no run passes it.
      const auto consider = [&](std::uint32_t run, std::uint32_t offset) {
        const auto length =
            static_cast<std::uint32_t>(__ffs(static_cast<int>(~run | 1u << kPageCapBytes)) - 1);
        if (length >= kHashedBytes) found = max(found, pack(length, offset));
      };
      consider(run_1, 1);
      consider(run_2, 2);
      consider(run_4, 4);
    }

    const std::uint32_t at = begin_ + position;
    if (newest != 0) {
      const std::uint32_t candidate = begin_ + newest - 1;
      const std::uint32_t* words = sh_.text + candidate / 4;
      const std::uint32_t shift = candidate % 4 * 8;
      const std::uint32_t second = words[1];
      if (__funnelshift_r(words[0], second, shift) == row.word) {
        const std::uint32_t* own = sh_.text + at / 4;
        const std::uint32_t own_shift = at % 4 * 8;
        const std::uint32_t own_2 = own[2], own_3 = own[3], own_4 = own[4];
        const std::uint32_t third = words[2], fourth = words[3], fifth = words[4];
        const std::uint32_t difference_1 =
            __funnelshift_r(row.word_behind, own_2, own_shift) ^ __funnelshift_r(second, third, shift);
        const std::uint32_t difference_2 =
            __funnelshift_r(own_2, own_3, own_shift) ^ __funnelshift_r(third, fourth, shift);
        const std::uint32_t difference_3 =
            __funnelshift_r(own_3, own_4, own_shift) ^ __funnelshift_r(fourth, fifth, shift);
        std::uint32_t length = 12, difference = difference_3;
        if (difference_2 != 0) length = 8, difference = difference_2;
        if (difference_1 != 0) length = 4, difference = difference_1;
        length += difference != 0 ? agreeing_low_bytes(difference) : 4;
        found = max(found, pack(min(length, limit), position + 1 - newest));
      }
    }

    if (__any_sync(~0u, length_of(found) >= kPageCapBytes)) found = extend(found, position);

    if (found != 0) {
      const std::uint32_t offset = offset_of(found);
      const std::uint32_t difference = word_at(sh_.text, at - offset - 4) ^ row.before;
      // Nothing stands before the page.
      found |= min(difference != 0 ? agreeing_high_bytes(difference) : 4u, position - offset);
    }
    return found;
  }

  // Replaces every length that reached the cap by the true one.
  __device__ std::uint32_t extend(std::uint32_t found, std::uint32_t position) {
    const std::uint32_t offset = offset_of(found);
    bool open = length_of(found) >= kPageCapBytes;
    for (;;) {
      // What is known holds from some position before this row, or from this row's last leader on.
      if (open && offset == known_offset_ && position < known_end_) {
        found = pack(known_end_ - position, offset);
        open = false;
      }
      const unsigned rest = __ballot_sync(~0u, open);
      if (rest == 0) return found;
      const int leader = __ffs(static_cast<int>(rest)) - 1;
      known_offset_ = __shfl_sync(~0u, offset, leader);
      known_end_ = agreement_end(__shfl_sync(~0u, position, leader) + kPageCapBytes, known_offset_);
    }
  }

  // Where the bytes from `from` on stop agreeing with those `offset` before them.
  __device__ std::uint32_t agreement_end(std::uint32_t from, std::uint32_t offset) const {
    for (; from < page_bytes_; from += 128) {
      // What is read behind the page lies in the page's shared memory, and does not count.
      const std::uint32_t at = min(from + lane_ * 4, page_bytes_);
      const std::uint32_t difference =
          word_at(sh_.text, begin_ + at) ^ word_at(sh_.text, begin_ + at - offset);
      const unsigned differs = __ballot_sync(~0u, difference != 0);
      if (differs != 0) {
        const int first = __ffs(static_cast<int>(differs)) - 1;
        const std::uint32_t agreed = agreeing_low_bytes(__shfl_sync(~0u, difference, first));
        return min(from + static_cast<std::uint32_t>(first) * 4 + agreed, page_bytes_);
      }
    }
    return page_bytes_;
  }

  // The stitch for the row that begins at `row_begin`; decisions for the positions from the one before it on; the walk
  // over them. False where the output does not fit.
  __device__ bool stitch_and_walk(std::uint32_t found, std::uint32_t found_next, std::uint32_t row_begin) {
    std::uint32_t stitched = found;
#pragma unroll
    for (std::uint32_t ahead = 1; ahead <= 4; ++ahead) {
      const std::uint32_t ahead_found =
          __shfl_sync(~0u, lane_ < ahead ? found_next : found, (lane_ + ahead) % 32);
      if ((ahead_found & 7) >= ahead) stitched = max(stitched, ahead_found + (ahead << 15));
    }

    const std::uint32_t position = row_begin + lane_;
    std::uint32_t key = 0;
    if (stitched != 0)
      key = (position + length_of(stitched)) << 18 | (lane_ + 1) << 12 | (stitched >> 3 & 4095);
#pragma unroll
    for (unsigned distance = 1; distance < 32; distance *= 2)
      key = max(key, __shfl_up_sync(~0u, key, distance));  // a lane without a left neighbour gets its own
    key = max(key, carried_);
    carried_ = __shfl_sync(~0u, key, 31) & ~(63u << 12);

    // The last 5 bytes are literals, the last match starts 12 before the end.
    const int most = static_cast<int>(page_bytes_) - 5 - static_cast<int>(position);
    int length = min(static_cast<int>(key >> 18) - static_cast<int>(position), most);
    if (length < static_cast<int>(kLz4MinMatchBytes) || most < 7) length = 0;

    // From here on the lane speaks for the position to its left.
    int left_length = __shfl_up_sync(~0u, length, 1);
    std::uint32_t left_offset = 4095 - (__shfl_up_sync(~0u, key, 1) & 4095);
    if (lane_ == 0) left_length = last_length_, left_offset = last_offset_;
    last_length_ = __shfl_sync(~0u, length, 31);
    last_offset_ = 4095 - (carried_ & 4095);

    const unsigned decided = __ballot_sync(~0u, left_length != 0 && length <= left_length);
    // `walk_` is where the walk stands, counted from this row's first decision.
    unsigned open = walk_ < 32 ? decided & (~0u << walk_) : 0, taken = 0;
    while (open != 0) {
      const int match = __ffs(static_cast<int>(open)) - 1;
      taken |= 1u << match;
      walk_ = static_cast<std::uint32_t>(match + __shfl_sync(~0u, left_length, match));
      open &= walk_ < 32 ? ~0u << walk_ : 0;
    }
    walk_ = walk_ > 32 ? walk_ - 32 : 0;
    if (taken == 0) return true;
    if (taken >> lane_ & 1)
      sh_.list[listed_ + static_cast<std::uint32_t>(__popc(taken & ((1u << lane_) - 1)))] = {
          position - 1 | static_cast<std::uint32_t>(left_length) << 16, left_offset};
    listed_ += static_cast<std::uint32_t>(__popc(taken));
    __syncwarp();
    return listed_ <= 24 || write_list(false);
  }

  // Writes the sequences of the list; the last literals behind them if they are the page's last.
  __device__ bool write_list(bool last) {
    uint2 entry{page_bytes_, 0};  // of the lane behind the last: the last literals
    if (lane_ < listed_) entry = sh_.list[lane_];
    const std::uint32_t position = entry.x & 0xFFFF, match_length = entry.x >> 16;
    std::uint32_t literals = __shfl_up_sync(~0u, position + match_length, 1);
    if (lane_ == 0) literals = literals_begin_;
    const std::uint32_t literal_count = position - literals;
    const std::uint32_t sequences = listed_ + (last ? 1 : 0);
    const std::uint32_t bytes =
        lane_ < sequences ? static_cast<std::uint32_t>(lz4_sequence_bytes(literal_count, match_length)) : 0;
    std::uint32_t end = bytes;
#pragma unroll
    for (unsigned distance = 1; distance < 32; distance *= 2) {
      const std::uint32_t other = __shfl_up_sync(~0u, end, distance);
      if (lane_ >= distance) end += other;
    }
    const std::uint32_t total = __shfl_sync(~0u, end, 31);
    if (listed_ != 0) literals_begin_ = __shfl_sync(~0u, position + match_length, listed_ - 1);
    listed_ = 0;
    if (total > capacity_ - written_) return false;

    const Sequence sequence{lane_ < sequences ? literal_count : 0, match_length, entry.y};
    std::byte* const target = output_ + written_;
    if (total <= kPageStageBytes) {
      const auto misaligned = static_cast<std::uint32_t>(reinterpret_cast<std::uintptr_t>(target) % 16);
      auto* stage = reinterpret_cast<std::byte*>(sh_.stage) + misaligned;
      write_sequences(sequence, bytes, end - bytes, literals, stage);
      __syncwarp();
      store_stage(misaligned, total, target - misaligned);
    } else {
      write_sequences(sequence, bytes, end - bytes, literals, target);
    }
    __syncwarp();  // list and stage are used again
    written_ += total;
    return true;
  }

  __device__ __forceinline__ void write_sequences(const Sequence& sequence, std::uint32_t bytes,
                                                  std::uint32_t at, std::uint32_t literals,
                                                  std::byte* place) const {
    const auto* text = reinterpret_cast<const std::byte*>(sh_.text) + begin_;
    const auto put = [&](std::uint32_t i, std::uint32_t byte) {
      place[at + i] = static_cast<std::byte>(byte);
    };
    const std::uint32_t count = sequence.literal_count;
    if (bytes != 0) {
      at += put_lz4_head(count, sequence.match_length, put);
      if (count <= kLaneLiteralBytes)
        for (std::uint32_t i = 0; i < count; ++i) place[at + i] = text[literals + i];
      at += count;
      put_lz4_tail(sequence.offset, sequence.match_length, put);
      at -= count;
    }
    unsigned runs = __ballot_sync(~0u, count > kLaneLiteralBytes);
    for (; runs != 0; runs &= runs - 1) {
      const int owner = __ffs(static_cast<int>(runs)) - 1;
      const std::uint32_t run_at = __shfl_sync(~0u, at, owner),
                          run_source = __shfl_sync(~0u, literals, owner);
      const std::uint32_t run_count = __shfl_sync(~0u, count, owner);
      for (std::uint32_t i = lane_; i < run_count; i += 32) place[run_at + i] = text[run_source + i];
    }
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
  std::uint32_t page_bytes_;
  std::byte* output_;
  std::uint64_t capacity_;
  unsigned lane_;
  std::uint32_t begin_;  // where the page stands in `text`, in bytes

  std::uint32_t known_offset_ = 0, known_end_ = 0;  // the last stretch that was compared on
  std::uint32_t carried_ = 0;                       // the key that the next row inherits
  int last_length_ = 0;                             // of the last position of the row before
  std::uint32_t last_offset_ = 0;
  std::uint32_t walk_ = 1;  // the first decision of the first row is for a position before the page
  std::uint32_t listed_ = 0, literals_begin_ = 0, written_ = 0;
};

}  // namespace hemstitch::cuda
