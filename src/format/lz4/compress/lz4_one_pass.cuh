// What the ways of level 1 for pages (lz4_one_pass_page.cuh) and for larger blocks (lz4_one_pass_tile.cuh) share: the text
// in shared memory, and a warp's sequences before they are written.
//
// Sequences gather in a list. When there are 32, each lane takes one: sizes, prefix sum, bytes into shared memory, from
// there to the output in words of 16.
//
// No match here is longer than a record can hold, so a length found here is the true one, or that of the tail of a true one. So a
// sequence never continues the match before it, and nothing must be joined.
#pragma once

#include <cstddef>
#include <cstdint>

#include "core/match.hpp"
#include "core/page.hpp"
#include "format/lz4/block/lz4_emission.hpp"
#include "format/lz4/compress/lz4_compress_cuda.hpp"
#include "format/lz4/compress/lz4_one_pass_tuning.hpp"
#include "gpu/cuda/instructions.cuh"

namespace hemstitch::cuda {

// The warp's number in its thread block, computed so that the compiler knows it to be the same for all lanes. Then code that
// depends on it needs no precautions against diverging lanes.
__device__ __forceinline__ unsigned warp_number() { return __shfl_sync(~0u, threadIdx.x / 32, 0); }

__device__ __forceinline__ std::uint32_t lowest_bit(std::uint32_t bits) {
  return static_cast<std::uint32_t>(__ffs(static_cast<int>(bits)) - 1);
}
__device__ __forceinline__ std::uint32_t bit_count(std::uint32_t bits) {
  return static_cast<std::uint32_t>(__popc(bits));
}
// All bits from bit `begin` on; 0 if that is 32 or more.
__device__ __forceinline__ std::uint32_t bits_from(std::uint32_t begin) { return moved_up(~0u, begin); }
// The highest bit of byte `index` of a word, counted from its last byte; 0 from the fourth on.
__device__ __forceinline__ std::uint32_t high_bit_of_byte(std::uint32_t index) {
  return moved_down(0x80000000u, index * 8);
}
// How many of the first of four bytes agree, from the bits that differ.
__device__ __forceinline__ std::uint32_t agreeing_low_bytes(std::uint32_t difference) {
  return min(lowest_bit(difference) >> 3, 4u);
}

// The bytes around a pair of positions: the aligned words from the one before the first position's word on.
struct Window {
  std::uint32_t words[6];

  // The four bytes `index` words after a position that is `shift` bits (0 to 32) after its aligned word.
  __device__ __forceinline__ std::uint32_t word(int index, std::uint32_t shift) const {
    return __funnelshift_rc(words[index + 1], words[index + 2], shift);
  }
};

// The 20 bytes around a position: the four before it and the 16 from it on.
struct Around {
  std::uint32_t before, words[4];
};

// A block in shared memory, at its own misalignment, so that it is loaded in words of 16 bytes. Reads before and behind it are
// allowed; their values do not matter.
template <std::uint32_t kMostBytes>
class SharedText {
 public:
  static constexpr bool kPage = kMostBytes <= kPageBytes;
  // Rows are read up to the fourth one after the end.
  static constexpr std::uint32_t kLead = 16, kAhead = kPage ? 352 : 160;
  // Bytes that a warp assembles before it stores them; and sequences that it lists, of which there are at most 31 when it begins
  // two rows of 64 positions.
  static constexpr std::uint32_t kStageBytes = kPageStageBytes;
  static constexpr unsigned kListed = 32 + 2 * 64 / kLz4MinMatchBytes;
  struct alignas(16) Storage {
    std::uint32_t words[(kLead + 16 + kMostBytes + kAhead) / 4];
  };

