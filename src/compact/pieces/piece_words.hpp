// The words of a copy from any alignment to any alignment, for host and device.
//
// A piece is copied in words of 16 bytes that are aligned at the target, since stores cost more than loads when they are
// cut. A word is shifted out of the five words of 4 bytes around its source. The first and the last of the source's words may
// hold bytes of somebody else: those two are put together from single bytes, once a piece (plan_piece), so that no byte
// outside the piece is read, whatever lies there, and every word of the target is made in the same way. A word that two
// pieces share is the sum of both: bytes that are not a piece's are 0 in its words.
#pragma once

#include <cstddef>
#include <cstdint>

#include "core/host_device.hpp"

namespace hemstitch {

inline constexpr std::uint32_t kPieceWordBytes = 16;

// Lowest address first, as the bytes stand in memory of a little-endian machine.
struct alignas(16) PieceWord {
  std::uint32_t part[4];
};

// Bytes [begin, end) of a piece, and where they come from and go to.
struct PiecePart {
  const std::byte* source;  // of the piece's byte 0
  std::byte* target;        // of the piece's byte 0
  std::uint32_t begin;
  std::uint32_t end;
};

// The part of a piece of `bytes` at `at` that falls into [share_begin, share_end), as bytes of the piece; {0, 0} if none does. All
// three are places on one axis.
struct ByteInterval {
  std::uint32_t begin;
  std::uint32_t end;
};
HEMSTITCH_HOST_DEVICE inline ByteInterval part_in_share(std::uint64_t at, std::uint32_t bytes,
                                                        std::uint64_t share_begin, std::uint64_t share_end) {
  if (at >= share_end || at + bytes <= share_begin) return {0, 0};
  const std::uint64_t left = share_end - at;
  return {at >= share_begin ? 0 : static_cast<std::uint32_t>(share_begin - at),
          left < bytes ? static_cast<std::uint32_t>(left) : bytes};
}

// Aligned words of the target that a part touches.
HEMSTITCH_HOST_DEVICE inline std::uint32_t word_count(const PiecePart& part) {
  if (part.begin == part.end) return 0;
  const auto target = reinterpret_cast<std::uintptr_t>(part.target);
  const std::uintptr_t first = (target + part.begin) / kPieceWordBytes;
  return static_cast<std::uint32_t>((target + part.end - 1) / kPieceWordBytes - first + 1);
}

// All that the words of a part have in common. The words of many parts share one numbering, and a plan says where number 0 would be
// if the part had begun earlier. So a word's number alone tells where its bytes are.
struct alignas(16) PiecePlan {
  std::uintptr_t source;    // of word 0, down to 4 bytes: the first of five words of the source
  std::uintptr_t target;    // of word 0
  std::int32_t end;         // the part's end in bytes from word 0's target
  std::int16_t lead;        // the index that `source` would have among the part's source words
  std::uint8_t begin;       // the part's first byte in its first word
  std::uint8_t shift_bits;  // where a word's bytes begin in the five words: 0, 8, 16 or 24; and kJoinsBit
  std::uint32_t
      source_first;  // the first and the last of the source's words; bytes that are not the part's are 0
  std::uint32_t source_last;
};
static_assert(sizeof(PiecePlan) == 32);
// The part's first word is the last one of the part before as well.
inline constexpr std::uint8_t kJoinsBit = 0x80;
// Words of a source up to which `lead` reaches back.
inline constexpr std::uint32_t kMostLead = 32000;

// The 16 bytes of a target's word, and a bit for each that is the part's.
struct MaskedWord {
  PieceWord bytes;
  std::uint32_t mask;
};
inline constexpr std::uint32_t kWholeWordMask = 0xFFFF;

// Sources are global memory that nothing writes meanwhile. The compiler cannot tell that from the address, so the device's
// instructions say it.
HEMSTITCH_HOST_DEVICE inline std::uint32_t load_source(const std::uint32_t* word) {
#ifdef __CUDA_ARCH__
  return __ldg(word);
#else
  return *word;
#endif
}
HEMSTITCH_HOST_DEVICE inline std::uint8_t load_source(const std::uint8_t* byte) {
#ifdef __CUDA_ARCH__
  return __ldg(byte);
#else
  return *byte;
#endif
}
// The word at the address if `wanted`, else `otherwise`. It is one predicated load, so five in a row can be in flight together.
HEMSTITCH_HOST_DEVICE inline std::uint32_t load_source_if(bool wanted, const std::uint32_t* word,
                                                          std::uint32_t otherwise) {
#ifdef __CUDA_ARCH__
  asm("{ .reg .pred wanted; setp.ne.u32 wanted, %1, 0; @wanted ld.global.nc.u32 %0, [%2]; }"
      : "+r"(otherwise)
      : "r"(static_cast<std::uint32_t>(wanted)), "l"(word));
  return otherwise;
#else
  return wanted ? *word : otherwise;
#endif
}
HEMSTITCH_HOST_DEVICE inline PieceWord load_source(const PieceWord* word) {
#ifdef __CUDA_ARCH__
  const uint4 loaded = __ldg(reinterpret_cast<const uint4*>(word));
  return {{loaded.x, loaded.y, loaded.z, loaded.w}};
#else
  return *word;
#endif
}
HEMSTITCH_HOST_DEVICE inline void store_target(std::byte* target, const PieceWord& word) {
#ifdef __CUDA_ARCH__
  __stcg(reinterpret_cast<uint4*>(target),
         make_uint4(word.part[0], word.part[1], word.part[2], word.part[3]));
#else
  *reinterpret_cast<PieceWord*>(target) = word;
#endif
}
HEMSTITCH_HOST_DEVICE inline void store_target(std::byte* target, std::uint32_t word) {
#ifdef __CUDA_ARCH__
  __stcg(reinterpret_cast<std::uint32_t*>(target), word);
#else
  *reinterpret_cast<std::uint32_t*>(target) = word;
#endif
}
HEMSTITCH_HOST_DEVICE inline void store_target(std::byte* target, std::uint8_t byte) {
#ifdef __CUDA_ARCH__
  __stcg(reinterpret_cast<unsigned char*>(target), byte);
#else
  *reinterpret_cast<std::uint8_t*>(target) = byte;
#endif
}

// The 4 bytes at an aligned address. Bytes outside [begin, end) are not read and count as 0.
HEMSTITCH_HOST_DEVICE inline std::uint32_t clipped_load(std::uintptr_t address, std::uintptr_t begin,
                                                        std::uintptr_t end) {
  const bool whole = address >= begin && address + 4 <= end;
  std::uint32_t value = 0;
  if (whole) value = load_source(reinterpret_cast<const std::uint32_t*>(address));
  for (unsigned i = 0; i < 4; ++i)
    if (!whole && address + i >= begin && address + i < end)
      value |= std::uint32_t{load_source(reinterpret_cast<const std::uint8_t*>(address + i))} << (8 * i);
  return value;
}

// Reads the two ends of a part that has bytes. Its words are numbered from `first_word` on, at most kMostLead / 4.
HEMSTITCH_HOST_DEVICE inline PiecePlan plan_piece(const PiecePart& part, std::uint32_t first_word) {
  const std::uintptr_t source_begin = reinterpret_cast<std::uintptr_t>(part.source) + part.begin;
  const std::uintptr_t source_end = reinterpret_cast<std::uintptr_t>(part.source) + part.end;
  const std::uintptr_t source = source_begin / 4 * 4;
  const std::uintptr_t target_begin = reinterpret_cast<std::uintptr_t>(part.target) + part.begin;
  const auto begin = static_cast<std::int32_t>(target_begin % kPieceWordBytes);
  // Where the bytes of the first word begin, from `source`: -15 to 3.
  const std::int32_t shift_bytes = static_cast<std::int32_t>(source_begin % 4) - begin;
  const std::int32_t lead = (shift_bytes >> 2) - 4 * static_cast<std::int32_t>(first_word);
  PiecePlan plan;
  plan.source = source + static_cast<std::uintptr_t>(static_cast<std::intptr_t>(lead) * 4);
  plan.target =
      target_begin - static_cast<std::uintptr_t>(begin) - std::uintptr_t{first_word} * kPieceWordBytes;
  plan.end = begin + static_cast<std::int32_t>(part.end - part.begin + first_word * kPieceWordBytes);
  plan.lead = static_cast<std::int16_t>(lead);
  plan.begin = static_cast<std::uint8_t>(begin);
  plan.shift_bits = static_cast<std::uint8_t>((shift_bytes & 3) * 8);
  plan.source_first = clipped_load(source, source_begin, source_end);
  plan.source_last = clipped_load((source_end - 1) / 4 * 4, source_begin, source_end);
  return plan;
}

// Which of the five source words around a word are the part's first and last ones. An index below 0 or above 4: it is not among the
// five.
struct SourceEnds {
  std::int32_t first;
  std::int32_t last;
};
HEMSTITCH_HOST_DEVICE inline SourceEnds source_ends(const PiecePlan& plan, std::uint32_t word) {
  const std::int32_t bytes_left = plan.end - static_cast<std::int32_t>(word * kPieceWordBytes);
  const std::int32_t first_byte = (plan.shift_bits & 31) / 8;
  return {-(plan.lead + static_cast<std::int32_t>(4 * word)), (bytes_left + first_byte - 1) >> 2};
}

// True for a word whose source is two aligned blocks of 16 bytes that belong wholly to the part. Alignment reaches at most three
// words to either side, and the part's first and last words are excluded.
HEMSTITCH_HOST_DEVICE inline bool is_inner_word(const SourceEnds& ends) {
  return ends.first <= -4 && ends.last >= 8;
}

// Four bytes that begin `shift_bits` bits into low:high; 0, 8, 16 or 24.
HEMSTITCH_HOST_DEVICE inline std::uint32_t shifted(std::uint32_t low, std::uint32_t high,
                                                   std::uint32_t shift_bits) {
#ifdef __CUDA_ARCH__
  return __funnelshift_r(low, high, shift_bits);
#else
  return static_cast<std::uint32_t>(((static_cast<std::uint64_t>(high) << 32) | low) >> shift_bits);
#endif
}

HEMSTITCH_HOST_DEVICE inline PieceWord load_inner_word(const PiecePlan& plan, std::uint32_t word) {
  const std::uintptr_t address =
      plan.source + std::uintptr_t{word} * kPieceWordBytes + (plan.shift_bits & 31) / 8;
  const auto* const aligned = reinterpret_cast<const PieceWord*>(address / kPieceWordBytes * kPieceWordBytes);
  const PieceWord low = load_source(aligned);
  if (address % kPieceWordBytes == 0) return low;
  const PieceWord high = load_source(aligned + 1);
  std::uint32_t words[8];
  for (unsigned i = 0; i < 4; ++i) {
    words[i] = low.part[i];
    words[4 + i] = high.part[i];
  }
  // Shifts by two words, then by one, so that the compiler knows every index.
  if (address % 16 >= 8)
    for (unsigned i = 0; i < 6; ++i) words[i] = words[i + 2];
  if (address % 8 >= 4)
    for (unsigned i = 0; i < 5; ++i) words[i] = words[i + 1];
  PieceWord result;
  for (unsigned i = 0; i < 4; ++i)
    result.part[i] = shifted(words[i], words[i + 1], static_cast<std::uint32_t>(address % 4) * 8);
  return result;
}

// Word number `word`; `is_first`: it is the part's first one.
HEMSTITCH_HOST_DEVICE inline MaskedWord load_word(const PiecePlan& plan, const SourceEnds& ends,
                                                  std::uint32_t word, bool is_first) {
  const auto* const source =
      reinterpret_cast<const std::uint32_t*>(plan.source + std::uintptr_t{word} * kPieceWordBytes);
  std::uint32_t words[5];
  for (int i = 0; i < 5; ++i) {
    const std::uint32_t at_end = i == ends.last ? plan.source_last : i == ends.first ? plan.source_first : 0;
    words[i] = load_source_if(i > ends.first && i < ends.last, source + i, at_end);
  }
  MaskedWord result;
  for (int i = 0; i < 4; ++i) result.bytes.part[i] = shifted(words[i], words[i + 1], plan.shift_bits & 31);
  const std::int32_t bytes_left = plan.end - static_cast<std::int32_t>(word * kPieceWordBytes);
  const std::uint32_t up_to =
      bytes_left >= 16 ? 16 : (bytes_left > 0 ? static_cast<std::uint32_t>(bytes_left) : 0);
  result.mask = ((1u << up_to) - 1) & (kWholeWordMask << (is_first ? plan.begin : 0));
  return result;
}

// Stores the bytes of the mask, and no other.
HEMSTITCH_HOST_DEVICE inline void store_word(std::byte* target, const MaskedWord& word) {
  if (word.mask == kWholeWordMask) {
    store_target(target, word.bytes);
    return;
  }
  for (unsigned i = 0; i < 4; ++i) {
    const std::uint32_t mask = word.mask >> (4 * i) & 0xF;
    if (mask == 0xF)
      store_target(target + 4 * i, word.bytes.part[i]);
    else
      for (unsigned j = 0; j < 4; ++j)
        if (mask >> j & 1)
          store_target(target + 4 * i + j, static_cast<std::uint8_t>(word.bytes.part[i] >> (8 * j)));
  }
}

}  // namespace hemstitch
