// Cuts content where its own bytes say so, so that a part that is inserted or removed moves the cuts around it and
// no others. Parts that are compressed by themselves are then the same again behind a change, which rsync and tools
// that store equal pieces once make use of.
//
// A cut is where the hash of the last 64 bytes has zeros in its top bits. The hash is a gear hash, which takes a
// shift, a table and an addition for each byte: h = 2 h + gear[byte], so a byte leaves it after 64 others (W. Xia et
// al., "FastCDC: a fast and efficient content-defined chunking approach for data deduplication", USENIX ATC 2016).
// Other seeds of the table give other cuts, and so other bytes of all files that were written this way.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

namespace hemstitch {

struct ContentCuts {
  // A part has at least so many bytes, but for the last one. Since no hash is looked at within them, they cost
  // nothing.
  std::size_t least_bytes = 0;
  // Beyond them, one byte in 2^zero_bits ends a part.
  unsigned zero_bits = 0;
  // A part is not longer. One that would be ends where its smallest hash is, so that this, too, follows from the content:
  // repetitive content may have no other cut for a long time.
  std::size_t most_bytes = 0;

  // How long the first part of `content` is; 0 if it is not whole yet.
  std::size_t first_part_bytes(std::span<const std::byte> content) const;
};

namespace content_cuts {

inline constexpr std::size_t kHashedBytes = 64;

constexpr std::array<std::uint64_t, 256> make_gear() {
  std::array<std::uint64_t, 256> gear{};
  std::uint64_t state = 0;
  for (std::uint64_t& word : gear) {  // splitmix64
    state += 0x9E3779B97F4A7C15u;
    std::uint64_t mixed = state;
    mixed = (mixed ^ mixed >> 30) * 0xBF58476D1CE4E5B9u;
    mixed = (mixed ^ mixed >> 27) * 0x94D049BB133111EBu;
    word = mixed ^ mixed >> 31;
  }
  return gear;
}
inline constexpr std::array<std::uint64_t, 256> kGear = make_gear();

}  // namespace content_cuts

inline std::size_t ContentCuts::first_part_bytes(std::span<const std::byte> content) const {
  using content_cuts::kGear;
  const std::size_t end = std::min(content.size(), most_bytes);
  std::uint64_t hash = 0, smallest = UINT64_MAX;
  std::size_t smallest_at = most_bytes;
  for (std::size_t at = least_bytes - content_cuts::kHashedBytes; at < end; ++at) {
    hash = (hash << 1) + kGear[static_cast<std::size_t>(content[at])];
    if (at + 1 < least_bytes || hash >= smallest) continue;
    smallest = hash;
    smallest_at = at + 1;
    if (hash >> (64 - zero_bits) == 0) return smallest_at;
  }
  return end == most_bytes ? smallest_at : 0;
}

}  // namespace hemstitch
