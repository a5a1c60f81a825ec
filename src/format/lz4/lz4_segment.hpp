// Where the sequences of an LZ4 block begin, found in many places at once.
//
// The place of a sequence follows from the one before: a chain that one thread would have to walk. But a walk that
// starts anywhere soon steps on a true place, because sequences are short, and from there on it is right. So a window
// of the block is cut into segments; every segment is walked from its first byte, as if a sequence began there, and
// remembers where it stepped (a bit a byte) and where it left. Then each segment learns where the one before it left.
// Where that is not where it began, it walks again, from there, until it steps on its own old path: what follows is
// known. Once no segment changes, all are right, because the first one began right.
//
//   segment      |.x....x...x.|...x......x.|x....x.....x.|
//   first walk    s   s    s----->s   s----->s   s          guesses, which become right at some point
//   then          x   x    x----->x    x----->              the left one's exit is the right one's entry
//
// Each round makes at least one more segment right, so there are never more rounds than segments; two or three are
// usual. Walks stop before a sequence that they had better not judge: the last of a block, a damaged one, one with
// long lengths. Whoever uses them restores that one by other means and goes on behind it.
//
// Positions count from the window's first byte. The same code runs on host and device.
#pragma once

#include <cstdint>

#include "core/host_device.hpp"
#include "format/lz4/lz4_token.hpp"

namespace hemstitch {

// Bytes of a segment: a bit each in a word.
inline constexpr std::uint32_t kLz4SegmentBytes = 31;
static_assert(kLz4SegmentBytes <= 32);
inline constexpr std::uint32_t kLz4SegmentsPerWindow = 32;
inline constexpr std::uint32_t kLz4WindowBytes = kLz4SegmentBytes * kLz4SegmentsPerWindow;

// The shortest sequence is a token and an offset.
inline constexpr std::uint32_t kLz4MinSequenceBytes = 1 + kLz4OffsetBytes;
inline constexpr std::uint32_t kLz4WindowSequences =
    (kLz4WindowBytes + kLz4MinSequenceBytes - 1) / kLz4MinSequenceBytes;

// More bytes than this behind one nibble stop a walk: no thread is long alone.
inline constexpr std::uint32_t kLz4WalkedExtensionBytes = 8;
// So neither a literal run nor a match of a walked sequence is longer than this.
inline constexpr std::uint32_t kLz4WalkedLengthBytes =
    kLz4MinMatchBytes + kLz4NibbleMax + 255 * kLz4WalkedExtensionBytes;

// Set in an exit where the walk stopped before the sequence at the position that the other bits say.
inline constexpr std::uint32_t kLz4Stopped = std::uint32_t{1} << 31;

struct Lz4WalkedSequence {
  std::uint32_t literal_begin, literal_count;
  std::uint32_t offset_at;  // position of the two bytes of the offset
  std::uint32_t match_length;
  std::uint32_t next;  // position of the token that follows
};

// Adds the bytes that extend a full nibble; `position` moves behind them. False where the block ends first, or they are
// too many.
template <class Bytes>
HEMSTITCH_HOST_DEVICE inline bool walk_lz4_extension(const Bytes& bytes, std::uint32_t end,
                                                     std::uint32_t& position, std::uint32_t& value) {
  const std::uint32_t most = position + kLz4WalkedExtensionBytes;
  std::uint32_t addend = 255;
  while (addend == 255) {
    if (position == most || position >= end) return false;
    addend = bytes(position++);
    value += addend;
  }
  return true;
}

// The sequence whose token is at `position`, of a block that ends at `end`. False before the last one, before one that
// the block's end cuts off, and before a long one. bytes(p) is asked only for p < end. What the offset says, and whether
// the output has room, is not looked at.
template <class Bytes>
HEMSTITCH_HOST_DEVICE inline bool walk_lz4_sequence(const Bytes& bytes, std::uint32_t position,
                                                    std::uint32_t end, Lz4WalkedSequence& sequence) {
  if (position >= end) return false;
  const std::uint32_t token = bytes.near(position++);
  std::uint32_t literal_count = token >> 4;
  if (literal_count == kLz4NibbleMax && !walk_lz4_extension(bytes, end, position, literal_count))
    return false;
  sequence.literal_begin = position;
  sequence.literal_count = literal_count;
  sequence.offset_at = position + literal_count;
  position = sequence.offset_at + kLz4OffsetBytes;
  if (position > end) return false;
  std::uint32_t length_code = token & kLz4NibbleMax;
  if (length_code == kLz4NibbleMax && !walk_lz4_extension(bytes, end, position, length_code)) return false;
  sequence.match_length = length_code + kLz4MinMatchBytes;
  sequence.next = position;
  return true;
}

struct Lz4Segment {
  std::uint32_t begin, end;  // positions of its bytes
  std::uint32_t entry;       // where the walk came in; at or behind `end`: no sequence begins here
  std::uint32_t exit;        // where it left, or where it stopped, marked by kLz4Stopped
  std::uint32_t starts;      // bit i: a sequence begins at begin + i
};

// Walks from segment.entry, and no further than to where the path of before is met.
template <class Bytes>
HEMSTITCH_HOST_DEVICE inline void walk_lz4_segment(const Bytes& bytes, std::uint32_t end,
                                                   Lz4Segment& segment) {
  std::uint32_t position = segment.entry, starts = 0;
  while (position < segment.end) {
    const std::uint32_t bit = std::uint32_t{1} << (position - segment.begin);
    if ((segment.starts & bit) != 0) {
      segment.starts = starts | (segment.starts & (0u - bit));
      return;
    }
    Lz4WalkedSequence sequence;
    if (!walk_lz4_sequence(bytes, position, end, sequence)) {
      position |= kLz4Stopped;
      break;
    }
    starts |= bit;
    position = sequence.next;
  }
  segment.starts = starts;
  segment.exit = position;
}

}  // namespace hemstitch
