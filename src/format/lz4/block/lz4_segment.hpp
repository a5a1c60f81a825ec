// Where the sequences of an LZ4 block begin, found in many places at once.
//
// The place of a sequence follows from the one before: a chain that one thread would have to walk. Here a window of the
// block is cut into segments, and for each segment a table is made, from its last byte to its first: if a sequence began
// at this byte, where would the chain leave the segment, and after how many sequences? A sequence that stays inside is followed by
// one that was tabulated before, so every entry takes one step. Guessing where chains go would be less work where sequences are
// short, but between long literal runs guesses stay wrong for long. This way costs the same for all bytes, so no input defeats it.
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
// and one of a very long run of literals or match. Whoever restores that sequence continues after it.
//
// Positions count from the segment's first byte. The same code runs on host and device.
#pragma once

#include <cstdint>

#include "core/host_device.hpp"
#include "format/lz4/block/lz4_token.hpp"

namespace hemstitch {

inline constexpr std::uint32_t kLz4SegmentBytes = 30;
inline constexpr std::uint32_t kLz4SegmentsPerWindow = 32;
inline constexpr std::uint32_t kLz4WindowBytes = kLz4SegmentBytes * kLz4SegmentsPerWindow;

// The shortest sequence is a token and an offset.
inline constexpr std::uint32_t kLz4MinSequenceBytes = 1 + kLz4OffsetBytes;
inline constexpr std::uint32_t kLz4WindowSequences = kLz4WindowBytes / kLz4MinSequenceBytes;
static_assert(kLz4WindowBytes % kLz4MinSequenceBytes == 0);

// What chains follow: sequences whose lengths are extended by at most kExtensions bytes each. Longer sequences have so many bytes
// that restoring each by itself costs little; what counts as long depends on the kernel.
//
// An entry of the table is a Word: the number of sequences from kExitBits on; below, bytes behind the segment's end, or
// kExitStops and the position of the sequence at which the chain stops.
template <std::uint32_t kExtensionBytes, class ExitWord>
struct Lz4Links {
  using Word = ExitWord;
  static constexpr std::uint32_t kExtensions = kExtensionBytes;
  static constexpr std::uint32_t kMostLiterals = kLz4NibbleMax + 255 * kExtensions - 1;
  static constexpr std::uint32_t kLongestMatch = kLz4MinMatchBytes + kLz4NibbleMax + 255 * kExtensions - 1;
  static constexpr std::uint32_t kMostRestoredBytes = kMostLiterals + kLongestMatch;
  // Bytes that are read from a token on, also of a sequence at which a chain stops.
  static constexpr std::uint32_t kSequenceBytes =
      1 + kExtensions + (kMostLiterals + 1) + kLz4OffsetBytes + kExtensions;

