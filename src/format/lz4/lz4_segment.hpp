// Where the sequences of an LZ4 block begin, found in many places at once.
//
// The place of a sequence follows from the one before: a chain that one thread would have to walk. Here a window of the
// block is cut into segments, and for each segment a table is made, from its last byte to its first: if a sequence began
// at this byte, where would the chain leave the segment, and after how many sequences? A sequence that stays inside is
// followed by one that was looked at before, so every entry takes one step. Guessing where chains go would be less work
// where sequences are short, but between long literal runs guesses stay wrong for long; this costs the same for any
// bytes, and there are none to defeat it.
//
//   segment 0                 segment 1                 segment 2
//   |x....x...x...............|..x......x..............x|....
//    entered at 0, left 2      entered at 2, left 3       ...      one look-up a segment
//    bytes behind its end      behind its end
//
// A thread makes the table of a segment. Then one chain of look-ups, a segment each, tells where each segment is
// entered, and the threads list the sequences of their segments.
//
// Chains stop before a sequence that is better left to others: the last of a block, one that the block's end cuts off,
// one whose length takes two bytes or more behind a nibble, and one whose match length lies behind what is staged. Whoever
// restores that one goes on behind it.
//
// Positions count from the segment's first byte. The same code runs on host and device.
#pragma once

#include <cstdint>

#include "core/host_device.hpp"
#include "format/lz4/lz4_token.hpp"

namespace hemstitch {

inline constexpr std::uint32_t kLz4SegmentBytes = 30;
inline constexpr std::uint32_t kLz4SegmentsPerWindow = 32;
inline constexpr std::uint32_t kLz4WindowBytes = kLz4SegmentBytes * kLz4SegmentsPerWindow;

// The shortest sequence is a token and an offset.
inline constexpr std::uint32_t kLz4MinSequenceBytes = 1 + kLz4OffsetBytes;
inline constexpr std::uint32_t kLz4WindowSequences = kLz4WindowBytes / kLz4MinSequenceBytes;
static_assert(kLz4WindowBytes % kLz4MinSequenceBytes == 0);

// The longest literal run or match of a sequence at which chains do not stop: one byte behind the nibble, below 255.
inline constexpr std::uint32_t kLz4LinkedLengthBytes = kLz4MinMatchBytes + kLz4NibbleMax + 254;

// An entry of the table: the number of sequences above kLz4ExitBits; below, bytes behind the segment's end, or
// kLz4ExitStops and the position of the sequence at which the chain stops.
inline constexpr unsigned kLz4ExitBits = 12;
inline constexpr std::uint32_t kLz4ExitMask = (1u << kLz4ExitBits) - 1;
inline constexpr std::uint32_t kLz4ExitStops = 1u << (kLz4ExitBits - 1);
static_assert(kLz4SegmentBytes / kLz4MinSequenceBytes < 1u << (16 - kLz4ExitBits), "an entry is 16 bits");
static_assert(kLz4SegmentBytes + 2 * kLz4LinkedLengthBytes < kLz4ExitStops);
// A stopped chain enters no segment behind.
static_assert(kLz4ExitStops - kLz4WindowBytes >= kLz4SegmentBytes);

// Makes the table of a segment: table.set(position, entry), and table.get(position) for greater positions.
// bytes(p) is asked for p < staged_bytes alone, which is greater than kLz4SegmentBytes; the block ends at `end`, and
// what is staged behind it may be anything.
template <class Bytes, class Table>
HEMSTITCH_HOST_DEVICE inline void find_lz4_exits(const Bytes& bytes, std::uint32_t staged_bytes,
                                                 std::uint32_t end, Table& table) {
  std::uint32_t following = bytes(kLz4SegmentBytes);
#if defined(__CUDA_ARCH__)
#pragma unroll 10
#endif
  for (std::uint32_t position = kLz4SegmentBytes; position-- > 0;) {
    const std::uint32_t token = bytes(position);
    std::uint32_t next = position + kLz4MinSequenceBytes + (token >> 4);
    bool stops = false;
    if (token >= kLz4NibbleMax << 4) {
      next += 1 + following;
      stops = following == 255;
    }
    if ((token & kLz4NibbleMax) == kLz4NibbleMax) {
      const std::uint32_t extension = next < staged_bytes ? bytes(next) : 255;
      next += 1;
      stops |= extension == 255;
    }
    stops |= next > end;
    std::uint32_t entry = next - kLz4SegmentBytes;
    if (next < kLz4SegmentBytes) entry = table.get(next);
    entry += 1u << kLz4ExitBits;
    if (stops) entry = kLz4ExitStops | position;
    table.set(position, entry);
    following = token;
  }
}

// The position behind a sequence at which no chain stops.
template <class Bytes>
HEMSTITCH_HOST_DEVICE inline std::uint32_t next_lz4_sequence(const Bytes& bytes, std::uint32_t position) {
  const std::uint32_t token = bytes(position);
  std::uint32_t next = position + kLz4MinSequenceBytes + (token >> 4);
  if (token >= kLz4NibbleMax << 4) next += 1 + bytes(position + 1);
  if ((token & kLz4NibbleMax) == kLz4NibbleMax) next += 1;
  return next;
}

struct Lz4LinkedSequence {
  std::uint32_t literal_begin = 0, literal_count = 0;
  std::uint32_t offset = 1, match_length = 0;
};

// What a sequence says at which no chain stops.
template <class Bytes>
HEMSTITCH_HOST_DEVICE inline Lz4LinkedSequence read_lz4_sequence(const Bytes& bytes, std::uint32_t position) {
  const std::uint32_t token = bytes(position);
  Lz4LinkedSequence sequence;
  sequence.literal_begin = position + 1;
  sequence.literal_count = token >> 4;
  if (token >= kLz4NibbleMax << 4) {
    sequence.literal_count += bytes(position + 1);
    sequence.literal_begin += 1;
  }
  const std::uint32_t offset_at = sequence.literal_begin + sequence.literal_count;
  sequence.match_length = (token & kLz4NibbleMax) + kLz4MinMatchBytes;
  sequence.offset = bytes(offset_at) | bytes(offset_at + 1) << 8;
  if ((token & kLz4NibbleMax) == kLz4NibbleMax) sequence.match_length += bytes(offset_at + kLz4OffsetBytes);
  return sequence;
}

}  // namespace hemstitch
