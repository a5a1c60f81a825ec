// The three bytes before each block of a frame of Zstandard (RFC 8878, section 3.1.1.2).
#pragma once

#include <cstddef>
#include <cstdint>

#include "format/zstd/block/zstd_symbols.hpp"

namespace hemstitch {

struct ZstdBlockHeader {
  bool last = false;
  ZstdBlockType type = ZstdBlockType::kRaw;
  std::size_t size = 0;  // of its content, or, if it is compressed, of its data

  std::size_t data_bytes() const { return type == ZstdBlockType::kRle ? 1 : size; }
};

inline ZstdBlockHeader read_zstd_block_header(const std::byte* bytes) {
  const std::uint32_t word = static_cast<std::uint32_t>(bytes[0]) |
                             static_cast<std::uint32_t>(bytes[1]) << 8 |
                             static_cast<std::uint32_t>(bytes[2]) << 16;
  return {(word & 1) != 0, static_cast<ZstdBlockType>(word >> 1 & 3), word >> 3};
}

inline void put_zstd_block_header(const ZstdBlockHeader& header, std::byte* to) {
  const auto word = static_cast<std::uint32_t>(header.size << 3) |
                    static_cast<std::uint32_t>(header.type) << 1 | (header.last ? 1U : 0U);
  for (unsigned i = 0; i < kZstdBlockHeaderBytes; ++i) to[i] = static_cast<std::byte>(word >> 8 * i);
}

}  // namespace hemstitch