  static constexpr unsigned kExitBits = sizeof(Word) == 2 ? 12 : 16;
  static constexpr std::uint32_t kExitMask = (1u << kExitBits) - 1;
  static constexpr std::uint32_t kExitStops = 1u << (kExitBits - 1);
  static_assert(kLz4SegmentBytes / kLz4MinSequenceBytes < 1u << (8 * sizeof(Word) - kExitBits));
  static_assert(kLz4SegmentBytes + kSequenceBytes < kExitStops);
  // A stopped chain enters no later segment.
  static_assert(kExitStops - kLz4WindowBytes >= kLz4SegmentBytes);
};

// The position after a sequence one of whose lengths continues after a byte of 255. False if the chain stops at the sequence.
template <class Links, class Bytes>
HEMSTITCH_HOST_DEVICE inline bool pass_long_lz4_sequence(const Bytes& bytes, std::uint32_t position,
                                                         std::uint32_t& next) {
  const std::uint32_t token = bytes(position);
  next = position + kLz4MinSequenceBytes + (token >> 4);
  std::uint32_t addend = token >= kLz4NibbleMax << 4 ? 255 : 0;
  for (std::uint32_t i = 1; addend == 255; ++i) {
    if (i > Links::kExtensions) return false;
    addend = bytes(position + i);
    next += 1 + addend;
  }
  addend = (token & kLz4NibbleMax) == kLz4NibbleMax ? 255 : 0;
  for (std::uint32_t i = 1; addend == 255; ++i) {
    if (i > Links::kExtensions) return false;
    addend = bytes(next++);
  }
  return true;
}

// Makes the table of a segment: table.set(position, entry), and table.get_if(condition, position, otherwise) for greater
// positions. bytes(p) is asked for p < kLz4SegmentBytes - 1 + Links::kSequenceBytes; bytes.get_if(condition, p) is 0 where
// the condition is not true. The block ends at `end`; bytes after it may have any value. kEnds is false if all of these bytes lie
// before it.
template <class Links, bool kEnds, class Bytes, class Table>
HEMSTITCH_HOST_DEVICE inline void find_lz4_exits(const Bytes& bytes, std::uint32_t end, Table& table) {
  std::uint32_t following = bytes(kLz4SegmentBytes);
#if defined(__CUDA_ARCH__)
#pragma unroll 10
#endif
  for (std::uint32_t position = kLz4SegmentBytes; position-- > 0;) {
    const std::uint32_t token = bytes(position);
    std::uint32_t next = position + kLz4MinSequenceBytes + (token >> 4);
    const bool extends_literals = token >= kLz4NibbleMax << 4;
    const bool extends_match = (token & kLz4NibbleMax) == kLz4NibbleMax;
    if (extends_literals) next += 1 + following;
    const std::uint32_t extension = bytes.get_if(extends_match, next);
    if (extends_match) next += 1;
    bool stops = (extends_literals && following == 255) || extension == 255;
    if (Links::kExtensions > 1 && stops) stops = !pass_long_lz4_sequence<Links>(bytes, position, next);
    if (kEnds) stops |= next > end;
    std::uint32_t entry = table.get_if(next < kLz4SegmentBytes, next, next - kLz4SegmentBytes);
    entry += 1u << Links::kExitBits;
    table.set(position, stops ? Links::kExitStops | position : entry);
    following = token;
  }
}

// The position after a sequence at which no chain stops.
template <class Links, class Bytes>
HEMSTITCH_HOST_DEVICE inline std::uint32_t next_lz4_sequence(const Bytes& bytes, std::uint32_t position) {
  const std::uint32_t token = bytes(position);
  std::uint32_t next = position + kLz4MinSequenceBytes + (token >> 4);
  const bool extends_literals = token >= kLz4NibbleMax << 4;
  const bool extends_match = (token & kLz4NibbleMax) == kLz4NibbleMax;
  const std::uint32_t literal_extension = bytes.get_if(extends_literals, position + 1);
  next += literal_extension;
  if (extends_literals) next += 1;
  if (Links::kExtensions > 1 && (literal_extension == 255 || bytes.get_if(extends_match, next) == 255)) {
    pass_long_lz4_sequence<Links>(bytes, position, next);
    return next;
  }
  if (extends_match) next += 1;
  return next;
}

struct Lz4LinkedSequence {
  std::uint32_t literal_begin = 0, literal_count = 0;
  std::uint32_t offset = 1, match_length = 0;
};

// Reads a sequence at which no chain stops.
template <class Links, class Bytes>
HEMSTITCH_HOST_DEVICE inline Lz4LinkedSequence read_lz4_sequence(const Bytes& bytes, std::uint32_t position) {
  const std::uint32_t token = bytes(position);
  const bool extends_literals = token >= kLz4NibbleMax << 4;
  std::uint32_t extension = bytes.get_if(extends_literals, position + 1);
  Lz4LinkedSequence sequence;
  sequence.literal_begin = position + (extends_literals ? 2 : 1);
  sequence.literal_count = (token >> 4) + extension;
  while (Links::kExtensions > 1 && extension == 255) {
    extension = bytes(sequence.literal_begin++);
    sequence.literal_count += extension;
  }
  const std::uint32_t offset_at = sequence.literal_begin + sequence.literal_count;
  const std::uint32_t length_code = token & kLz4NibbleMax;
  sequence.offset = bytes(offset_at) | bytes(offset_at + 1) << 8;
  extension = bytes.get_if(length_code == kLz4NibbleMax, offset_at + kLz4OffsetBytes);
  sequence.match_length = length_code + kLz4MinMatchBytes + extension;
  for (std::uint32_t at = offset_at + kLz4OffsetBytes + 1; Links::kExtensions > 1 && extension == 255; ++at) {
    extension = bytes(at);
    sequence.match_length += extension;
  }
  return sequence;
}

}  // namespace hemstitch
