// Where the tokens of a window begin, found by all lanes of a warp at once.
//
// A window is cut into segments, a lane each: 32 of them, or several times as many where several warps work on one stream
// (deflate_group.cuh). Only in the first segment is it known where the first token begins. Each lane nevertheless decodes its
// segment, from a guess: the segment's first bit. It marks where tokens began, and notes where the token that crosses into the next
// segment ends. Codes synchronise: a decoder that starts at a wrong bit soon meets the tokens of the right one. So most lanes'
// exits are right although their first tokens were not. Then each lane whose guess was not the exit of the lane before it decodes
// again from that exit, until it meets one of its own marks: from there on nothing changes. When no lane has to do so, the marks
// are those of one decoder that goes from the first bit to the last. After n rounds at least the first n segments are right, so
// there are at most 32 rounds. Codes that do not synchronise by themselves get better guesses after some rounds
// (deflate_phases.cuh).
//
// A lane stops where the block ends, or where no code begins. That counts only if all lanes before it are right and none of them
// stopped.
//
// CPU twin: deflate_restore_reference(), which goes from token to token. Source: the self-synchronisation of Huffman codes; Klein and
// Wiseman, "Parallel Huffman decoding with applications to JPEG files", 2003.
#pragma once

#include "format/deflate/restore/deflate_phases.cuh"

namespace hemstitch::cuda {

inline constexpr unsigned kDeflateWindowWords = 32 * kDeflateSegmentWords;
// A token has at most 48 bits, and is read in words of 32 from any bit on.
inline constexpr unsigned kDeflateSpareWords = 3;

struct DeflateWindow {
  static constexpr unsigned kWords = kDeflateWindowWords;

  std::uint32_t words[kWords + kDeflateSpareWords];
  union {
    struct {
      std::uint32_t marks[kWords];                 // a bit for each bit at which a token begins
      std::uint16_t tokens[kDeflateListedTokens];  // the bits, in order
    };
    DeflateTableWork table_work;
  };

  __device__ std::uint32_t bits(unsigned bit) const {
    return __funnelshift_r(words[bit / 32], words[bit / 32 + 1], bit % 32);
  }
};

// Each round settles at least one segment.
inline constexpr unsigned kDeflateMostRounds = 32;

// What a lane knows of its segment.
struct DeflateSegment {
  unsigned index;        // in the window
  unsigned start;        // the bit that it was decoded from
  unsigned exit;         // the bit behind its last token, or where the lane stopped
  std::uint32_t phases;  // which phase leads to which (deflate_phases.cuh)
};

// Decodes a segment from `start`, a bit of the window in it. Returns its exit. If there are marks already, `known` is what the
// earlier call returned.
template <bool kHasMarks, class Window>
__device__ inline unsigned mark_segment(Window& window, const DeflateTables& tables, unsigned index,
                                        unsigned start, unsigned known) {
  const unsigned first_word = index * kDeflateSegmentWords, end = (first_word + kDeflateSegmentWords) * 32;
  unsigned bit = start, word = bit / 32;
  for (unsigned i = first_word; i < word; ++i) window.marks[i] = 0;
  std::uint32_t before = kHasMarks ? window.marks[word] : 0, marks = 0;
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
    const unsigned next = behind_token(window, tables, bit);
    if ((next & kDeflateStopped) == 0) marks |= 1u << (bit % 32);
    bit = next;
  } while (bit < end);
  window.marks[word] = marks;
  for (++word; word < first_word + kDeflateSegmentWords; ++word) window.marks[word] = 0;
  return bit;
}

// Decodes segment `index` from its first bit, which for the window's first segment is `first_bit`, below 32. Nothing is decoded
// from `end` on, where the stream ends.
template <class Window>
__device__ inline DeflateSegment open_segment(Window& window, const DeflateTables& tables, unsigned index,
                                              unsigned first_bit, std::uint64_t end) {
  DeflateSegment segment{index, index == 0 ? first_bit : index * kDeflateSegmentBits, 0, 0};
  if (segment.start < end) {
    segment.exit = mark_segment<false>(window, tables, index, segment.start, 0);
  } else {
    for (unsigned i = 0; i < kDeflateSegmentWords; ++i) window.marks[index * kDeflateSegmentWords + i] = 0;
    segment.exit = kDeflateStopped | segment.start;
  }
  segment.phases = phases_to(segment.exit);
  return segment;
}

// Decodes it again, from `start`.
template <class Window>
__device__ inline void decode_again(Window& window, const DeflateTables& tables, unsigned start,
                                    DeflateSegment& segment) {
  constexpr std::uint32_t kKeptPhases = 076543210;
  const DeflateSegment before = segment;
  segment.start = start;
  segment.exit = mark_segment<true>(window, tables, segment.index, start, before.exit);
  if (segment.exit == before.exit) {
    segment.phases = phases_to(segment.exit);
  } else {
    if (before.phases == phases_to(before.exit))
      segment.phases = with_phase(kKeptPhases, before.start, before.exit);
    segment.phases = with_phase(segment.phases, start, segment.exit);
  }
}

