// Where the tokens of a window begin, found by all lanes of a warp at once.
//
// A window is cut into 32 segments. Nobody knows where the first token of a segment begins, but for that of the first one; and
// yet each lane decodes its own from a guess, the segment's first bit, marks where tokens began, and says where the one that crossed into
// the next segment ended. Codes put themselves right: a decoder that sets out at a wrong bit soon falls in with the right one. So
// most lanes' exits are right though their first tokens were not. Then each lane whose guess was not the exit of the lane before it
// decodes again from there, until it meets one of its own marks: from there on all is as it was. When no lane has to, the marks are those
// of one decoder that goes from the first bit to the last. After n rounds the first n segments are right at the latest, so there are
// 32 rounds at most.
//
// A lane that meets the end of the block, or what is no code, stops; whether that is so matters only where all lanes before it
// are right and none of them stopped.
//
// CPU twin: deflate_restore_reference(), which goes from token to token. Source: the self-synchronisation of Huffman codes; Klein and
// Wiseman, "Parallel Huffman decoding with applications to JPEG files", 2003.
#pragma once

#include "format/deflate/restore/deflate_restore_tuning.hpp"
#include "format/deflate/restore/deflate_tables.cuh"

namespace hemstitch::cuda {

inline constexpr unsigned kDeflateWindowWords = 32 * kDeflateSegmentWords;
inline constexpr unsigned kDeflateSegmentBits = 32 * kDeflateSegmentWords;
// A token has 48 bits at most, and is read by words of 32 from any bit on.
inline constexpr unsigned kDeflateSpareWords = 3;

struct DeflateWindow {
  std::uint32_t words[kDeflateWindowWords + kDeflateSpareWords];
  union {
    struct {
      std::uint32_t marks[kDeflateWindowWords];    // a bit for each that a token begins at
      std::uint16_t tokens[kDeflateListedTokens];  // the bits, in order
    };
    DeflateTableWork table_work;
  };

