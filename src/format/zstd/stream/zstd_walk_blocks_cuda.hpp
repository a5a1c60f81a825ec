// Finds the blocks of a frame of Zstandard in device memory, by the three bytes before each (RFC 8878, 3.1.1.2).
#pragma once

#include <cuda_runtime.h>

#include <cstddef>
#include <cstdint>

namespace hemstitch::cuda {

// Whole blocks in a row.
struct ZstdWalkedBlocks {
  std::uint32_t count;
  std::uint32_t data_bytes;  // of all of them, with their headers
  std::uint32_t has_last;    // the frame's last block is among them
};

// As find_zstd_blocks() does, which is the CPU twin: the blocks at the start of `data_bytes` bytes, fewer than 2^31; at most `most_blocks`, for as many as
// `d_block_at` has room. All memory is the device's, `d_walked` too. Asynchronous on the stream.
void walk_zstd_blocks(const std::byte* d_data, std::size_t data_bytes, std::uint32_t most_blocks,
                      std::uint32_t* d_block_at, ZstdWalkedBlocks* d_walked, cudaStream_t stream);

}  // namespace hemstitch::cuda