  // By `kThreads` threads, of which this is number `thread`; a barrier among them must follow.
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
    // The rest: up to 15 bytes before the first whole chunk and after the last one.
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
    return __funnelshift_r(words_[at / 4], words_[at / 4 + 1], shift(at));
  }
  __device__ __forceinline__ std::byte byte(std::uint32_t position) const {
    return reinterpret_cast<const std::byte*>(words_)[begin_ + position];
  }
  // A lane's position in the first row. In the others it is farther on by the rows' distance.
  struct Place {
    const std::uint32_t* words;
    std::uint32_t shift;
  };
  __device__ __forceinline__ Place place(std::uint32_t position) const {
    const std::uint32_t at = begin_ + position;
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

  static __device__ __forceinline__ Window window(const Place& place, std::uint32_t row) {
    const std::uint32_t* words = place.words + row / 4;
    return {{words[-1], words[0], words[1], words[2], words[3], words[4]}};
  }

  // What is compared with a lane's own bytes: the word at `position` is loaded at once, the others later.
  struct Candidate {
    std::uint32_t position, low, high;
  };
  __device__ __forceinline__ Candidate candidate(std::uint32_t position) const {
    const std::uint32_t at = begin_ + position;
    return {position, words_[at / 4], words_[at / 4 + 1]};
  }
  __device__ __forceinline__ std::uint32_t first_word(const Candidate& c) const {
    return __funnelshift_r(c.low, c.high, shift(begin_ + c.position));
  }
  __device__ __forceinline__ Around around(const Candidate& c) const {
    const std::uint32_t* words = words_ + at(c.position) / 4;
    return around(c, words[-1], words[2], words[3], words[4]);
  }
  // From the aligned words around the two that a candidate has.
  __device__ __forceinline__ Around around(const Candidate& c, std::uint32_t before, std::uint32_t third,
                                           std::uint32_t fourth, std::uint32_t fifth) const {
    const std::uint32_t shift = this->shift(at(c.position));
    return {__funnelshift_r(before, c.low, shift),
            {__funnelshift_r(c.low, c.high, shift), __funnelshift_r(c.high, third, shift),
             __funnelshift_r(third, fourth, shift), __funnelshift_r(fourth, fifth, shift)}};
  }

  // For texts of which a part is elsewhere: the words; the place of a position in them, in bytes; and, for the part elsewhere,
  // words with the same places, at the begin of `block`'s block.
  __device__ __forceinline__ const std::uint32_t* words() const { return words_; }
  __device__ __forceinline__ std::uint32_t at(std::uint32_t position) const { return begin_ + position; }
  __device__ __forceinline__ const std::uint32_t* words_in(const std::byte* block) const {
    return reinterpret_cast<const std::uint32_t*>(block - begin_);
  }

 private:
  // The distance of a byte from the begin of its word, in bits. Only its value modulo 32 counts, which is all that __funnelshift_r uses.
  static __device__ __forceinline__ std::uint32_t shift(std::uint32_t at) { return at * 8; }
  static __device__ std::uint32_t misalignment(const std::byte* block) {
    return static_cast<std::uint32_t>(reinterpret_cast<std::uintptr_t>(block) % 16);
  }

  const std::uint32_t* words_;
  std::uint32_t bytes_, begin_;
};

// One warp's sequences before they are written.
template <std::uint32_t kStageBytes, unsigned kListed>
struct alignas(16) RowShared {
  std::uint32_t stage[(kStageBytes + 16) / 4];
  uint2 list[kListed];
};

// By one thread, when the size of a block is known.
__device__ inline void leave_result(const DeviceLz4Output& output, std::uint32_t index, std::uint32_t bytes,
                                    bool fits) {
  output.d_output_bytes[index] = fits ? bytes : 0;
  output.d_statuses[index] = fits ? HEMSTITCH_OK : HEMSTITCH_OUTPUT_TOO_SMALL;
}

// A match that a parse takes.
struct ListedMatch {
  std::uint32_t position, length, offset;
};

// A warp with a text, and its sequences.
//
// Offsets are kept as `code`, the largest offset less the offset, so that the nearer is the larger. An entry of the list is
// a position, and behind it, with the code in the lowest bits, the match's end in a page and its length in a larger block.
template <class Text>
class RowWriter {
 public:
  static constexpr std::uint32_t kStageBytes = Text::kStageBytes;
  using Shared = RowShared<kStageBytes, Text::kListed>;

  __device__ RowWriter(Shared& sh, const Text& text, unsigned lane)
      : sh_(sh), text_(text), lane_(lane), lanes_below_((1u << lane) - 1) {}

