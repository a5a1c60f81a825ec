// The headers of Zstandard on a device: of a frame, and of a block with its two sections (RFC 8878, 3.1.1).
//
// Nothing outside of [d_bytes, d_bytes + size) is read.
#pragma once

#include <cuda_runtime.h>

#include <cstddef>
#include <cstdint>

#include "format/zstd/block/zstd_symbols.hpp"
#include "format/zstd/zstd_limits.hpp"
#include "hemstitch/hemstitch.h"

namespace hemstitch::cuda {

inline constexpr std::uint32_t kZstdChecksumBytes = 4;  // behind the blocks, where a frame has one

// Little-endian, up to 8 bytes.
__device__ inline std::uint64_t zstd_number_at(const std::uint8_t* d_bytes, unsigned count) {
  std::uint64_t number = 0;
  for (unsigned i = 0; i < count; ++i) number |= std::uint64_t{d_bytes[i]} << (8 * i);
  return number;
}

struct ZstdDeviceHeader {
  std::uint64_t window_bytes = 0;
  std::uint64_t content_bytes = 0;  // if it has_size
  std::uint32_t bytes = 0;          // of the header, with the magic number
  bool has_size = false, has_checksum = false;
};

// OK, or what is wrong with the header that begins a chunk's next frame.
__device__ inline hemstitch_status read_zstd_header(const std::uint8_t* d_bytes, std::uint64_t size,
                                                    ZstdDeviceHeader& header) {
  constexpr unsigned kMagicBytes = kZstdMagicBytes, kSingleSegmentBit = 1 << 5, kReservedBit = 1 << 3,
                     kChecksumBit = 1 << 2;
  if (size < kMagicBytes) return HEMSTITCH_TRUNCATED;
  if (zstd_number_at(d_bytes, kMagicBytes) != kZstdMagic) return HEMSTITCH_UNKNOWN_FORMAT;
  if (size < kMagicBytes + 1) return HEMSTITCH_TRUNCATED;
  const unsigned descriptor = d_bytes[kMagicBytes];
  const bool single_segment = (descriptor & kSingleSegmentBit) != 0;
  const unsigned id_bytes = (descriptor & 3) == 3 ? 4 : descriptor & 3;
  const unsigned size_flag = descriptor >> 6;
  const unsigned size_bytes = size_flag != 0 ? 1u << size_flag : single_segment ? 1 : 0;
  const unsigned id_at = kMagicBytes + 1 + (single_segment ? 0 : 1), size_at = id_at + id_bytes;
  header.bytes = size_at + size_bytes;
  if (size < header.bytes) return HEMSTITCH_TRUNCATED;
  if ((descriptor & kReservedBit) != 0) return HEMSTITCH_CORRUPT_HEADER;
  header.has_checksum = (descriptor & kChecksumBit) != 0;
  header.has_size = size_bytes != 0;
  header.content_bytes = zstd_number_at(d_bytes + size_at, size_bytes) + (size_bytes == 2 ? 256 : 0);
  if (single_segment) {
    header.window_bytes = header.content_bytes;
  } else {
    const unsigned window = d_bytes[kMagicBytes + 1];
    const std::uint64_t power = std::uint64_t{1} << (10 + (window >> 3));
    header.window_bytes = power + power / 8 * (window & 7);
  }
  if (header.window_bytes > kZstdMostWindowBytes) return HEMSTITCH_UNSUPPORTED_FEATURE;
  if (zstd_number_at(d_bytes + id_at, id_bytes) != 0) return HEMSTITCH_DICTIONARY_NEEDED;
  return HEMSTITCH_OK;
}

enum class ZstdDeviceLiterals : std::uint32_t { kRaw, kRle, kCompressed, kTreeless };

// A block, as its headers describe it. Places count from `d_data`.
struct ZstdDeviceBlock {
  const std::uint8_t* d_data;  // after the block's header
  std::uint32_t data_bytes;
  ZstdBlockType type;
  std::uint32_t content_bytes;  // of a raw or RLE block; of a compressed one once the values are known

  ZstdDeviceLiterals literals_type;
  std::uint32_t literals;        // their count
  std::uint32_t literals_at;     // of what follows the section's header
  std::uint32_t literals_bytes;  // of that
  std::uint32_t streams;         // of coded literals: 1 or 4

  std::uint32_t sequences;     // their count
  std::uint32_t sequences_at;  // of the descriptions of tables, after the byte of modes
  std::uint32_t modes;

