// The code by which threads find the sequences of an LZ4 block together (lz4_walk.hpp, lz4_segment.hpp), done by one after the
// other and held against reading the block from its beginning. For tests and fuzzing: each check says what is wrong, or nothing.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <stdexcept>
#include <string>
#include <vector>

#include "format/lz4/block/lz4_segment.hpp"
#include "format/lz4/block/lz4_walk.hpp"
#include "shapes.hpp"

namespace hemstitch::testing {

// The block with room behind it for what a step may read too much.
class PaddedBlock {
 public:
  explicit PaddedBlock(std::span<const std::byte> block, std::uint8_t padding = 0xFF)
      : size_(static_cast<std::uint32_t>(block.size())),
        bytes_(block.size() + kLz4StepOverread + 128, padding) {
    std::transform(block.begin(), block.end(), bytes_.begin(),
                   [](std::byte byte) { return static_cast<std::uint8_t>(byte); });
  }
  const std::uint8_t* data() const { return bytes_.data(); }
  std::uint32_t size() const { return size_; }

 private:
  std::uint32_t size_;
  std::vector<std::uint8_t> bytes_;
};

namespace walkers_detail {

// What is walked of a block, read as its definition says.
struct Read {
  std::vector<std::uint32_t>
      begins;  // of sequences with a match that are complete, up to the first that is not
  std::uint32_t stopped_at = 0;
  std::uint64_t bytes = 0, pieces = 0;
};

inline Read read_in_order(const PaddedBlock& block) {
  Read read;
  const std::uint8_t* bytes = block.data();
  for (;;) {
    std::uint64_t at = read.stopped_at;
    const auto number = [&](std::uint64_t& value) {
      if (value < 15) return true;
      for (;;) {
        if (at >= block.size()) return false;
        value += bytes[at];
        if (bytes[at++] != 255) return true;
      }
    };
    if (at >= block.size()) return read;
    const std::uint32_t token = bytes[at++];
    std::uint64_t literals = token >> 4, code = token & 15;
    if (!number(literals)) return read;
    at += literals + 2;
    if (at > block.size() || !number(code)) return read;
    read.begins.push_back(read.stopped_at);
    read.stopped_at = static_cast<std::uint32_t>(at);
    read.bytes += literals + code + 4;
    read.pieces += literals == 0 ? 1 : 2;
  }
}

// What walkers found, each from where it began.
inline std::string wrong_finds(const PaddedBlock& block, const std::vector<std::uint32_t>& entry,
                               const std::vector<Lz4Walk>& walk) {
  const Read expected = read_in_order(block);
  std::vector<std::uint32_t> begins;
  std::uint64_t bytes = 0;
  std::uint32_t pieces = 0;
  for (std::size_t i = 0; i < walk.size(); ++i) {
    std::uint32_t at = entry[i] & ~kLz4WalkStopped;
    while (at < (walk[i].left_at & ~kLz4WalkStopped)) {
      begins.push_back(at);
      at = read_lz4_step(block.data(), at, block.size()).next;
    }
    bytes += walk[i].sums & kLz4BytesMask;
    pieces += walk[i].sums >> kLz4PieceShift;
  }
  if (begins != expected.begins) return "the sequences are others";
  if ((walk.back().left_at & ~kLz4WalkStopped) != expected.stopped_at)
    return "stopped at another byte than " + std::to_string(expected.stopped_at);
  if (bytes != expected.bytes) return "restores " + std::to_string(bytes) + " bytes";
  if (pieces != expected.pieces) return "has " + std::to_string(pieces) + " pieces";
  return "";
}

struct WalkTable {
  std::vector<std::uint16_t>& exits;
  std::uint32_t get(std::uint32_t byte) const { return exits.at(byte); }
  std::uint32_t get_if(bool condition, std::uint32_t byte, std::uint32_t otherwise) const {
    return condition ? get(byte) : otherwise;
  }
  void set(std::uint32_t byte, std::uint32_t exit) const {
    exits.at(byte) = static_cast<std::uint16_t>(exit);
  }
};

// A sequence as the format says it; nothing where the chain stops.
struct Followed {
  std::uint32_t next;
  Lz4LinkedSequence sequence;
};
template <class Links>
std::optional<Followed> follow(std::span<const std::byte> block, std::size_t begin, std::uint32_t position) {
  const auto at = [&](std::size_t p) { return static_cast<std::uint32_t>(block[begin + p]); };
  const std::size_t end = block.size() - begin;
  Lz4LinkedSequence sequence;
  std::size_t p = position;
  if (p >= end) return std::nullopt;
  const std::uint32_t token = at(p++);
  sequence.literal_count = token / 16;
  // False where the number goes on for too long, or the block ends.
  const auto extend = [&](std::uint32_t& number, std::uint32_t most_extensions) {
    for (std::uint32_t i = 0; i < most_extensions && p < end; ++i) {
      const std::uint32_t addend = at(p++);
      number += addend;
      if (addend != 255) return true;
    }
    return false;
  };
  if (sequence.literal_count == 15 && !extend(sequence.literal_count, Links::kExtensions))
    return std::nullopt;
  sequence.literal_begin = static_cast<std::uint32_t>(p);
  p += sequence.literal_count;
  if (p + 2 > end) return std::nullopt;
  sequence.offset = at(p) + 256 * at(p + 1);
  p += 2;
  sequence.match_length = token % 16 + 4;
  if (token % 16 == 15 && !extend(sequence.match_length, Links::kExtensions)) return std::nullopt;
  return Followed{static_cast<std::uint32_t>(p), sequence};
}

template <class Links>
constexpr std::uint32_t kSegmentReach = kLz4SegmentBytes - 1 + Links::kSequenceBytes;

// Bytes of a segment. Those behind the block are anything, those out of reach must not be asked for.
template <class Links>
struct SegmentBytes {
  std::span<const std::byte> block;
  std::size_t begin;
  std::uint32_t operator()(std::uint32_t position) const {
    if (position >= kSegmentReach<Links>) throw std::out_of_range("a byte behind the segment's reach");
    return begin + position < block.size() ? static_cast<std::uint32_t>(block[begin + position])
                                           : (position * 2654435761u) >> 24;
  }
  std::uint32_t get_if(bool condition, std::uint32_t position) const {
    return condition ? (*this)(position) : 0;
  }
};

template <class Links>
struct SegmentTable {
  std::array<std::uint32_t, kLz4SegmentBytes> entries;
  std::uint32_t get_if(bool condition, std::uint32_t position, std::uint32_t otherwise) const {
    return condition ? entries.at(position) : otherwise;
  }
  void set(std::uint32_t position, std::uint32_t exit) {
    if (exit != static_cast<typename Links::Word>(exit)) throw std::out_of_range("an entry of too many bits");
    entries[position] = exit;
  }
};

}  // namespace walkers_detail

// Walkers on segments of equal size, as the lanes of a warp do it, with no exchange until all have walked; then by tables.
inline std::string wrong_walk(const PaddedBlock& block, std::uint32_t walkers) {
  using namespace walkers_detail;
  const std::uint32_t segment_bytes = std::max<std::uint32_t>((block.size() + walkers - 1) / walkers, 1);
  std::vector<std::uint32_t> entry(walkers);
  std::vector<Lz4Walk> walk(walkers);
  const auto walk_from = [&](std::uint32_t i, std::uint32_t from) {
    entry[i] = from;
    walk[i] = walk_lz4(block.data(), from, std::min((i + 1) * segment_bytes, block.size()), block.size());
  };
  for (std::uint32_t i = 0; i < walkers; ++i) {
    const std::uint32_t begin = i * segment_bytes;
    walk_from(i, i == 0 || begin >= block.size() ? begin : likely_lz4_begin(block.data(), begin, 4096));
  }
  for (std::uint32_t rounds = 0;; ++rounds) {
    if (rounds > walkers) return "by guesses: more rounds than walkers";
    const std::vector<Lz4Walk> before = walk;
    bool changed = false;
    for (std::uint32_t i = 1; i < walkers; ++i)
      if (before[i - 1].left_at != entry[i]) {
        walk_from(i, before[i - 1].left_at);
        changed = true;
      }
    if (!changed) break;
  }
  if (const std::string wrong = wrong_finds(block, entry, walk); !wrong.empty())
    return "by guesses: " + wrong;

  std::uint32_t left_at = 0;
  for (std::uint32_t i = 0; i < walkers; ++i) {
    const std::uint32_t begin = i * segment_bytes;
    std::vector<std::uint16_t> exits(lz4_exit_entries(segment_bytes));
    const WalkTable table{exits};
    tabulate_lz4_exits(block.data(), begin, segment_bytes, block.size(), table);
    walk_from(i, left_at);
    left_at = pass_lz4_segment(block.data(), left_at, begin, segment_bytes, block.size(), table);
  }
  if (const std::string wrong = wrong_finds(block, entry, walk); !wrong.empty()) return "by tables: " + wrong;
  return "";
}

// The kinds of links that the kernels for many and for few blocks follow.
using ShortLinks = Lz4Links<1, std::uint16_t>;
using LongLinks = Lz4Links<16, std::uint32_t>;

// The table of the segment that begins at `begin`, against chains that are followed one by one.
template <class Links>
std::string wrong_exits(std::span<const std::byte> block, std::size_t begin) {
  using namespace walkers_detail;
  const SegmentBytes<Links> bytes{block, begin};
  SegmentTable<Links> exits{};
  const auto end = static_cast<std::uint32_t>(block.size() - begin);
  find_lz4_exits<Links, true>(bytes, end, exits);
  const std::string segment = "segment at " + std::to_string(begin);
  if (end >= kSegmentReach<Links>) {
    SegmentTable<Links> inner{};
    find_lz4_exits<Links, false>(bytes, 0, inner);
    if (inner.entries != exits.entries) return segment + ": another table where no end is looked for";
  }
  for (std::uint32_t entry = 0; entry < kLz4SegmentBytes; ++entry) {
    std::uint32_t position = entry, count = 0, expected = 0;
    for (;; ++count) {
      if (position >= kLz4SegmentBytes) {
        expected = position - kLz4SegmentBytes;
        break;
      }
      const auto followed = follow<Links>(block, begin, position);
      if (!followed) {
        expected = Links::kExitStops | position;
        break;
      }
      const Lz4LinkedSequence sequence = read_lz4_sequence<Links>(bytes, position),
                              &right = followed->sequence;
      if (next_lz4_sequence<Links>(bytes, position) != followed->next ||
          sequence.literal_begin != right.literal_begin || sequence.literal_count != right.literal_count ||
          sequence.offset != right.offset || sequence.match_length != right.match_length)
        return segment + ": another sequence at " + std::to_string(position);
      position = followed->next;
    }
    if ((exits.entries[entry] & Links::kExitMask) != expected)
      return segment + ": another exit for " + std::to_string(entry);
    if (exits.entries[entry] >> Links::kExitBits != count)
      return segment + ": another count for " + std::to_string(entry);
  }
  return "";
}

}  // namespace hemstitch::testing
