// From one block of an LZ4 frame to the next: the serial part of reading a frame, for frames in one piece of memory, on the host or
// on a device.
//
// A block's size precedes its data, so where block i begins is known only after i sizes were read. Nothing else in a frame is
// serial: after the walk, all blocks are restored and verified at once. On a device one thread walks, with one read after the
// other, one for each block.
#pragma once

#include <cstddef>
#include <cstdint>

#include "core/bytes.hpp"
#include "core/host_device.hpp"
#include "core/status.hpp"

namespace hemstitch {

// The numbers of lz4_frame.hpp, for headers that a device compiles too.
inline constexpr std::uint64_t kWalkHeaderBytes = 4;
inline constexpr std::uint64_t kWalkChecksumBytes = 4;
inline constexpr std::uint32_t kWalkStoredBit = 0x80000000u;

struct WalkedBlock {
  std::uint64_t at = 0;     // of its data, from the frame's first byte
  std::uint32_t bytes = 0;  // of its data
  bool stored = false;
  std::uint32_t checksum = 0;  // where the frame has them
};

struct WalkedFrame {
  // kOk; kTruncated where the frame's bytes end before its end mark; kCorruptBlock for a size above the frame's block
  // size; kMemoryLimit for more than `max_block_count` blocks. The blocks before that are good.
  Status status = Status::kInternal;
  std::uint32_t block_count = 0;
};

// Calls take(number, block) for each block, from 0. Reads only sizes and checksums in frame[header_bytes, frame_bytes), of at most
// `max_block_count` blocks.
template <class Take>
HEMSTITCH_HOST_DEVICE WalkedFrame walk_lz4_frame(const std::byte* frame, std::uint64_t frame_bytes,
                                                 std::uint64_t header_bytes, std::uint32_t block_bytes,
                                                 bool block_checksums, std::uint32_t max_block_count,
                                                 const Take& take) {
  const std::uint64_t checksum_bytes = block_checksums ? kWalkChecksumBytes : 0;
  std::uint64_t at = header_bytes;
  for (std::uint32_t number = 0;; ++number) {
    if (at > frame_bytes || frame_bytes - at < kWalkHeaderBytes) return {Status::kTruncated, number};
    const std::uint32_t word = load_le32(frame + at);
    if (word == 0) return {Status::kOk, number};
    if (number == max_block_count) return {Status::kMemoryLimit, number};
    at += kWalkHeaderBytes;
    WalkedBlock block{at, word & ~kWalkStoredBit, (word & kWalkStoredBit) != 0, 0};
    if (block.bytes > block_bytes) return {Status::kCorruptBlock, number};
    if (frame_bytes - at < block.bytes + checksum_bytes) return {Status::kTruncated, number};
    at += block.bytes;
    if (block_checksums) block.checksum = load_le32(frame + at);
    at += checksum_bytes;
    take(number, block);
  }
}

}  // namespace hemstitch
