// Finding the sequences of an LZ4 block by many threads at once.
//
// Where a sequence begins is known only once the one before it has been read: a chain through the whole block. But a walk that
// starts at a wrong byte soon hits a right one (after some 20 to 100 bytes of text), and is right from there on. So the stretch to
// be read is cut into segments of equal size, one a thread, and
//
//   1. each thread walks its segment from a guess, the segment's first byte, and notes where it leaves it;
//   2. if a thread's left neighbour ended elsewhere than the thread began, the thread walks once more from there;
//   3. step 2 is repeated until nothing changes.
//
// The first thread's beginning is right; so the first n threads are right after n rounds, whatever the data, and usually
// all are after three or four. A walk passes over whole literal runs: a segment may hold no beginning at all.
//
// Only regular sequences are walked: those with a match, and all their bytes before `limit`. At the first other one the walk stops,
// and so do all walks to the right. Other code finds out what it is: the block's last sequence, a very long one, or damage.
//
// Positions are those of the block, or of a part of it in fast memory; below 2^30.
#pragma once

#include <cstdint>

#include "core/host_device.hpp"
#include "format/lz4/block/lz4_token.hpp"

namespace hemstitch {

// A flag in the position where a walk ended: it stopped there. With it the position is beyond every segment, so later walks do not begin.
inline constexpr std::uint32_t kLz4WalkStopped = 1u << 31;

// A sequence with a match.
struct Lz4Step {
  std::uint32_t literals_begin, literal_count;
  std::uint32_t match_length;
  std::uint32_t next;  // behind the sequence
};

// Hides from the compiler how the number was computed: it would turn sums into branches, and words into bytes.
HEMSTITCH_HOST_DEVICE inline std::uint32_t lz4_opaque(std::uint32_t number) {
  asm("" : "+r"(number));
  return number;
}

// Reads the sequence at `position`. False if a number in it continues after a byte of 255.
//
// All sequences take the same path, so that threads of a warp stay together: a nibble with more bytes costs a few additions, not a
// branch. For this it reads up to kLz4StepOverread bytes after `position`, whatever they are.
inline constexpr std::uint32_t kLz4StepOverread = 2 + kLz4NibbleMax + 255 + kLz4OffsetBytes;

HEMSTITCH_HOST_DEVICE inline bool read_lz4_short_step(const std::uint8_t* bytes, std::uint32_t position,
                                                      Lz4Step& step) {
  const std::uint32_t token = bytes[position], code = token & kLz4NibbleMax;
  // 1 if the nibble is full.
  const std::uint32_t literals_go_on = lz4_opaque((token + (1 << 4)) >> 8);
  const std::uint32_t match_goes_on = lz4_opaque((code + 1) >> 4);
  const std::uint32_t more_literals = lz4_opaque(bytes[position + 1]) * literals_go_on;
  step.literal_count = (token >> 4) + more_literals;
  step.literals_begin = position + 1 + literals_go_on;
  const std::uint32_t offset_begin = step.literals_begin + step.literal_count;
  const std::uint32_t more_match = lz4_opaque(bytes[offset_begin + kLz4OffsetBytes]) * match_goes_on;
  step.match_length = code + kLz4MinMatchBytes + more_match;
  step.next = offset_begin + kLz4OffsetBytes + match_goes_on;
  return (more_literals > more_match ? more_literals : more_match) != 255;
}

// Reads what follows a full nibble, from `read` on: bytes to be added, up to the first one that is not 255.
HEMSTITCH_HOST_DEVICE inline bool read_lz4_chain(const std::uint8_t* bytes, std::uint32_t& read,
                                                 std::uint32_t limit, std::uint32_t& number) {
  std::uint32_t addend = 255;
  while (addend == 255) {
    if (read >= limit) return false;
    addend = bytes[read++];
    number += addend;
  }
  return true;
}

// Reads any sequence at `position` < limit. False if it is not complete before `limit`.
HEMSTITCH_HOST_DEVICE inline bool read_lz4_long_step(const std::uint8_t* bytes, std::uint32_t position,
                                                     std::uint32_t limit, Lz4Step& step) {
  const std::uint32_t token = bytes[position];
  step.literals_begin = position + 1;
  step.literal_count = token >> 4;
  if (step.literal_count == kLz4NibbleMax &&
      !read_lz4_chain(bytes, step.literals_begin, limit, step.literal_count))
    return false;
  step.next = step.literals_begin + step.literal_count + kLz4OffsetBytes;
  if (step.next > limit) return false;
  step.match_length = (token & kLz4NibbleMax) + kLz4MinMatchBytes;
  return (token & kLz4NibbleMax) != kLz4NibbleMax ||
         read_lz4_chain(bytes, step.next, limit, step.match_length);
}

// Reads a sequence that is known to be complete.
HEMSTITCH_HOST_DEVICE inline Lz4Step read_lz4_step(const std::uint8_t* bytes, std::uint32_t position,
                                                   std::uint32_t limit) {
  Lz4Step step{};
  if (!read_lz4_short_step(bytes, position, step)) read_lz4_long_step(bytes, position, limit, step);
  return step;
}

// Where to begin a walk: the first of a few bytes from `position` on that may well be a token, since the offsets of its
// sequence and of the next one would be less than `reach`, a power of two. Any answer will do; good ones save rounds.
inline constexpr unsigned kLz4GuessedBytes = 8;

HEMSTITCH_HOST_DEVICE inline std::uint32_t likely_lz4_begin(const std::uint8_t* bytes, std::uint32_t position,
                                                            std::uint32_t reach) {
  for (unsigned tried = 0; tried < kLz4GuessedBytes; ++tried, ++position) {
    const std::uint32_t token = bytes[position];
    const std::uint32_t high =
        position + 1 + (token >> 4) + 1;  // the offset's high byte, unless the literal count has more bytes
    const std::uint32_t second = high + 1 + ((token & kLz4NibbleMax) + 1) / 16;
    const std::uint32_t second_high = second + 1 + (lz4_opaque(bytes[second]) >> 4) + 1;
    if (static_cast<std::uint32_t>(bytes[high] | bytes[second_high]) < reach / 256) return position;
  }
  return position;
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
  std::uint32_t left_at = 0;  // the first position not walked, with kLz4WalkStopped if the walk stopped there
  std::uint32_t sums = 0;     // pieces << kLz4PieceShift | bytes; pieces are right modulo 2^11
};

HEMSTITCH_HOST_DEVICE constexpr std::uint32_t lz4_sums(std::uint32_t literal_count,
                                                       std::uint32_t match_length) {
  return literal_count + match_length + (literal_count == 0 ? 1 : 2) * kLz4OnePiece;
}

// Walks from `position` over all sequences that begin before `end` (<= limit).
HEMSTITCH_HOST_DEVICE inline Lz4Walk walk_lz4(const std::uint8_t* bytes, std::uint32_t position,
                                              std::uint32_t end, std::uint32_t limit) {
  if (position >= end) return {position, 0};
  std::uint32_t sums = 0, begin = 0;
  Lz4Step step;
  do {
    begin = position;
    if (!read_lz4_short_step(bytes, position, step) && !read_lz4_long_step(bytes, position, limit, step))
      return {position | kLz4WalkStopped, sums};
    sums += lz4_sums(step.literal_count, step.match_length);
    position = step.next;
  } while (position < end);
  if (position <= limit) return {position, sums};
  // Short steps are not checked against the limit. Only the last one can be incomplete: then it is undone.
  return {begin | kLz4WalkStopped, sums - lz4_sums(step.literal_count, step.match_length)};
}

// ---- Without guesses: where there is room for tables, and time matters more than work ----
//
// For each byte of a segment: if a sequence began there, where would the chain leave the segment? Made from the last byte to
// the first, so that a sequence that stays inside is followed by one that was tabulated before. One chain of look-ups then tells
// where each segment is entered, and each is walked once.

// What a table holds: the first position reached after the segment; or kLz4ExitStops and the position of a sequence that is not a
// short step or not complete.
inline constexpr std::uint32_t kLz4ExitStops = 1u << 15;
static_assert(kLz4MostWalkedBytes < kLz4ExitStops);

// Bytes that are tabulated together: no sequence that begins at one of them is followed by one that begins at another.
inline constexpr unsigned kLz4TabulatedBytes = 9;
inline constexpr unsigned kLz4IndependentBytes = 3;
static_assert(kLz4IndependentBytes <= 1 + kLz4OffsetBytes && kLz4TabulatedBytes % kLz4IndependentBytes == 0);

// Entries that the table of a segment needs.
HEMSTITCH_HOST_DEVICE constexpr std::uint32_t lz4_exit_entries(std::uint32_t segment_bytes) {
  return (segment_bytes + kLz4TabulatedBytes - 1) / kLz4TabulatedBytes * kLz4TabulatedBytes;
}

// Makes the table of the segment of `segment_bytes` bytes from `begin` on: table.set(byte, exit) for all of its entries, and
// table.get_if(condition, byte, otherwise) for bytes of the segment that were set.
template <class Table>
HEMSTITCH_HOST_DEVICE inline void tabulate_lz4_exits(const std::uint8_t* bytes, std::uint32_t begin,
                                                     std::uint32_t segment_bytes, std::uint32_t limit,
                                                     const Table& table) {
  const std::uint32_t end = begin + segment_bytes;
  for (std::uint32_t behind = lz4_exit_entries(segment_bytes); behind != 0; behind -= kLz4TabulatedBytes) {
    const std::uint32_t last = begin + behind - 1;
    std::uint32_t exits[kLz4TabulatedBytes];
    for (unsigned i = 0; i < kLz4TabulatedBytes; ++i) {
      Lz4Step step;
      const bool is_short = read_lz4_short_step(bytes, last - i, step);
      exits[i] = is_short && step.next <= limit ? step.next : kLz4ExitStops | (last - i);
    }
    for (unsigned first = 0; first < kLz4TabulatedBytes; first += kLz4IndependentBytes) {
      for (unsigned i = first; i < first + kLz4IndependentBytes; ++i)
        exits[i] = table.get_if(exits[i] < end, exits[i] - begin, exits[i]);
      for (unsigned i = first; i < first + kLz4IndependentBytes; ++i) table.set(last - i - begin, exits[i]);
    }
  }
}

// Where the segment that begins at `begin` is left, if the one before it was left at `entry`: a position, with
// kLz4WalkStopped where a walk stops there.
template <class Table>
HEMSTITCH_HOST_DEVICE inline std::uint32_t pass_lz4_segment(const std::uint8_t* bytes, std::uint32_t entry,
                                                            std::uint32_t begin, std::uint32_t segment_bytes,
                                                            std::uint32_t limit, const Table& table) {
  const std::uint32_t end = begin + segment_bytes < limit ? begin + segment_bytes : limit;
  while (entry < end) {
    entry = table.get(entry - begin);
    if ((entry & kLz4ExitStops) == 0) break;
    entry -= kLz4ExitStops;
    Lz4Step step;
    if (!read_lz4_long_step(bytes, entry, limit, step)) return entry | kLz4WalkStopped;
    entry = step.next;
  }
  return entry;
}

}  // namespace hemstitch