// Corrects the marks and exits of the lanes' segments, which are side by side, until they are those of one decoder that begins at
// `first_bit` in the first segment. The results of lanes after the first one that stopped mean nothing. The first `plain_rounds`
// rounds do not use phases. False if `most_rounds` were not enough; kDeflateMostRounds always are.
template <class Window>
__device__ inline bool settle_segments(Window& window, const DeflateTables& tables, unsigned first_bit,
                                       DeflateSegment& segment, unsigned plain_rounds, unsigned most_rounds,
                                       unsigned lane) {
  for (unsigned round = 0;; ++round) {
    unsigned entered = __shfl_up_sync(kAllLanes, segment.exit, 1);
    if (lane == 0) entered = first_bit;
    bool decodes = (entered & kDeflateStopped) == 0 && entered != segment.start;
    const unsigned unsettled = __ballot_sync(kAllLanes, decodes);
    const unsigned stopped = __ballot_sync(kAllLanes, (segment.exit & kDeflateStopped) != 0);
    const unsigned settled = ~unsettled & (unsettled - 1);  // the lanes before the first one that is not
    if (unsettled == 0 || (stopped & settled) != 0) return true;
    if (round == most_rounds) return false;
    if (round >= plain_rounds) {
      const auto first = static_cast<unsigned>(__popc(settled));
      const unsigned phase = entered_phase(segment.phases, first,
                                           __shfl_sync(kAllLanes, entered, static_cast<int>(first)), lane);
      if (lane > first && ((entered & kDeflateStopped) != 0 || entered % kDeflatePhases != phase)) {
        entered = segment.index * kDeflateSegmentBits + phase;
        decodes = entered != segment.start;
      }
    }
    if (decodes) decode_again(window, tables, entered, segment);
    __syncwarp();
  }
}

// The part of a window that is listed.
struct DeflateListed {
  unsigned count;  // of tokens
  unsigned exit;   // the bit behind the last of them, or where the last lane stopped
};

// How many tokens begin in a segment, and the list of the bits at which they begin.
template <class Window>
__device__ inline unsigned count_marks(const Window& window, unsigned index) {
  unsigned count = 0;
#pragma unroll
  for (unsigned i = 0; i < kDeflateSegmentWords; ++i)
    count += static_cast<unsigned>(__popc(window.marks[index * kDeflateSegmentWords + i]));
  return count;
}
template <class Window, class Token>
__device__ inline void list_marks(const Window& window, unsigned index, Token* sh_token) {
  for (unsigned i = 0; i < kDeflateSegmentWords; ++i) {
    const unsigned word = index * kDeflateSegmentWords + i;
    for (std::uint32_t marks = window.marks[word]; marks != 0; marks &= marks - 1)
      *sh_token++ = static_cast<Token>(word * 32 + static_cast<unsigned>(__ffs(static_cast<int>(marks))) - 1);
  }
}

// The first lane that stopped; the last lane if none did.
__device__ inline unsigned last_lane(const DeflateSegment& segment) {
  const unsigned stopped = __ballot_sync(kAllLanes, (segment.exit & kDeflateStopped) != 0);
  return stopped != 0 ? static_cast<unsigned>(__ffs(static_cast<int>(stopped))) - 1 : 31;
}

// Lists where the tokens of the first segments begin, up to the segment that stopped, as many as the list has room for.
__device__ inline DeflateListed list_tokens(DeflateWindow& window, const DeflateSegment& segment,
                                            unsigned lane) {
  const unsigned last = last_lane(segment);
  const unsigned count = lane > last ? 0 : count_marks(window, lane);
  const unsigned up_to_lane = sum_up_to_lane(count, lane);
  const unsigned listed = __ballot_sync(kAllLanes, lane <= last && up_to_lane <= kDeflateListedTokens);
  const unsigned end_lane = 31 - static_cast<unsigned>(__clz(static_cast<int>(listed)));
  if (lane <= end_lane) list_marks(window, lane, window.tokens + (up_to_lane - count));
  __syncwarp();
  return {__shfl_sync(kAllLanes, up_to_lane, end_lane), __shfl_sync(kAllLanes, segment.exit, end_lane)};
}
static_assert(kDeflateSegmentBits <= kDeflateListedTokens, "a segment of codes of one bit is listed whole");

// What follows the last listed token.
struct DeflateWindowEnd {
  unsigned bit;   // of the window: behind the last token, and behind the end of the block
  bool is_sound;  // true unless the window ends in bits that are no code
  bool ends_block;
};
template <class Window>
__device__ inline DeflateWindowEnd window_end(const Window& window, const DeflateTables& tables,
                                              unsigned exit) {
  using namespace deflate_entry;
  if ((exit & kDeflateStopped) == 0) return {exit, true, false};
  const unsigned bit = exit & ~kDeflateStopped;
  const std::uint32_t entry = deflate_entry_of<kLitlenTableBits>(tables.litlen, window.bits(bit));
  const bool ends = (entry & kKindMask) == kEnd && (entry & kBitsMask) != 0;
  return {bit + (entry & kBitsMask), ends, ends};
}

// Loads the window that begins at word `first_word` of the stream, by kThreads threads.
template <unsigned kThreads, class Window>
__device__ inline void load_window(const DeflateStream& stream, std::uint64_t first_word, Window& window,
                                   unsigned thread) {
  constexpr unsigned kWords = Window::kWords + kDeflateSpareWords;
  if (32 * first_word >= stream.begin_bit && 32 * (first_word + kWords) <= stream.end_bit) {
    const std::uint32_t* d_words = stream.d_words + first_word;
#pragma unroll
    for (unsigned i = 0; i < kWords; i += kThreads)
      if (i + thread < kWords) window.words[i + thread] = d_words[i + thread];
  } else {
#pragma unroll 1
    for (unsigned i = thread; i < kWords; i += kThreads) window.words[i] = stream.word(first_word + i);
  }
}

}  // namespace hemstitch::cuda