 protected:
  static constexpr bool kPage = Text::kPage;
  static constexpr unsigned kCodeBits = kPage ? 12 : 16;
  static constexpr std::uint32_t kMostOffset = (1u << kCodeBits) - 1;
  static_assert(kPageBytes == 4096, "offsets of a page have 12 bits, ends 13");

  // Of an entry of the list.
  static __device__ __forceinline__ std::uint32_t match_length(uint2 entry) {
    return (entry.y >> kCodeBits) - (kPage ? entry.x : 0);
  }
  static __device__ __forceinline__ ListedMatch listed(uint2 entry) {
    return {entry.x, match_length(entry), kMostOffset - (entry.y & kMostOffset)};
  }

  // The maximum over the lanes up to this one.
  __device__ __forceinline__ std::uint32_t forward_maximum(std::uint32_t key) const {
#pragma unroll
    for (unsigned distance = 1; distance < 32; distance *= 2)
      key = max(key, __shfl_up_sync(~0u, key, distance));  // a lane without a left neighbour gets its own
    return key;
  }

  // Where the bytes from `from` on stop agreeing with those `offset` before them; at most `end`.
  __device__ std::uint32_t agreement_end(std::uint32_t from, std::uint32_t offset, std::uint32_t end) const {
    for (; from < end; from += 128) {
      // Bytes read after the end do not count.
      const std::uint32_t at = min(from + lane_ * 4, end);
      const std::uint32_t difference = text_.word(at) ^ text_.word(at - offset);
      const unsigned differs = __ballot_sync(~0u, difference != 0);
      if (differs != 0) {
        const std::uint32_t first = lowest_bit(differs);
        const std::uint32_t agreed = agreeing_low_bytes(__shfl_sync(~0u, difference, first));
        return min(from + first * 4 + agreed, end);
      }
    }
    return end;
  }
  // A lane's sequence, and where it is written.
  struct Placed {
    Sequence sequence;
    std::uint32_t bytes, at, literals;  // bytes is 0 where the lane has none
  };

  // The lane's part of `matches` sequences whose places are not known yet, followed by the last literals if these are the block's
  // last sequences. A match of length 0 is none: another one has taken it over.
  __device__ __forceinline__ Placed sequence(ListedMatch match, std::uint32_t matches, bool last) {
    if (lane_ >= matches) match = {text_.bytes(), 0, 0};  // the lane after them: the last literals
    const std::uint32_t match_bytes = match.length;
    const std::uint32_t behind = match.position + match_bytes;
    Placed own;
    own.literals = __shfl_up_sync(~0u, behind, 1);
    if (lane_ == 0) own.literals = literals_begin_;
    own.bytes = 0;
    own.sequence = {0, match_bytes, match.offset};
    if (lane_ < matches ? kPage || match_bytes != 0 : last && lane_ == matches) {
      own.sequence.literal_count = match.position - own.literals;
      own.bytes = static_cast<std::uint32_t>(lz4_sequence_bytes(own.sequence.literal_count, match_bytes));
    }
    if (matches != 0) literals_begin_ = __shfl_sync(~0u, behind, static_cast<int>(matches) - 1);
    return own;
  }

  // The same, and where they are written; also the bytes of all.
  struct Group {
    Placed own;
    std::uint32_t bytes;
  };
  __device__ __forceinline__ Group place(ListedMatch match, std::uint32_t matches, bool last) {
    Group group;
    group.own = sequence(match, matches, last);
    std::uint32_t end = group.own.bytes;
#pragma unroll
    for (unsigned distance = 1; distance < 32; distance *= 2) {
      const std::uint32_t other = __shfl_up_sync(~0u, end, distance);
      if (lane_ >= distance) end += other;
    }
    group.own.at = end - group.own.bytes;
    group.bytes = __shfl_sync(~0u, end, 31);
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

  Shared& sh_;
  Text text_;
  unsigned lane_, lanes_below_;
  std::uint32_t listed_ = 0, literals_begin_ = 0;
};

}  // namespace hemstitch::cuda
