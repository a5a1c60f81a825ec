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

// One sequence with a match, complete before `limit`.
struct Lz4Step {
  std::uint32_t literals_begin = 0, literal_count = 0;
  std::uint32_t match_length = 0;
  std::uint32_t offset_begin = 0;  // where its two bytes stand
  std::uint32_t next = 0;          // behind the sequence
};

// The sequence at `position` < limit; false where it is not complete before `limit`.
HEMSTITCH_HOST_DEVICE inline bool read_lz4_step(const std::uint8_t* bytes, std::uint32_t position,
                                                std::uint32_t limit, Lz4Step& step) {
  const std::uint32_t token = bytes[position];
  step.literal_count = token >> 4;
  step.match_length = (token & kLz4NibbleMax) + kLz4MinMatchBytes;
  step.literals_begin = position + 1;
  step.offset_begin = position + 1 + step.literal_count;
  step.next = step.offset_begin + kLz4OffsetBytes;
  if (token < 0xF0 && (token & kLz4NibbleMax) != kLz4NibbleMax) return step.next <= limit;

  std::uint32_t read = position + 1;
  if (step.literal_count == kLz4NibbleMax) {
    std::uint32_t addend = 255;
    while (addend == 255) {
      if (read >= limit) return false;
      addend = bytes[read++];
      step.literal_count += addend;
    }
    step.literals_begin = read;
  }
  read += step.literal_count;
  step.offset_begin = read;
  read += kLz4OffsetBytes;
  if (read > limit) return false;
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

// What a walk found out: bytes that its sequences restore, and the pieces (literal runs that are not empty, and
// matches) that they are made of. Packed, so that one scan adds up both.
//
// A stretch of 4 KB restores less than 2^21 bytes: 255 for each of its bytes, and 20 more for each of 1366 sequences.
inline constexpr unsigned kLz4PieceShift = 21;
inline constexpr std::uint32_t kLz4BytesMask = (1u << kLz4PieceShift) - 1;
inline constexpr std::uint32_t kLz4MostWalkedBytes = 4144;
static_assert(kLz4MostWalkedBytes * 255 + kLz4MostWalkedBytes / 3 * 20 < 1u << kLz4PieceShift);

struct Lz4Walk {
  std::uint32_t left_at =
      0;                   // the first position not walked, with kLz4WalkStopped where the walk stopped there
  std::uint32_t sums = 0;  // pieces << kLz4PieceShift | bytes; pieces are right modulo 2^11
};

// From `position` over all sequences that begin before `end`.
HEMSTITCH_HOST_DEVICE inline Lz4Walk walk_lz4(const std::uint8_t* bytes, std::uint32_t position,
                                              std::uint32_t end, std::uint32_t limit) {
  std::uint32_t sums = 0;
  while (position < end) {
    Lz4Step step;
    if (!read_lz4_step(bytes, position, limit, step)) {
      position |= kLz4WalkStopped;
      break;
    }
    sums +=
        step.literal_count + step.match_length + (step.literal_count == 0 ? 1u : 2u) * (1u << kLz4PieceShift);
    position = step.next;
  }
  return {position, sums};
}

}  // namespace hemstitch