  __device__ bool is_compressed() const { return type == ZstdBlockType::kCompressed; }
  __device__ bool has_coded_literals() const {
    return is_compressed() && literals_type >= ZstdDeviceLiterals::kCompressed;
  }
  __device__ ZstdTableMode mode(unsigned kind) const {
    return static_cast<ZstdTableMode>(modes >> (6 - 2 * kind) & 3);
  }
  // Whether it describes a table, or names a known one, of that kind of code: of literals' counts, offsets, matches.
  __device__ bool defines(unsigned kind) const {
    return sequences != 0 && mode(kind) != ZstdTableMode::kRepeat;
  }
};

inline constexpr std::uint32_t kZstdLongHeaderBytes = 5;  // of literals, at most

// The headers of the block that begins there; false if they break a rule. `most_bytes` is the most that a block may
// have. Sets `is_last`.
__device__ inline bool read_zstd_block(const std::uint8_t* d_bytes, std::uint64_t size,
                                       std::uint32_t most_bytes, ZstdDeviceBlock& block, bool& is_last) {
  if (size < kZstdBlockHeaderBytes) return false;
  const auto word = static_cast<std::uint32_t>(zstd_number_at(d_bytes, kZstdBlockHeaderBytes));
  is_last = (word & 1) != 0;
  block.type = static_cast<ZstdBlockType>(word >> 1 & 3);
  const std::uint32_t stated = word >> 3;
  block.d_data = d_bytes + kZstdBlockHeaderBytes;
  block.data_bytes = block.type == ZstdBlockType::kRle ? 1 : stated;
  block.content_bytes = stated;
  block.literals = block.sequences = block.streams = block.modes = 0;
  block.literals_type = ZstdDeviceLiterals::kRaw;
  block.literals_at = block.literals_bytes = block.sequences_at = 0;
  if (block.type == ZstdBlockType::kReserved || stated > most_bytes) return false;
  if (block.data_bytes > size - kZstdBlockHeaderBytes) return false;
  if (!block.is_compressed()) return true;
  block.content_bytes = 0;
  if (block.data_bytes == 0) return false;

  // 3.1.1.3.1.1
  const std::uint8_t* const d_data = block.d_data;
  const std::uint32_t bytes = block.data_bytes;
  const unsigned head = d_data[0], size_format = head >> 2 & 3;
  block.literals_type = static_cast<ZstdDeviceLiterals>(head & 3);
  const bool coded = block.has_coded_literals();
  const unsigned header_bytes = coded              ? (size_format < 2 ? 3 : size_format + 2)
                                : size_format == 1 ? 2
                                : size_format == 3 ? 3
                                                   : 1;
  if (header_bytes > bytes) return false;
  const std::uint64_t sizes = zstd_number_at(d_data, header_bytes) >> (header_bytes == 1 ? 3 : 4);
  if (coded) {
    const unsigned width = size_format < 2 ? 10 : size_format == 2 ? 14 : 18;
    const std::uint32_t mask = (1u << width) - 1;
    block.literals = static_cast<std::uint32_t>(sizes) & mask;
    block.literals_bytes = static_cast<std::uint32_t>(sizes >> width) & mask;
    block.streams = size_format == 0 ? 1 : 4;
  } else {
    block.literals = static_cast<std::uint32_t>(sizes);
    block.literals_bytes = block.literals_type == ZstdDeviceLiterals::kRaw ? block.literals : 1;
  }
  block.literals_at = header_bytes;
  if (block.literals_bytes > bytes - header_bytes || block.literals > most_bytes) return false;

  // 3.1.1.3.2.1
  std::uint32_t at = header_bytes + block.literals_bytes;
  if (at >= bytes) return false;
  const unsigned first = d_data[at];
  const unsigned count_bytes = first == 255 ? 3 : first >= 128 ? 2 : 1;
  if (count_bytes > bytes - at) return false;
  block.sequences = first == 255   ? d_data[at + 1] + (std::uint32_t{d_data[at + 2]} << 8) + 0x7F00
                    : first >= 128 ? (first - 128) * 256 + d_data[at + 1]
                                   : first;
  at += count_bytes;
  if (block.sequences == 0) {
    block.content_bytes = block.literals;
    return at == bytes;
  }
  if (at >= bytes) return false;
  block.modes = d_data[at];
  block.sequences_at = at + 1;
  return (block.modes & 3) == 0;
}

}  // namespace hemstitch::cuda
