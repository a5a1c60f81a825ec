// Where the blocks of a frame of Zstandard are, by the three bytes before each: for decoders that work on many at once.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace hemstitch {

struct ZstdBlockPlaces {
  std::vector<std::uint32_t> at;  // where each block's header begins
  std::size_t data_bytes = 0;     // of all these blocks
  bool has_last = false;          // the frame's last block is among them
};

// The whole blocks at the start of `data`, up to the frame's last one; at most `most_blocks`, and those that end within 2^31 bytes. Ends
// before a block whose type is reserved.
ZstdBlockPlaces find_zstd_blocks(std::span<const std::byte> data, std::size_t most_blocks);

}  // namespace hemstitch
