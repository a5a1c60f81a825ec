// The header of a gzip member (RFC 1952, section 2.3) on a device: where its DEFLATE begins.
#pragma once

#include "format/deflate/restore/deflate_stream.cuh"

namespace hemstitch::cuda {

// A longer name or comment is not searched for its end.
inline constexpr unsigned kDeflateMostNameBytes = 1024;

__device__ inline bool may_begin_member(std::uint32_t word) { return (word & 0xE0FFFFFFu) == 0x00088B1Fu; }

// The bit after the header that begins at `bit`, the first of a byte; 0 if there is no whole header. Called by one thread.
__device__ inline std::uint64_t behind_member_header(const DeflateStream& stream, std::uint64_t bit) {
  const std::uint32_t head = stream.bits(bit);
  if (!may_begin_member(head)) return 0;
  const std::uint32_t flags = head >> 24;
  constexpr std::uint32_t kHeaderChecksum = 2, kExtra = 4, kName = 8, kComment = 16;
  bit += 80;
  if ((flags & kExtra) != 0) bit += 16 + 8 * std::uint64_t{stream.bits(bit) & 0xFFFF};
  for (std::uint32_t text = kName; text <= kComment; text *= 2) {
    if ((flags & text) == 0) continue;
    unsigned bytes = 0;
    while ((stream.bits(bit) & 0xFF) != 0) {
      if (++bytes > kDeflateMostNameBytes) return 0;
      bit += 8;
    }
    bit += 8;
  }
  if ((flags & kHeaderChecksum) != 0) bit += 16;
  return bit < stream.end_bit ? bit : 0;
}

}  // namespace hemstitch::cuda
