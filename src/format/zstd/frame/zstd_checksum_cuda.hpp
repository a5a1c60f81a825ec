// The checksum of Zstandard's frames, the lower half of XXH64, of spans in device memory.
#pragma once

#include <cuda_runtime.h>

#include <cstddef>
#include <cstdint>

namespace hemstitch::cuda {

// Of the d_sizes[i] bytes at d_spans[i], at any alignment, for every i below `count`.
void checksum_zstd_cuda(const std::byte* const* d_spans, const std::size_t* d_sizes, std::uint64_t count,
                        std::uint32_t* d_hashes, cudaStream_t stream);

}  // namespace hemstitch::cuda
