// bitshuffle and bitunshuffle on a CUDA device; bitshuffle.hpp defines them.
#pragma once

#include <cuda_runtime.h>

#include <cstddef>
#include <cstdint>

namespace hemstitch::cuda {

// Buffers of any size and alignment. A target is as large as its source, and overlaps nothing.
struct BitshuffleBatch {
  const std::byte* const* d_sources = nullptr;
  const std::size_t* d_sizes = nullptr;
  std::byte* const* d_targets = nullptr;
  std::uint64_t count = 0;
  std::uint32_t element_bytes = 0;  // 1..kMostElementBytes
  std::uint64_t block_bytes = 0;    // a multiple of 8 elements; 0: each buffer is one block
};

// Device memory that either function needs besides its arguments: 12 bytes for each buffer and a little more.
std::size_t bitshuffle_cuda_scratch_bytes(std::uint64_t count);

// Asynchronous on `stream`; can be captured in a graph. Throw kInvalidOption if `scratch_bytes` is too small, elements are too
// large, or blocks are no multiple of 8 elements.
void bitshuffle_cuda(const BitshuffleBatch& batch, void* d_scratch, std::size_t scratch_bytes,
                     cudaStream_t stream);
void bitunshuffle_cuda(const BitshuffleBatch& batch, void* d_scratch, std::size_t scratch_bytes,
                       cudaStream_t stream);

}  // namespace hemstitch::cuda