  __device__ std::uint32_t bits(unsigned bit) const {
    return __funnelshift_r(words[bit / 32], words[bit / 32 + 1], bit % 32);
  }
};

inline constexpr unsigned kDeflateStopped = 1u << 31;  // in an exit: the lane stopped at this bit

// Decodes the lane's segment from `start`, a bit of the window in it. Returns its exit; `known` is what it returned before, when
// there are marks already.
template <bool kHasMarks>
__device__ inline unsigned mark_segment(DeflateWindow& window, const DeflateTables& tables, unsigned lane,
                                        unsigned start, unsigned known) {
  using namespace deflate_entry;
  const unsigned first_word = lane * kDeflateSegmentWords, end = (first_word + kDeflateSegmentWords) * 32;
  unsigned bit = start, word = bit / 32;
  for (unsigned i = first_word; i < word; ++i) window.marks[i] = 0;
  std::uint32_t before = kHasMarks ? window.marks[word] : 0, marks = 0;
  bool stopped = false;
  do {
    if (bit / 32 != word) {
      window.marks[word] = marks;
      if (bit / 32 > word + 1) window.marks[word + 1] = 0;  // a token spans 48 bits
      word = bit / 32;
      if (kHasMarks) before = window.marks[word];
      marks = 0;
    }
    if (kHasMarks && (before >> (bit % 32) & 1) != 0) {
      window.marks[word] = marks | (before & (~0u << (bit % 32)));
      return known;
    }
    const std::uint32_t entry = deflate_entry_of<kLitlenTableBits>(tables.litlen, window.bits(bit));
    unsigned next = bit + (entry & kBitsMask);
    if ((entry & kKindMask) != kLiteral || (entry & kBitsMask) == 0) {
      const std::uint32_t distance = deflate_entry_of<kDistanceTableBits>(tables.distance, window.bits(next));
      stopped = (entry & kKindMask) != kLength || (distance & kBitsMask) == 0;
      if (stopped) break;
      next += distance & kBitsMask;
    }
    marks |= 1u << (bit % 32);
    bit = next;
  } while (bit < end);
  window.marks[word] = marks;
  for (++word; word < first_word + kDeflateSegmentWords; ++word) window.marks[word] = 0;
  return stopped ? kDeflateStopped | bit : bit;
}

// The exits of the window whose first token begins at `first_bit`, below 32, each lane's its own. What lanes behind the first one that
// stopped return means nothing.
__device__ inline unsigned synchronise_window(DeflateWindow& window, const DeflateTables& tables,
                                              unsigned first_bit, unsigned lane) {
  unsigned start = lane == 0 ? first_bit : lane * kDeflateSegmentBits;
  unsigned exit = mark_segment<false>(window, tables, lane, start, 0);
  while (true) {
    const unsigned exit_before = __shfl_up_sync(kAllLanes, exit, 1);
    const bool decodes = lane > 0 && (exit_before & kDeflateStopped) == 0 && exit_before != start;
    if (!__any_sync(kAllLanes, decodes)) return exit;
    if (decodes) {
      start = exit_before;
      exit = mark_segment<true>(window, tables, lane, start, exit);
    }
    __syncwarp();
  }
}

// What of a window is listed.
struct DeflateListed {
  unsigned count;  // of tokens
  unsigned exit;   // the bit behind the last of them, or where the last lane stopped
};

// Lists where the tokens begin: those of the first segments, up to the one that stopped, as many of them as the list has room
// for.
__device__ inline DeflateListed list_tokens(DeflateWindow& window, unsigned exit, unsigned lane) {
  const unsigned stopped = __ballot_sync(kAllLanes, (exit & kDeflateStopped) != 0);
  const unsigned last = stopped != 0 ? static_cast<unsigned>(__ffs(static_cast<int>(stopped))) - 1 : 31;
  const std::uint32_t* sh_marks = window.marks + lane * kDeflateSegmentWords;
  unsigned count = 0;
#pragma unroll
  for (unsigned i = 0; i < kDeflateSegmentWords; ++i) count += static_cast<unsigned>(__popc(sh_marks[i]));
  if (lane > last) count = 0;
  const unsigned up_to_lane = sum_up_to_lane(count, lane);
  const unsigned listed = __ballot_sync(kAllLanes, lane <= last && up_to_lane <= kDeflateListedTokens);
  const unsigned end_lane = 31 - static_cast<unsigned>(__clz(static_cast<int>(listed)));
  if (lane <= end_lane) {
    std::uint16_t* sh_token = window.tokens + (up_to_lane - count);
    for (unsigned i = 0; i < kDeflateSegmentWords; ++i)
      for (std::uint32_t marks = sh_marks[i]; marks != 0; marks &= marks - 1)
        *sh_token++ = static_cast<std::uint16_t>((lane * kDeflateSegmentWords + i) * 32 +
                                                 static_cast<unsigned>(__ffs(static_cast<int>(marks))) - 1);
  }
  __syncwarp();
  return {__shfl_sync(kAllLanes, up_to_lane, end_lane), __shfl_sync(kAllLanes, exit, end_lane)};
}
static_assert(kDeflateSegmentBits <= kDeflateListedTokens, "a segment of codes of one bit is listed whole");

// Loads the window that begins at word `first_word` of the stream.
__device__ inline void load_window(const DeflateStream& stream, std::uint64_t first_word,
                                   DeflateWindow& window, unsigned lane) {
  constexpr unsigned kWords = kDeflateWindowWords + kDeflateSpareWords;
  if (32 * first_word >= stream.begin_bit && 32 * (first_word + kWords) <= stream.end_bit) {
    const std::uint32_t* d_words = stream.d_words + first_word;
#pragma unroll
    for (unsigned i = 0; i < kWords; i += 32)
      if (i + lane < kWords) window.words[i + lane] = d_words[i + lane];
  } else {
#pragma unroll 1
    for (unsigned i = lane; i < kWords; i += 32) window.words[i] = stream.word(first_word + i);
  }
  __syncwarp();
}

}  // namespace hemstitch::cuda
