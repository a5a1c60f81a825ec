// The words of a copy from any alignment to any alignment, for host and device.
//
// A piece is copied in words of 16 bytes that are aligned at the target, since stores cost more than loads when they are
// cut. A word is put together from what lies at the source: two aligned loads of 16 bytes where both stay inside the
// piece, else aligned loads of 4 bytes, and single bytes at the piece's very ends. So no byte outside the piece is read
// or written, whatever lies there.
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

// What of a piece of `bytes` at `at` falls into [share_begin, share_end); all three are places of one axis. Nothing: {0, 0}.
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

// The 4 bytes at an aligned address; those outside [begin, end) are not read and count 0.
HEMSTITCH_HOST_DEVICE inline std::uint32_t clipped_load(std::uintptr_t address, std::uintptr_t begin,
                                                        std::uintptr_t end) {
  if (address >= begin && address + 4 <= end) return *reinterpret_cast<const std::uint32_t*>(address);
  std::uint32_t value = 0;
  for (unsigned i = 0; i < 4; ++i)
    if (address + i >= begin && address + i < end)
      value |= static_cast<std::uint32_t>(*reinterpret_cast<const std::uint8_t*>(address + i)) << (8 * i);
  return value;
}

// Four bytes that begin `shift_bits` / 8 bytes into low:high; 0, 8, 16 or 24.
HEMSTITCH_HOST_DEVICE inline std::uint32_t shifted(std::uint32_t low, std::uint32_t high,
                                                   std::uint32_t shift_bits) {
  return static_cast<std::uint32_t>(((static_cast<std::uint64_t>(high) << 32) | low) >> shift_bits);
}

// The 16 bytes at `address`, whatever its alignment. Those outside [begin, end) are not read and count 0.
HEMSTITCH_HOST_DEVICE inline PieceWord load_word(std::uintptr_t address, std::uintptr_t begin,
                                                 std::uintptr_t end) {
  const std::uintptr_t aligned = address / kPieceWordBytes * kPieceWordBytes;
  const std::uint32_t shift_bits = static_cast<std::uint32_t>(address % 4) * 8;
  std::uint32_t words[8];
  if (aligned >= begin && aligned + (address == aligned ? kPieceWordBytes : 2 * kPieceWordBytes) <= end) {
    const PieceWord low = *reinterpret_cast<const PieceWord*>(aligned);
    if (address == aligned) return low;
    const PieceWord high = *reinterpret_cast<const PieceWord*>(aligned + kPieceWordBytes);
    for (unsigned i = 0; i < 4; ++i) {
      words[i] = low.part[i];
      words[4 + i] = high.part[i];
    }
    // By whole words: twice, then once, so that every index is known to the compiler.
    if (address % 16 >= 8)
      for (unsigned i = 0; i < 6; ++i) words[i] = words[i + 2];
    if (address % 8 >= 4)
      for (unsigned i = 0; i < 5; ++i) words[i] = words[i + 1];
  } else {
    for (unsigned i = 0; i < 5; ++i)
      words[i] = i == 4 && shift_bits == 0 ? 0 : clipped_load(address / 4 * 4 + 4 * i, begin, end);
  }
  PieceWord result;
  for (unsigned i = 0; i < 4; ++i) result.part[i] = shifted(words[i], words[i + 1], shift_bits);
  return result;
}

// Copies the `index`-th of word_count(part) words. The source's bytes [begin, end) alone are read.
HEMSTITCH_HOST_DEVICE inline void copy_word(const PiecePart& part, std::uint32_t index) {
  const auto source = reinterpret_cast<std::uintptr_t>(part.source);
  const auto target = reinterpret_cast<std::uintptr_t>(part.target);
  const std::uintptr_t place = ((target + part.begin) / kPieceWordBytes + index) * kPieceWordBytes;
  // Wraps around where the word begins before the piece; the sum is right again wherever a byte is read.
  const PieceWord word = load_word(source + (place - target), source + part.begin, source + part.end);
  const std::uintptr_t begin = target + part.begin, end = target + part.end;
  if (place >= begin && place + kPieceWordBytes <= end) {
    *reinterpret_cast<PieceWord*>(place) = word;
    return;
  }
  for (unsigned i = 0; i < 4; ++i) {
    const std::uintptr_t address = place + 4 * i;
    if (address >= begin && address + 4 <= end)
      *reinterpret_cast<std::uint32_t*>(address) = word.part[i];
    else
      for (unsigned j = 0; j < 4; ++j)
        if (address + j >= begin && address + j < end)
          *reinterpret_cast<std::uint8_t*>(address + j) = static_cast<std::uint8_t>(word.part[i] >> (8 * j));
  }
}

}  // namespace hemstitch
