// Finding the sequences of an LZ4 block by many threads at once.
//
// Where a sequence begins is known only once the one before it has been read: a chain through the whole block. But a
// walk that starts at a wrong byte soon steps on a right one (after some 20 to 100 bytes of text), and from there on is
// right. So the stretch to be read is cut into segments of equal size, one a thread, and
//
//   1. each thread walks its segment from a guess, the segment's first byte, and notes where it leaves it;
//   2. a thread whose neighbour to the left left elsewhere than the thread began, walks once more from there;
//   3. step 2 is repeated until nothing changes.
//
// The first thread's beginning is right; so the first n threads are right after n rounds, whatever the data, and usually
// all are after three or four. A walk passes over whole literal runs: a segment may hold no beginning at all.
//
// Only what is regular is walked: a sequence with a match, and every byte of it before `limit`. At the first one that is
// not, the walk stops; so do all to the right. What it is (the block's last sequence, a very long one, damage) is for
// others to find out.
//
// Positions are those of the block, or of a part of it that stands in fast memory; below 2^30.
#pragma once

#include <cstdint>

#include "core/host_device.hpp"
#include "format/lz4/lz4_token.hpp"

namespace hemstitch {

// In the position where a walk ended: it stopped there. Beyond every segment, so that later walks do not begin.
inline constexpr std::uint32_t kLz4WalkStopped = 1u << 31;

// Whether one of the token's nibbles is full, so that more of the number follows.
HEMSTITCH_HOST_DEVICE constexpr bool lz4_token_goes_on(std::uint32_t token) {
  return token >= kLz4NibbleMax << 4 || (token & kLz4NibbleMax) == kLz4NibbleMax;
}

// A sequence with a match.
struct Lz4Step {
  std::uint32_t literals_begin, literal_count;
  std::uint32_t match_length;
  std::uint32_t next;  // behind the sequence
};

// The one at `position`, whose token goes on; false where it is not complete before `limit`.
HEMSTITCH_HOST_DEVICE inline bool read_lz4_long_step(const std::uint8_t* bytes, std::uint32_t position,
                                                     std::uint32_t limit, Lz4Step& step) {
  const std::uint32_t token = bytes[position];
  std::uint32_t read = position + 1;
  step.literal_count = token >> 4;
  if (step.literal_count == kLz4NibbleMax) {
    std::uint32_t addend = 255;
    while (addend == 255) {
      if (read >= limit) return false;
      addend = bytes[read++];
      step.literal_count += addend;
    }
  }
  step.literals_begin = read;
  read += step.literal_count + kLz4OffsetBytes;
  if (read > limit) return false;
  step.match_length = (token & kLz4NibbleMax) + kLz4MinMatchBytes;
  if ((token & kLz4NibbleMax) == kLz4NibbleMax) {
    std::uint32_t addend = 255;
    while (addend == 255) {
      if (read >= limit) return false;
      addend = bytes[read++];
      step.match_length += addend;
    }
  }
  step.next = read;
  return true;
}

// The sequence at `position`, which a walk has passed over: complete.
HEMSTITCH_HOST_DEVICE inline Lz4Step read_lz4_step(const std::uint8_t* bytes, std::uint32_t position,
                                                   std::uint32_t limit) {
  const std::uint32_t token = bytes[position];
  const std::uint32_t literal_count = token >> 4;
  Lz4Step step{position + 1, literal_count, (token & kLz4NibbleMax) + kLz4MinMatchBytes,
               position + 1 + kLz4OffsetBytes + literal_count};
  if (lz4_token_goes_on(token)) read_lz4_long_step(bytes, position, limit, step);
  return step;
}

// What a walk found out: bytes that its sequences restore, and the pieces (literal runs that are not empty, and
// matches) that they are made of. Packed, so that one scan adds up both.
//
// A stretch of 4 KB restores less than 2^21 bytes: 255 for each of its bytes, and 20 more for each of 1381 sequences.
inline constexpr unsigned kLz4PieceShift = 21;
inline constexpr std::uint32_t kLz4OnePiece = 1u << kLz4PieceShift;
inline constexpr std::uint32_t kLz4BytesMask = kLz4OnePiece - 1;
inline constexpr std::uint32_t kLz4MostWalkedBytes = 4144;
static_assert(kLz4MostWalkedBytes * 255 + kLz4MostWalkedBytes / 3 * 20 <= kLz4BytesMask);

struct Lz4Walk {
  std::uint32_t left_at =
      0;                   // the first position not walked, with kLz4WalkStopped where the walk stopped there
  std::uint32_t sums = 0;  // pieces << kLz4PieceShift | bytes; pieces are right modulo 2^11
};

// From `position` over all sequences that begin before `end` (<= limit).
HEMSTITCH_HOST_DEVICE inline Lz4Walk walk_lz4(const std::uint8_t* bytes, std::uint32_t position,
                                              std::uint32_t end, std::uint32_t limit) {
  if (position >= end) return {position, 0};
  std::uint32_t sums = 0, token = 0;
  const auto short_sums = [](std::uint32_t t) {
    return (t >> 4) + (t & kLz4NibbleMax) + (t >= 16 ? 2 : 1) * kLz4OnePiece + kLz4MinMatchBytes;
  };
  do {
    token = bytes[position];
    if (lz4_token_goes_on(token)) {
      Lz4Step step;
      if (!read_lz4_long_step(bytes, position, limit, step)) return {position | kLz4WalkStopped, sums};
      sums += step.literal_count + step.match_length + (step.literal_count == 0 ? 1 : 2) * kLz4OnePiece;
      position = step.next;
    } else {
      sums += short_sums(token);
      position += 1 + kLz4OffsetBytes + (token >> 4);
    }
  } while (position < end);
  // Only a short sequence is passed over unseen, and only the last one can be incomplete: it is taken back.
  if (position <= limit) return {position, sums};
  return {(position - (1 + kLz4OffsetBytes + (token >> 4))) | kLz4WalkStopped, sums - short_sums(token)};
}

}  // namespace hemstitch
